# SPDX-License-Identifier: MIT
# twice.awk - print each run of ten words that the comments of a header share with a manual page.
#
#   awk -v header=HEADER [-v all=1] -f twice.awk PAGE... HEADER
#
# Left out: examples, and (unless all=1) what comes before the header's first one: it may say in the
# words of the manual what the header is for.

function forget() {
    length_of_run = 0
}

# Add the words of a line to the run.  The last ten of a run are a phrase.
function add(line,    word, count, i, j, phrase) {
    gsub(/[^A-Za-z0-9_]+/, " ", line)
    gsub(/(^| )E[A-Z0-9]+/, " ", line)          # lists of errno values are alike
    count = split(tolower(line), word, " ")
    for (i = 1; i <= count; i++) {
        run[++length_of_run] = word[i]
        if (length_of_run < 10)
            continue
        phrase = run[length_of_run - 9]
        for (j = length_of_run - 8; j <= length_of_run; j++)
            phrase = phrase " " run[j]
        if (FILENAME != header)
            known[phrase] = 1
        else if (phrase in known)
            print "  " FILENAME ":" FNR ": " phrase
    }
}

FNR == 1 { forget(); display = comment = example = 0; examples = all + 0 }

# ---------------------------------------------------------------- a page
FILENAME != header && /^\.Bd/ { display = 1 }
FILENAME != header && /^\.Ed/ { display = 0 }
FILENAME != header && (display || /^\.(\\"|Sh|Ss|Pp|It|Bl|El|Ed)/) { forget(); next }
FILENAME != header {
    gsub(/(^\.|(^| ))(Dv|Dq|Em|Er|Fa|Fn|Ft|Ic|Li|No|Ns|Pa|Pq|Ql|Va|Vt|Xr) /, " ")
    gsub(/ [1378]( |$)/, " ")
    gsub(/\\[-&]/, "")
    add($0)
    next
}

# ---------------------------------------------------------------- the header
/^ \* Example:/ { example = 1; examples++; next }
example && /^ \*(     .*)?$/ { next }
{ example = 0 }
/\/\*/ { comment = 1; forget() }
comment && examples > 0 {
    ended = /\*\//
    sub(/^.*\/\*/, "")
    sub(/\*\/.*/, "")
    gsub(/\([1378]\)/, "")
    if (/^[ *]*$/)
        forget()
    add($0)
    if (ended)
        comment = 0
}

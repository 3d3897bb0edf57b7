# SPDX-License-Identifier: MIT
# page.awk - what a manual page says of each function, in the words of header.awk; and, for each
# result that it explains, "X page result".

# The words of a macro line; quotes hold several together.
function words(text,    n) {
    split("", word)
    for (n = 0; match(text, /"[^"]*"|[^ ]+/); text = substr(text, RSTART + RLENGTH)) {
        word[++n] = substr(text, RSTART, RLENGTH)
        gsub(/"/, "", word[n])
    }
    return n
}

function prototype(    text) {
    text = type (type ~ /\*$/ ? "" : " ") name "(" arguments ");"
    print "P", name, text
}

function results(text, what,    n, i) {
    if (text ~ /^\.(It (Bq )?)?Er /) {
        n = words(text)
        for (i = 2; i <= n; i++)
            if (word[i] ~ /^E[A-Z0-9]+$/)
                print what, word[i]
    }
    if (text ~ /the close reason/)
        print what, "close"
    if (text ~ /the token's reason/)
        print what, "token"
}

FNR == 1 { page = FILENAME; sub(/.*\//, "", page); row = "" }
/^\.Sh / { section = substr($0, 5) }

section == "SYNOPSIS" && /^\.Ft / {
    n = words($0)
    type = word[2]
    for (i = 3; i <= n; i++)
        type = type " " word[i]
}
section == "SYNOPSIS" && /^\.(Fn|Fo) / {
    n = words($0)
    name = word[2]
    arguments = ""
    for (i = 3; i <= n; i++)
        arguments = arguments (i > 3 ? ", " : "") word[i]
    if (/^\.Fn /)
        prototype()
}
section == "SYNOPSIS" && /^\.Fa / {
    words($0)
    arguments = arguments (arguments == "" ? "" : ", ") word[2]
}
section == "SYNOPSIS" && /^\.Fc/ { prototype() }

# First a table, which is compact: the results of each function.  Then what they mean.
section != "ERRORS" { next }
/^\.Bl .*-compact/ { table = 1 }
/^\.El/ { table = 0; row = "" }
table && /^\.It Fn / { row = $3; next }
table && /^\.It each function/ { row = page ":each"; next }
table { if (row != "") results($0, "E " row); next }
{ results($0, "X " page) }

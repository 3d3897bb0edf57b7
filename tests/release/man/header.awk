# SPDX-License-Identifier: MIT
# header.awk - what a public header says of each function: "P name prototype" and, for each result
# that its comment lists, "E name result".  A result is an errno value, "close" or "token" for the
# two reasons.  "A name other": the list begins with all that `other` returns.

# What `text` lists at its beginning: names, with commas between.
function list(text) {
    while (match(text, /^(E[A-Z0-9]+|the close reason|the token's reason)/)) {
        found[short(substr(text, 1, RLENGTH))] = 1
        text = substr(text, RLENGTH + 1)
        if (!sub(/^, /, "", text))
            return
    }
}

function short(result) {
    sub(/^the /, "", result)
    sub(/( |'s )reason$/, "", result)
    return result
}

function comment_line(text) {
    list(text)
    if (match(text, /^As fairsem_[a-z_]+, and/))
        as = substr(text, 4, RLENGTH - 8)
    # As in "EINTR: a signal handler ran."
    text = " " text
    while (match(text, / E[A-Z0-9]+: /)) {
        found[substr(text, RSTART + 1, RLENGTH - 3)] = 1
        text = substr(text, RSTART + RLENGTH - 1)
    }
}

function declaration(text,    name, result) {
    gsub(/[ \t]+/, " ", text)
    gsub(/ FAIRSEM_(TIME64|NONNULL|FAILS_IF)_\([a-z0-9_!=, ]*\)/, "", text)
    gsub(/ FAIRSEM_FAILS_/, "", text)
    sub(/^FAIRSEM_API /, "", text)
    name = text
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    print "P", name, text
    # Others return no errno value; their comments may speak of those of other functions.
    if (text !~ /^(int|fairsem_sem_t \*)/)
        return
    for (result in found)
        print "E", name, result
    if (as != "")
        print "A", name, as
}

/^\/\*/ { split("", found); as = ""; inside = 1 }
inside {
    text = $0
    sub(/^ ?\/?\*+ ?/, "", text)
    sub(/ *\*\/$/, "", text)
    comment_line(text)
    if (/\*\//)
        inside = 0
    next
}
/^(FAIRSEM_API|typedef void fairsem_)/ { open = 1; gathered = "" }
open {
    gathered = gathered " " $0
    if (/;/) {
        open = 0
        sub(/^ /, "", gathered)
        declaration(gathered)
    }
}

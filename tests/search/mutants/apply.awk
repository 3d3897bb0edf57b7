# SPDX-License-Identifier: MIT
# apply.awk - seed one fault: awk -v mutant=NAME -v root=DIR -f apply.awk TABLE
#
# A hunk is that of a patch without line numbers: ' ' what stays, '-' what goes, '+' what comes.
# What stays and what goes must be in the file exactly once, as whole lines.  Prints the names
# of the changed files; exit status 1, and a sentence, if the mutant cannot be applied.  With
# -v dry=1 it changes nothing.

/^mutant / { here = $2 == mutant; found += here; next }
!here { next }
/^@ / { files[++hunks] = $2; open = 1; next }
/^[-+ ]/ && open {
    line = substr($0, 2) "\n"
    if ($0 !~ /^[+]/)
        before[hunks] = before[hunks] line
    if ($0 !~ /^-/)
        after[hunks] = after[hunks] line
    next
}
{ open = 0 }

function refuse(why) {
    print mutant ": " why
    status = 1
    exit status
}

function contents(file,    text, line, got) {
    while ((got = (getline line < file)) > 0)
        text = text line "\n"
    close(file)
    if (got < 0)
        refuse("cannot read " file)
    return text
}

END {
    if (status)
        exit status
    if (found != 1)
        refuse(found + 0 " mutants of this name in the table")
    if (hunks == 0)
        refuse("changes nothing: no hunk")
    for (i = 1; i <= hunks; i++) {
        file = root "/" files[i]
        if (before[i] == after[i])
            refuse("changes nothing in " files[i])
        if (!(file in text))
            text[file] = contents(file)
        # A line begins after the end of another one, so what is looked for does, too.
        at = index("\n" text[file], "\n" before[i])
        if (before[i] == "" || at == 0)
            refuse("does not apply: its lines are not in " files[i])
        if (index(substr(text[file], at), "\n" before[i]) != 0)
            refuse("does not apply: its lines are in " files[i] " more than once")
        text[file] = substr(text[file], 1, at - 1) after[i] \
            substr(text[file], at + length(before[i]))
        name[file] = files[i]
    }
    for (file in name) {
        if (!dry) {
            printf "%s", text[file] > file
            close(file)
        }
        print name[file]
    }
}

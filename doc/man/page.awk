# SPDX-License-Identifier: MIT
# page.awk - what mandoc makes of a manual page, for the site: `names` is a file that says where
# each name is described.

BEGIN {
    # Assignments behind the program come too late for BEGIN.
    for (i = 1; i < ARGC; i++)
        if (ARGV[i] ~ /^names=/)
            names = substr(ARGV[i], 7)
    while ((getline line < names) > 0) {
        split(line, field, "\t")
        place[field[1] "." field[2] ".html"] = field[3]
    }
}

# The title above and the date below say what the site says itself.
/^<table class="(head|foot)">/ { skip = 1 }
skip { if (/<\/table>/) skip = 0; next }

# The name of the page is its first heading.
{
    gsub(/<h2 /, "<h3 ")
    gsub(/<\/h2>/, "</h3>")
    gsub(/<h1 /, "<h2 ")
    gsub(/<\/h1>/, "</h2>")
}

# A page of ours, or one of Linux.
{
    line = $0
    $0 = ""
    while (match(line, /href="[^"#\/]*\.[1-9]\.html"/)) {
        target = substr(line, RSTART + 6, RLENGTH - 7)
        if (target in place) {
            target = place[target]
        } else {
            section = target
            sub(/\.html$/, "", section)
            sub(/.*\./, "", section)
            target = "https://man7.org/linux/man-pages/man" section "/" target
        }
        $0 = $0 substr(line, 1, RSTART - 1) "href=\"" target "\""
        line = substr(line, RSTART + RLENGTH)
    }
    print $0 line
}

# SPDX-License-Identifier: MIT
# manual.awk - what mandoc makes of a manual page, for the site.
#
#   top      the top of the source tree
#   names    a file that says where each name is described
#   pages    a file: "path page" for each path in the tree that has a page
#   linked   a file to append to: "path page" for each header that the page includes

BEGIN {
    while ((getline line < names) > 0) {
        split(line, field, "\t")
        place[field[1] "." field[2] ".html"] = field[3]
    }
    while ((getline line < pages) > 0) {
        split(line, field, "\t")
        document[field[1]] = field[2]
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

# Headers of ours; others have no page.
function header_of(name,    path, to) {
    path = "include/" name
    if (system("test -f '" top "/" path "'") != 0)
        return ""
    to = path ".html"
    gsub(/\//, "-", to)
    print path "\t" to >> linked
    return to
}

# A page of ours, or one of Linux.
function page_of(target,    section) {
    if (target in place)
        return place[target]
    section = target
    sub(/\.html$/, "", section)
    sub(/.*\./, "", section)
    return "https://man7.org/linux/man-pages/man" section "/" target
}

{
    line = $0
    $0 = ""
    while (match(line, /href="[^"#]*\.([1-9]\.html|header)"/)) {
        target = substr(line, RSTART + 6, RLENGTH - 7)
        rest = substr(line, RSTART + RLENGTH)
        before = substr(line, 1, RSTART - 1)
        if (target ~ /\.header$/)
            target = header_of(substr(target, 1, length(target) - 7))
        else
            target = page_of(target)
        if (target == "")
            sub(/ *$/, "", before)
        $0 = $0 before (target == "" ? "" : "href=\"" target "\"")
        line = rest
    }
    $0 = $0 line
    # cost.md in the documentation of the package
    if (match($0, /<span class="Pa">[a-z-]+\.md</)) {
        target = substr($0, RSTART + 17, RLENGTH - 18)
        if ("doc/" target in document)
            $0 = substr($0, 1, RSTART + 16) "<a href=\"" document["doc/" target] "\">" target \
                "</a>" substr($0, RSTART + RLENGTH - 1)
    }
    print
}

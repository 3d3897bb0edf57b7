# SPDX-License-Identifier: MIT
# document.awk - what cmark-gfm makes of a document, for the site.
#
#   top      the top of the source tree
#   dir      the directory of the document in it
#   pages    a file: "path page" for each path in the tree that has a page
#   names    a file that says where each name of the manual is described
#   linked   a file to append to: "path page" for each other file that the document links to
#   front    1: only what is above the first heading of the second level, and the first picture

BEGIN {
    while ((getline line < pages) > 0) {
        split(line, field, "\t")
        page[field[1]] = field[2]
    }
    while ((getline line < names) > 0) {
        split(line, field, "\t")
        place[field[1] "(" field[2] ")"] = field[3]
    }
}

function plain(text) {
    gsub(/<[^>]*>/, "", text)
    return text
}

# As forges make them.
function anchor(text) {
    text = tolower(plain(text))
    gsub(/&[a-z]*;/, "", text)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    return text (seen[text]++ ? "-" (seen[text] - 1) : "")
}

# The path from the top of what the document calls `target`.
function path_of(target,    part, n, i, depth, path) {
    n = split((dir == "." ? "" : dir "/") target, part, "/")
    depth = 0
    for (i = 1; i <= n; i++)
        if (part[i] == "..")
            depth--
        else if (part[i] != "." && part[i] != "")
            kept[++depth] = part[i]
    path = kept[1]
    for (i = 2; i <= depth; i++)
        path = path "/" kept[i]
    return path
}

# The page of a link's target; a file gets one of its own.  Empty: there is none.
function page_of(target,    path, at) {
    if (target ~ /^[a-z]+:/ || target ~ /^#/)
        return target
    at = ""
    if (match(target, /#.*/)) {
        at = substr(target, RSTART)
        target = substr(target, 1, RSTART - 1)
    }
    path = path_of(target)
    if (!(path in page)) {
        if (system("test -f '" top "/" path "'") != 0)
            return ""
        page[path] = path ".html"
        gsub(/\//, "-", page[path])
        print path "\t" page[path] >> linked
    }
    return page[path] at
}

# What a piece of code names: a function, a command, or "man 7 fairsem".
function named_by(code,    part, n, i) {
    n = split(code, part, " ")
    if (n > 1 && part[1] != "man" || n == 1 && code !~ /^(fairsem|FAIRSEM)[_:-]/)
        return ""
    for (i = 1; i <= 7; i++)
        if (n < 3 || part[2] == i)
            if (part[n] "(" i ")" in place)
                return place[part[n] "(" i ")"]
    return ""
}

# Text between two tags: fairsem(7) leads to that page.
function text_of(text,    done, name, to) {
    if (code && (to = named_by(text)) != "")
        return "<a href=\"" to "\">" text "</a>"
    done = ""
    while (match(text, /[A-Za-z_][A-Za-z0-9_.-]*\([1-9]\)/)) {
        name = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1) \
            (name in place ? "<a href=\"" place[name] "\">" name "</a>" : name)
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

function tag_of(tag,    to, file) {
    if (tag ~ /^<a /) {
        link = 1
        match(tag, /href="[^"]*"/)
        to = page_of(substr(tag, RSTART + 6, RLENGTH - 7))
        dead = to == ""
        return dead ? "" : "<a href=\"" to "\">"
    }
    if (tag == "</a>") {
        link = 0
        return dead ? "" : tag
    }
    if (tag ~ /^<img /) {
        match(tag, /src="[^"]*"/)
        file = path_of(substr(tag, RSTART + 5, RLENGTH - 6))
        to = file
        sub(/.*\//, "", to)
        print file "\t" to >> linked
        sub(/src="[^"]*"/, "src=\"" to "\"", tag)
        return "<a class=\"picture\" href=\"" to "\">" tag "</a>"
    }
    if (tag ~ /^<\/?code/)
        code = tag !~ /^<\//
    sub(/ align="right"/, " class=\"right\"", tag)
    return tag
}

function line_of(line,    done) {
    done = ""
    while (match(line, /<[^>]*>/)) {
        tag = substr(line, RSTART, RLENGTH)
        rest = substr(line, RSTART + RLENGTH)
        text = substr(line, 1, RSTART - 1)
        done = done (link ? text : text_of(text)) tag_of(tag)
        line = rest
    }
    return done (link ? line : text_of(line))
}

# The page has the title already.
/^<h1>/ { next }
/^<h2>/ && front { front = 2 }
front == 2 && !/^<p><img / { next }

/^<h[2-6]>/ {
    id = anchor($0)
    link = 1                    # all of it
    inner = line_of(substr($0, 5, length($0) - 9))
    link = 0
    print substr($0, 1, 3) " id=\"" id "\"><a class=\"permalink\" href=\"#" id "\">" inner \
        "</a>" substr($0, length($0) - 4)
    next
}

/^<pre>/ { pre = 1 }
pre {
    if (/<\/pre>/)
        pre = 0
    print
    next
}

# A table scrolls in a box of its own.  A head without words is none, and two columns are pairs,
# which stand one below the other where there is no room.
/^<table>/ { next }
/^<thead>/ { head = 1; heads = ""; columns = 0; words = "" }
head {
    heads = heads line_of($0) "\n"
    words = words plain($0)
    columns += /^<th[ >]/
    if (/^<\/thead>/) {
        head = 0
        print "<div class=\"table\">"
        print (columns == 2 ? "<table class=\"pairs\">" : "<table>")
        if (words ~ /[^ ]/)
            printf "%s", heads
    }
    next
}
{ print line_of($0) }
/^<\/table>/ { print "</div>" }
front == 2 { exit }

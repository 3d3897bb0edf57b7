# SPDX-License-Identifier: MIT
# declared.awk - what headers of C++, or excerpts of them, declare for users: a line for each,
# without bodies, comments, attributes and line ends, with the class in front, as in
# "class units: ~units()".
#
# Private members, namespace detail, and definitions of members outside of their class are left out.

/^#/ { next }
{ sub(/\/\/.*/, ""); text = text " " $0 }

END {
    # Comments.
    while ((start = index(text, "/*")) > 0) {
        rest = substr(text, start)
        text = substr(text, 1, start - 1) substr(rest, index(rest, "*/") + 2)
    }
    while (text != "")
        step()
}

function declared(    from) {
    gsub(/\[\[[a-z]*\]\] */, "", part)
    gsub(/FAIRSEM_[A-Z0-9_]*/, "", part)
    gsub(/[ \t]+/, " ", part)
    sub(/^ *inline /, "", part)
    gsub(/\( /, "(", part)
    # The initializers of a constructor.
    if (match(part, /\)( noexcept)? : /))
        part = substr(part, 1, RSTART + RLENGTH - 4)
    gsub(/^ | $/, "", part)
    from = part
    part = ""
    if (from != "" && from !~ /^(static_assert|class [a-z_]*$|template <> )/ \
        && from !~ / [a-z_]+::[a-z_]+\(/ && !hidden)
        print (class[depth] == "" ? "" : class[depth] ": ") from
}

# Take the text up to the next brace, bracket or semicolon.
function step(    mark, name) {
    if (!match(text, /[{}();:]/)) {
        part = part text
        text = ""
        return
    }
    mark = substr(text, RSTART, 1)
    part = part substr(text, 1, RSTART - 1)
    text = substr(text, RSTART + 1)
    if (mark == "(" || mark == ")") {
        brackets += mark == "(" ? 1 : -1
        part = part mark
    } else if (brackets > 0 || initializer > 0) {
        initializer += (initializer > 0) * ((mark == "{") - (mark == "}"))
        part = part mark
    } else if (mark == ":") {
        name = part
        gsub(/ /, "", name)
        if (name == "public" || name == "protected" || name == "private") {
            hidden = outer[depth] + (name != "public")
            part = ""
        } else {
            part = part mark
        }
    } else if (mark == ";") {
        declared()
    } else if (mark == "{") {
        open_brace()
    } else {
        if (class[depth] ~ /^enum/)
            declared()
        part = ""
        hidden = outer[depth--]
    }
}

function open_brace(    head, name) {
    head = part
    gsub(/[ \t]+/, " ", head)
    gsub(/^ /, "", head)
    if (head !~ /^(namespace|class|struct|enum|template <[^>]*> (class|struct) )/) {
        if (head !~ /\(/) {         # a member with its value
            initializer = 1
            part = part "{"
            return
        }
        declared()                  # a function, and its body
        outer[++depth] = hidden
        class[depth] = "body"
        hidden = 1
        return
    }
    name = head
    gsub(/\[\[[a-z]*\]\] |FAIRSEM_[A-Z]* /, "", name)
    part = head
    if (head !~ /^namespace/)
        declared()
    sub(/^template <[^>]*> /, "", name)
    sub(/ (final )?: .*/, "", name)
    sub(/ $/, "", name)
    outer[++depth] = hidden
    class[depth] = name ~ /^namespace/ ? "" : name
    hidden += name ~ /^(namespace (fairsem::)?detail|class)/
    part = ""
}

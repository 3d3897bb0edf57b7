#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh DIR VERSION TOP - the manual pages and the documents of the source tree TOP as a site of
# plain files in DIR: a page each, an index, and a search.  It works from file://, and fetches
# nothing.
#
# It needs mandoc; and cmark-gfm for the documents, which are left out without it.  That renderer
# reads Markdown as the forges do, for which the documents are written; others take `2^60` or
# `a_b_c` for something else.  A file that a document links to has a page, too: where else would the
# link lead?
set -eu
export LC_ALL=C

dir=$1 version=$2 top=$3
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v mandoc > /dev/null 2>&1; then
  echo "site.sh: make html needs mandoc" >&2
  exit 1
fi
documents=1 guides='<a href="index.html#guides">Guides</a> '
if ! command -v cmark-gfm > /dev/null 2>&1; then
  echo "site.sh: there is no cmark-gfm: the site has the manual, and no documents" >&2
  documents='' guides=''
fi
new=$dir.new
tab='	'

# text - what stands in a page as it is.
text() {
  sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g'
}

# page KIND TITLE HEADING - a whole page around $new/body; with a list of its sections if it has
# several.  (A body that came through a pipe could be incomplete without anybody noticing.)
page() {
  cat << _EOF
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$2</title>
<link rel="stylesheet" href="style.css">
</head>
<body class="$1">
<header>
<a href="index.html">fairsem</a>
<nav aria-label="Site">$guides<a href="index.html#manual">Manual</a></nav>
<div id="search"></div>
</header>
_EOF
  sections "$new/body" | awk -F '\t' '
    {
      kind = $1 == 3 ? " class=\"sub\"" : ""
      list = list sprintf("<li%s><a href=\"#%s\">%s</a></li>\n", kind, $2, $3)
      n++
    }
    END {
      if (n < 3) exit
      print "<nav class=\"sections\" aria-label=\"On this page\">\n<ul>"
      print list "</ul>\n</nav>"
    }'
  printf '<main>\n<h1>%s</h1>\n' "$3"
  cat "$new/body"
  cat << _EOF
</main>
<footer>fairsem $version</footer>
<script src="search.js"></script>
</body>
</html>
_EOF
}

# sections FILE - "level anchor text" for each heading of a page, which may be on several lines.
sections() {
  awk '/<h[23][ >]/ && !/<\/h[23]>/ { printf "%s ", $0; next } { sub(/^  +/, ""); print }' "$1" |
    sed -n "s/^.*<h\([23]\)[^>]* id=\"\([^\"]*\)\"[^>]*>\(.*\)<\/h[23]>.*/\1$tab\2$tab\3/p" |
    sed 's/<[^>]*>//g'
}

# page_of PATH - the page of a document or a folder.
page_of() {
  echo "$1" | sed -e 's|^doc/||' -e 's|\.md$||' -e 's|/|-|g' -e 's|$|.html|'
}

# markdown PATH - the text of a document; that of NEWS is plain.
markdown() {
  if [ -f "$top/$1/README.md" ]; then
    cat "$top/$1/README.md"
  elif [ "${1%.md}" != "$1" ]; then
    cat "$top/$1"
  else
    printf '# %s\n\n' "$1"
    sed -e 's/[][\\`*_<>&]/\\&/g' -e 's/^[0-9]/## &/' "$top/$1"
  fi
}

# render PATH [FRONT] - the body of its page, of $new/markdown.
render() {
  folder=$1
  [ -f "$top/$1/README.md" ] || folder=$(dirname "$1")
  cmark-gfm -e table -e autolink -e strikethrough "$new/markdown" > "$new/rendered"
  awk -v top="$top" -v dir="$folder" -v pages="$new/pages" -v names="$new/names" \
    -v linked="$new/linked" -v front="${2-}" -f "$here/document.awk" "$new/rendered"
}

# programs FOLDER - each source there, and what its first comment says.
programs() {
  echo "<dl class=\"index\">"
  for file in "$top/$1"/*.[ch] "$top/$1"/*.sh "$top/$1"/Makefile.*; do
    awk -v name="${file##*/}" '
      { sub(/ *\*\/ *$/, ""); sub(/^[\/# *]*/, "") }
      NR == 1 && name ~ /^Makefile/ { on = 1; sub(/:.*/, ".") }
      index($0, name " - ") == 1 { on = 1; $0 = substr($0, length(name) + 4) }
      on && $0 == "" { exit }
      on { print }
      on && /[.:]$/ { exit }' "$file" | tr '\n' ' ' | text > "$new/about"
    source=$1/${file##*/}
    source_page=$(echo "$source" | tr / -).html
    printf '%s\t%s\n' "$source" "$source_page" >> "$new/linked"
    printf '<dt><a href="%s">%s</a></dt>\n<dd>%s</dd>\n' "$source_page" "${file##*/}" \
      "$(cat "$new/about")"
  done
  echo "</dl>"
}

rm -rf "$new"
mkdir -p "$new"
: > "$new/linked"
# ---------------------------------------------------------------- what there is
# Each name of the manual with the place where it is described: "name section file#anchor about".
# A document has the section "-".
for manual in "$top"/doc/man/*.[137]; do
  file=${manual##*/}
  body=$new/$file.body
  mandoc -T html -I os=fairsem -O fragment,man=%N.%S.html,includes=%I.header "$manual" > "$body"
  printf 'doc/man/%s\t%s.html\n' "$file" "$file" >> "$new/pages"
  sh "$top/doc/man/names.sh" "$manual" | while IFS=$tab read -r name section _ about; do
    anchor=
    ! grep -q "id=\"$name\"" "$body" || anchor="#$name"
    printf '%s\t%s\t%s.html%s\t%s\n' "$name" "$section" "$file" "$anchor" "$about"
  done
done > "$new/names"
grep '^[^# ]*  ' "$here/contents" > "$new/documents"
while read -r path about; do
  [ -z "$documents" ] || printf '%s\t%s\n' "$path" "$(page_of "$path")"
done < "$new/documents" >> "$new/pages"

# ---------------------------------------------------------------- the pages
for manual in "$top"/doc/man/*.[137]; do
  file=${manual##*/} name=${manual##*/}
  name=${name%.*}
  awk -v top="$top" -v names="$new/names" -v pages="$new/pages" -v linked="$new/linked" \
    -f "$here/manual.awk" "$new/$file.body" > "$new/body"
  page manual "$name(${file##*.}) - fairsem" "$name<span>(${file##*.})</span>" > "$new/$file.html"
done

[ -z "$documents" ] || while read -r path about; do
  to=$(page_of "$path")
  title=$path
  case $path in
    LICENSE) printf '%s\t%s\n' "$path" "$to" >> "$new/linked" ;;
    examples)
      title=Examples
      programs "$path" > "$new/body"
      page document "$title - fairsem" "$title" > "$new/$to"
      ;;
    *)
      markdown "$path" > "$new/markdown"
      title=$(sed -n '1s/^# //p' "$new/markdown")
      render "$path" > "$new/body"
      page document "$title - fairsem" "$title" > "$new/$to"
      sections "$new/$to" | awk -F '\t' -v to="$to" -v title="$title" '
        { printf "%s\t-\t%s#%s\t%s\n", $3, to, $2, title }' >> "$new/sections"
      ;;
  esac
  [ "$path" != README.md ] || title=README
  printf '%s\t-\t%s\t%s\n' "$title" "$to" "$about" >> "$new/titles"
done < "$new/documents"

# ---------------------------------------------------------------- the front page
# A line for each manual page, and one for the names that it describes beside its own.
entry() {
  awk -F '\t' -v file="$1" '
    { split($3, place, "#") }
    place[1] != file { next }
    { about = $4 }
    $2 == "-" { page = $1; next }
    $1 "." $2 ".html" == file { page = $1 "(" $2 ")"; next }
    { more = more sprintf(" <a href=\"%s\">%s</a>", $3, $1) }
    END {
      printf "<dt><a href=\"%s\">%s</a></dt>\n<dd>%s", file, page, about
      if (more != "") printf "<div>%s</div>", substr(more, 2)
      print "</dd>"
    }' "$2"
}

index() {
  while read -r line; do
    case $line in
      '' | '#'*) ;;
      *.[0-9]) to=$line.html list=names ;;
      *'  '*) to=$(page_of "${line%%  *}") list=titles ;;
      *) heading=$line ;;
    esac
    case $line in
      *.[0-9] | *'  '*)
        [ -s "$new/$list" ] || continue
        if [ -n "$heading" ]; then
          [ -z "${open-}" ] || echo "</dl>"
          open=1
          id=$(echo "$heading" | tr 'A-Z ' 'a-z-')
          printf '<h2 id="%s">%s</h2>\n<dl class="index">\n' "$id" "$heading"
          heading=
        fi
        entry "$to" "$new/$list"
        ;;
    esac
  done < "$here/contents"
  echo "</dl>"
}
heading=fairsem
{
  if [ -n "$documents" ]; then
    markdown README.md > "$new/markdown"
    render README.md 1
    echo '<ul class="more">'
    sections "$new/README.html" |
      sed -n "s|^2$tab\(.*\)$tab\(.*\)|<li><a href=\"README.html#\1\">\2</a></li>|p"
    echo '</ul>'
  fi
  index
} > "$new/body"
[ -z "$documents" ] || heading=$(sed -n '1s/^# //p' "$top/README.md")
page front "$heading" "$heading" > "$new/index.html"

# ---------------------------------------------------------------- other files
sort -u "$new/linked" | while IFS=$tab read -r path to; do
  case $path in
    *.svg) cp "$top/$path" "$new/$to" ;;
    *)
      { echo "<pre>" && text < "$top/$path" && echo "</pre>"; } > "$new/body"
      page source "$path - fairsem" "$path" > "$new/$to"
      ;;
  esac
done

{
  echo "var names = ["
  for list in names titles sections; do
    [ ! -f "$new/$list" ] || cat "$new/$list"
  done |
    sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&quot;/"/g' -e 's/&amp;/\&/g' -e 's/[\\"]/\\&/g' |
    awk -F '\t' '{ printf "  [\"%s\", \"%s\", \"%s\", \"%s\"],\n", $1, $2, $3, $4 }'
  echo "];"
  cat "$here/search.js"
} > "$new/search.js"
cp "$here/style.css" "$new/style.css"

find "$new" -type f ! -name '*.html' ! -name '*.svg' ! -name search.js ! -name style.css \
  -exec rm {} +
rm -rf "$dir"
mv "$new" "$dir"

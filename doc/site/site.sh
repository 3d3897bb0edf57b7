#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh DIR VERSION TOP BUILD - `make html`: the manual pages and the documents of the source tree TOP as
# plain files in DIR, a page each, and an index.  They need no server.  fairsem.hpp(3) may be in BUILD.
#
# It needs mandoc, and cmark-gfm for the documents: that renderer reads Markdown as the forges do.
set -eu
export LC_ALL=C

dir=$1 version=$2 top=$(cd "$3" && pwd) build=$(cd "$4" && pwd)
for tool in mandoc cmark-gfm; do
  command -v "$tool" > /dev/null 2>&1 || { echo "site.sh: make html needs $tool" >&2; exit 1; }
done
rm -rf "$dir" && mkdir -p "$dir" && cd "$dir"
cp "$top/doc/site/style.css" "$top"/doc/*.svg .
set -- "$top"/doc/man/*.[137]
[ -f "$top/doc/man/fairsem.hpp.3" ] || set -- "$@" "$build/doc/man/fairsem.hpp.3"
sh "$top/doc/man/names.sh" "$@" > names

# page TITLE - a page around standard input.
page() {
  printf '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
  printf '<meta name="viewport" content="width=device-width">\n<title>%s</title>\n' "$1"
  printf '<link rel="stylesheet" href="style.css"></head><body>\n'
  printf '<p><a href="index.html">fairsem</a></p>\n'
  cat
  printf '</body></html>\n'
}

# ---------------------------------------------------------------- the manual
# A further name of a page leads to its place there.  mandoc links to what exists.  That of fairsem::units is
# fairsem-units: in a link, fairsem: is a scheme, and not every system has files with a colon in their names.
while IFS='	' read -r name section page _; do
  : > "$page.html"
  [ "$name.$section" = "$page" ] ||
    printf '<!DOCTYPE html><title>%s</title><meta http-equiv="refresh" content="0; url=%s">\n' \
      "$name" "$page.html#$name" > "$(echo "$name.$section.html" | sed 's/::/-/')"
done < names
for file; do
  name=${file##*/}
  mandoc -Thtml -O 'fragment,man=%N.%S.html;https://man7.org/linux/man-pages/man%S/%N.%S.html' "$file" |
    page "$name" > "$name.html.new" && mv "$name.html.new" "$name.html"
done

# ---------------------------------------------------------------- the documents
# The places of headings are named as the forges do.
# shellcheck disable=SC2016 # for awk
ids='
  match($0, /^<h[1-6]>/) {
    id = tolower(substr($0, 5, length($0) - 9))
    gsub(/<[^>]*>|&[a-z]*;|[^a-z0-9 _-]/, "", id)
    gsub(/ /, "-", id)
    sub(/>/, " id=\"" id "\">")
  }
  { print }'
mkdir text
for file in "$top/README.md" "$top"/doc/*.md "$top/CONTRIBUTING.md"; do
  name=$(basename "$file" .md)
  : > "text/$name.html"
  sed -E -e 's@\]\((\.\./|doc/)?([A-Za-z-]+)\.md(#[^)]*)?\)@](\2.html\3)@g' \
    -e 's@\]\((\.\./|doc/)?(NEWS|[a-z]+\.svg)\)@](\2)@g' -e 's@\]\(NEWS\)@](NEWS.html)@g' \
    "$file" > "text/$name.md"
done
# It is plain text, and names <chrono>.
sed 's/</\&lt;/g' "$top/NEWS" > text/NEWS.md
: > text/NEWS.html
cp ./*.svg text
sh "$top/doc/plain_links.sh" text   # into the sources
for file in text/*.md; do
  name=$(basename "$file" .md)
  cmark-gfm -e table "$file" | awk "$ids" | page "$name" > "$name.html"
done

# ---------------------------------------------------------------- the index
{
  printf '<h1>fairsem %s</h1>\n<h2>Manual</h2>\n<ul>\n' "$version"
  awk -F '\t' '{
    file = $1
    sub(/::/, "-", file)
    printf "<li><a href=\"%s.%s.html\">%s(%s)</a> %s</li>\n", file, $2, $1, $2, $4
  }' names
  printf '</ul>\n<h2>Documents</h2>\n<ul>\n'
  for file in text/*.md; do
    name=$(basename "$file" .md)
    printf '<li><a href="%s.html">%s</a></li>\n' "$name" "$name"
  done
  printf '</ul>\n'
} | page "fairsem $version" > index.html
rm -rf text names

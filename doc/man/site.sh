#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh DIR VERSION PAGE... - the manual pages as a site of plain files in DIR: a page each, an
# index, and a search by name.  It needs mandoc, works from file:// and fetches nothing.
set -eu

dir=$1 version=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v mandoc > /dev/null 2>&1; then
  echo "site.sh: make html needs mandoc" >&2
  exit 1
fi

# begin TITLE HEADING - the top of a page.
begin() {
  cat << _EOF
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$1</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
<a href="index.html">fairsem manual</a>
<div id="search"></div>
</header>
<main>
<h1>$2</h1>
_EOF
}

end() {
  cat << _EOF
</main>
<footer>fairsem $version</footer>
<script src="search.js"></script>
</body>
</html>
_EOF
}

rm -rf "$dir.new"
mkdir -p "$dir.new"
# Each name with the place where it is described: "name section file#anchor description".
for page in "$@"; do
  body=$dir.new/${page##*/}.body
  mandoc -T html -I os=fairsem -O fragment,man=%N.%S.html "$page" > "$body"
  sh "$here/names.sh" "$page" | while IFS='	' read -r name section _ about; do
    anchor=
    ! grep -q "id=\"$name\"" "$body" || anchor="#$name"
    printf '%s\t%s\t%s.html%s\t%s\n' "$name" "$section" "${page##*/}" "$anchor" "$about"
  done
done > "$dir.new/names"

for page in "$@"; do
  file=${page##*/} name=${page##*/}
  name=${name%.*}
  {
    begin "$name(${file##*.}) - fairsem" "$name<span>(${file##*.})</span>"
    awk -f "$here/page.awk" names="$dir.new/names" "$dir.new/$file.body"
    end
  } > "$dir.new/$file.html"
done

# A line for each page, and one for the names that it describes beside its own.
index() {
  while read -r line; do
    case $line in
      '' | '#'*) ;;
      *.[0-9])
        awk -F '\t' -v file="$line.html" '
          { split($3, place, "#") }
          place[1] != file { next }
          { about = $4 }
          $1 "." $2 ".html" == file { page = $1 "(" $2 ")"; next }
          { more = more sprintf(" <a href=\"%s\">%s</a>", $3, $1) }
          END {
            printf "<dt><a href=\"%s\">%s</a></dt>\n<dd>%s", file, page, about
            if (more != "") printf "<div>%s</div>", substr(more, 2)
            print "</dd>"
          }' "$dir.new/names"
        ;;
      *)
        [ -z "${open-}" ] || echo "</dl>"
        echo "<h2>$line</h2>"
        echo "<dl class=\"index\">"
        open=1
        ;;
    esac
  done < "$here/families"
  echo "</dl>"
}
{
  begin "fairsem manual" "fairsem"
  cat << '_EOF'
<p>A fair, blocking, counting semaphore for multithreaded C programs: a unit that becomes free goes
to the waiter that has waited longest, and nobody who comes later can take it first.</p>
_EOF
  index
  end
} > "$dir.new/index.html"

{
  echo "var names = ["
  sed 's/[\\"]/\\&/g' "$dir.new/names" |
    awk -F '\t' '{ printf "  [\"%s\", \"%s\", \"%s\", \"%s\"],\n", $1, $2, $3, $4 }'
  echo "];"
  cat "$here/search.js"
} > "$dir.new/search.js"
cp "$here/style.css" "$dir.new/style.css"

rm "$dir.new/names" "$dir.new"/*.body
rm -rf "$dir"
mv "$dir.new" "$dir"

#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh - make html: every link inside the site has a target, the index has each page once, and
# the search finds each name.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs mandoc
site=$work/html

sh "$top_srcdir/doc/man/site.sh" "$site" 1.2.3 "$top_srcdir"/doc/man/*.[137] || fail "site.sh"
sh "$top_srcdir/doc/man/names.sh" "$top_srcdir"/doc/man/*.[137] > "$work/names"

# ---------------------------------------------------------------- links
# A tag may go over several lines.
for file in "$site"/*.html; do
  tr '\n' ' ' < "$file" | grep -o '\(href\|src\)="[^"]*"' | sed 's/^[a-z]*="//; s/"$//' |
    sed "s|^#|${file##*/}#|; s|^|${file##*/} |"
done | sort -u > "$work/links"
[ "$(wc -l < "$work/links")" -gt 200 ] || fail "found only $(wc -l < "$work/links") links"
while read -r from to; do
  case $to in
    https://man7.org/linux/man-pages/man[1-8]/*.[1-8].html)
      # Our pages must be on this site.
      case $to in */fairsem*) fail "$from refers to $to" ;; esac
      continue
      ;;
    *:*) fail "$from refers to $to" ;;
  esac
  if [ ! -f "$site/${to%%#*}" ]; then
    fail "$from refers to $to, which does not exist"
  elif [ "$to" != "${to%%#*}" ] && ! grep -qF "id=\"${to#*#}\"" "$site/${to%%#*}"; then
    fail "$from refers to $to, but there is no such place"
  fi
done < "$work/links"
echo "ok: $(wc -l < "$work/links") links"

# ---------------------------------------------------------------- the index
cut -f 3 "$work/names" | sed 's/$/.html/' | sort -u > "$work/pages"
grep -o '<dt><a href="[^"]*"' "$site/index.html" | sed 's/.*href="//; s/"//' | sort > "$work/index"
diff "$work/pages" "$work/index" || fail "pages (<) and index (>) differ, above"
(cd "$site" && ls ./*.[1-9].html) | sed 's|^\./||' > "$work/files"
diff "$work/pages" "$work/files" || fail "pages (<) and files (>) differ, above"
echo "ok: the index has all $(wc -l < "$work/pages") pages"

# ---------------------------------------------------------------- the search
# Each name is in the list, with a target that exists; a function has its own place on the page.
while IFS='	' read -r name section page about; do
  line=$(grep -F "[\"$name\", \"$section\", \"" "$site/search.js")
  to=$(echo "$line" | sed 's/.*", "\([^"]*\.html[^"]*\)", ".*/\1/')
  case $to in
    "$page.html") ;;
    "$page.html#$name") grep -qF "id=\"$name\"" "$site/$page.html" ||
      fail "the search leads to $to, but there is no such place" ;;
    *) fail "the search does not know $name($section): $line" ;;
  esac
  case $line in *"$about"*) ;; *) fail "the search does not say what $name is" ;; esac
done < "$work/names"
echo "ok: the search knows $(wc -l < "$work/names") names"

# Each function on a page that describes several has its own place there.
cut -f 3 "$work/names" | sort | uniq -d | while read -r page; do
  awk -F '\t' -v page="$page" '$3 == page { print $1 }' "$work/names" | while read -r name; do
    grep -qF "id=\"$name\"" "$site/$page.html" || echo "$page: $name"
  done
done > "$work/nowhere"
if [ -s "$work/nowhere" ]; then
  fail "names without a place of their own:" && cat "$work/nowhere"
fi

# Run the search itself.
if has node; then
  cp "$top_srcdir/tests/release/man/search_test.js" "$site"
  node "$site/search_test.js" || fail "the search"
fi
exit "$status"

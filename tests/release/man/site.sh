#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh - make html: every link inside the site has a target, the index has each name and document,
# and install-html and uninstall are a pair.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs mandoc cmark-gfm
site=$work/html

sh "$top_srcdir/doc/site/site.sh" "$site" 1.2.3 "$top_srcdir" || fail "site.sh"
for file in "$site"/*.html; do
  tr '\n' ' ' < "$file" | grep -o '\(href="\|src="\|url=\)[^"]*"' | sed 's/^[a-z]*="*//; s/"$//' |
    sed "s|^#|${file##*/}#|; s|^|${file##*/} |"
done | sort -u > "$work/links"
! grep -l 'raw HTML omitted' "$site"/*.html || fail "a document has HTML of its own, which is left out"
[ "$(wc -l < "$work/links")" -gt 200 ] || fail "found only $(wc -l < "$work/links") links"
while read -r from to; do
  case $to in *://*) continue ;; esac
  if [ ! -f "$site/${to%%#*}" ]; then
    fail "$from refers to $to, which does not exist"
  elif [ "$to" != "${to%%#*}" ] && ! grep -qF "id=\"${to#*#}\"" "$site/${to%%#*}"; then
    fail "$from refers to $to, but there is no such place"
  fi
done < "$work/links"
echo "ok: $(wc -l < "$work/links") links"

sh "$top_srcdir/doc/man/names.sh" "$top_srcdir"/doc/man/*.[137] | while IFS='	' read -r name section _; do
  grep -qF ">$name($section)</a>" "$site/index.html" && [ -s "$site/$name.$section.html" ] || echo "$name"
done > "$work/lost"
[ ! -s "$work/lost" ] || { fail "names without a page:" && cat "$work/lost"; }
for document in README NEWS CONTRIBUTING $(cd "$top_srcdir/doc" && basename -s .md ./*.md); do
  grep -q "\"$document.html\"" "$site/index.html" && [ -s "$site/$document.html" ] || fail "no page of $document"
done

for target in install-html uninstall-local; do
  "$MAKE" -C "$top_builddir" $target DESTDIR="$work/root" > "$work/out" 2>&1 || fail "make $target"
  find "$work/root" -name '*.html' > "$work/$target"
done
grep -q 'fairsem_acquire\.3\.html' "$work/install-html" || fail "make install-html"
[ ! -s "$work/uninstall-local" ] || { fail "uninstall leaves" && cat "$work/uninstall-local"; }
exit "$status"

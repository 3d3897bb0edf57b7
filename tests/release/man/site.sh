#!/bin/sh
# SPDX-License-Identifier: MIT
# site.sh - make html: every link inside the site has a target, the index has each page once, the
# search finds each name, each document is complete, and the same sources make the same site.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs mandoc
site=$work/html
make_site=$top_srcdir/doc/site/site.sh

sh "$make_site" "$site" 1.2.3 "$top_srcdir" || fail "site.sh"
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
    *://*) fail "$from refers to $to" ;;
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
grep -o '<dt><a href="[^"]*"' "$site/index.html" | sed 's/.*href="//; s/"//' | sort > "$work/all"
grep '\.[1-9]\.html$' "$work/all" > "$work/index"
diff "$work/pages" "$work/index" || fail "pages (<) and index (>) differ, above"
(cd "$site" && find . -name '*.[1-9].html') | sed 's|^\./||' | sort > "$work/files"
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

# Each function on a page that describes several has its own place there, except the one that the
# page is called after.
cut -f 3 "$work/names" | sort | uniq -d | while read -r page; do
  awk -F '\t' -v page="$page" '$3 == page { print $1 }' "$work/names" | while read -r name; do
    [ "$name" = "${page%.*}" ] || grep -qF "id=\"$name\"" "$site/$page.html" || echo "$page: $name"
  done
done > "$work/nowhere"
if [ -s "$work/nowhere" ]; then
  fail "names without a place of their own:" && cat "$work/nowhere"
fi

# ---------------------------------------------------------------- the documents
# words - of standard input, a line for each.
words() {
  tr -cs 'A-Za-z0-9' '\n' | sort -u
}

if has cmark-gfm; then
  [ "$(comm -23 "$work/all" "$work/index" | wc -l)" -gt 15 ] || fail "the index has no documents"
  for document in README.md NEWS CONTRIBUTING.md $(cd "$top_srcdir" && echo doc/*.md); do
    page=${document#doc/}
    page=$site/${page%.md}.html
    if [ ! -f "$page" ]; then
      fail "$document has no page"
      continue
    fi
    grep -qx "${page##*/}" "$work/all" || fail "the index has no $document"
    # Links lead to other places; the browser counts the items of a list; and code says in which
    # language it is.
    sed -e 's/]([^)]*)/]/g' -e 's/^[0-9]*\. //' -e 's/^ *```[a-z]*$//' "$top_srcdir/$document" |
      words > "$work/a"
    sed -e 's/ alt="\([^"]*\)"/>\1</' -e 's/<[^>]*>//g' -e 's/&[a-z]*;/ /g' "$page" |
      words > "$work/b"
    comm -23 "$work/a" "$work/b" > "$work/lost"
    if [ "$(wc -l < "$work/a")" -lt 100 ] || [ -s "$work/lost" ]; then
      fail "$document has words that its page lacks:" && cat "$work/lost"
    fi
    ! grep -n 'raw HTML omitted' "$page" || fail "$document has HTML, which is left out, above"
  done
  (unset LC_ALL && TZ=Asia/Tokyo sh "$make_site" "$work/again" 1.2.3 "$top_srcdir")
  diff -r "$site" "$work/again" > "$work/diff" ||
    { fail "the same sources make another site" && cat "$work/diff"; }
  echo "ok: the documents are complete, and the site is the same each time"

  mkdir "$work/bin"
  for tool in mandoc awk sed sh grep sort tr cat cp rm mv mkdir find dirname basename; do
    ln -s "$(command -v "$tool")" "$work/bin/$tool"
  done
  PATH=$work/bin sh "$make_site" "$work/manual" 1.2.3 "$top_srcdir" 2> "$work/said"
  grep -q 'no cmark-gfm' "$work/said" || fail "without cmark-gfm, site.sh says: $(cat "$work/said")"
  (cd "$work/manual" && find . -name '*.[1-9].html') | sed 's|^\./||' | sort |
    diff "$work/pages" - || fail "without cmark-gfm, pages (<) and files (>) differ, above"
  [ ! -f "$work/manual/README.html" ] || fail "README.html was made without cmark-gfm"
  echo "ok: without cmark-gfm, the site is the manual"
fi

# ---------------------------------------------------------------- installed, and gone again
for target in install-html uninstall; do
  "$MAKE" -C "$top_builddir" $target DESTDIR="$work/root" > "$work/out" 2>&1 || fail "make $target"
  find "$work/root" -name '*.html' > "$work/$target"
done
if grep -q 'fairsem_acquire\.3\.html' "$work/install-html" && [ ! -s "$work/uninstall" ]; then
  echo "ok: make install-html, and uninstall leaves nothing"
else
  fail "make install-html, or what uninstall leaves" && cat "$work/uninstall"
fi

# ---------------------------------------------------------------- the search, running
if has node; then
  cp "$top_srcdir/tests/release/man/search_test.js" "$site"
  node "$site/search_test.js" || fail "the search"
fi
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh - check that mandoc and groff accept each manual page, that each reference has a target, and that each
# additional name of a page has a link.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# ---------------------------------------------------------------- the two formatters
# Ignore warnings about pages of other packages, which may not be installed.
mandoc_says() {
  mandoc -T lint "$1" 2>&1 | grep -v 'referenced manual not found\|outdated mandoc.db lacks'
}

groff_says() {
  groff -ww -mdoc -T ascii -z "$1" 2>&1
}

printf '%s\n' '.Dd May 1, 2026' '.Dt WRONG 3' '.Os' '.Sh NAME' '.Nm wrong' '.Nd page' '.Bogus' > "$work/wrong.3"
set -- "$top_srcdir"/doc/man/*.[137]
[ -f "$top_srcdir/doc/man/fairsem.hpp.3" ] || set -- "$@" "$top_builddir/doc/man/fairsem.hpp.3"
tried=''
for formatter in mandoc groff; do
  if ! has "$formatter"; then
    not_tried "$formatter, which is missing"
    continue
  fi
  tried="$tried $formatter"
  "${formatter}_says" "$work/wrong.3" | grep -q Bogus || fail "$formatter accepts a macro that does not exist"
  for page; do
    "${formatter}_says" "$page" > "$work/said"
    [ ! -s "$work/said" ] || { cat "$work/said" && fail "$formatter: ${page##*/}"; }
  done
done
# In a heading, mdoc reads an English word like "No" as a macro; "\&No" makes it a word.
if grep -nE '^\.(It|Sh|Ss) (No|On|At|An|As|Do|In|Up) ' "$@"; then
  fail "these words, above, are macros"
fi
echo "ok: read $# pages, with${tried:- neither mandoc nor groff}"

# ---------------------------------------------------------------- references
sh "$top_srcdir/doc/man/names.sh" "$@" > "$work/names"
cut -f 1,2 "$work/names" | tr '\t' ' ' | sort > "$work/known"
[ -s "$work/known" ] || fail "found no names"
uniq -d "$work/known" > "$work/twice"
if [ -s "$work/twice" ]; then
  fail "on two pages:" && cat "$work/twice"
fi
# All names that begin with "fairsem" are ours, even after .It Xr.
sed -n 's/.*Xr \(fairsem[a-z_A-Z:.-]* [1-9]\).*/\1/p' "$@" | sort -u \
  > "$work/wanted"
if comm -13 "$work/known" "$work/wanted" | grep .; then
  fail "these pages, above, do not exist"
else
  echo "ok: $(wc -l < "$work/wanted") references lead to a page"
fi

# ---------------------------------------------------------------- the links
mkdir -p "$work/man/man1" "$work/man/man3" "$work/man/man7"
for page; do
  cp "$page" "$work/man/man${page##*.}"
done
sh "$top_srcdir/doc/man/links.sh" install "$work/man" "$@"
while IFS='	' read -r name section page _; do
  file=$work/man/man$section/$name.$section
  if [ ! -f "$file" ]; then
    fail "there is no $name.$section"
  elif [ "$name.$section" != "$page" ] && [ "$(cat "$file")" != ".so man$section/$page" ]; then
    fail "$name.$section does not lead to $page"
  fi
done < "$work/names"
sh "$top_srcdir/doc/man/links.sh" uninstall "$work/man" "$@"
left=$(find "$work/man" -type f -exec grep -l '^\.so ' {} +)
[ -z "$left" ] || fail "these links stay: $left"
echo "ok: a link for each further name"
exit "$status"

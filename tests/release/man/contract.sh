#!/bin/sh
# SPDX-License-Identifier: MIT
# contract.sh - the headers and the manual pages agree: each function has a page with the same
# prototype and the same results, and each struct on a page is that of the header; and so are the
# declarations of C++.  The header has the short contract and leads to the page, which has the rest:
# no sentence stands in both.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
here=$top_srcdir/tests/release/man
headers="$top_srcdir/include/fairsem.h $top_srcdir/include/fairsem/shared.h
  $top_srcdir/include/fairsem/posix.h"

# same WHAT FILE FILE - the file from the headers and the file from the pages are equal.
same() {
  if ! [ -s "$2" ] || ! [ -s "$3" ]; then
    fail "found no $1"
  elif diff "$2" "$3" > "$work/diff"; then
    echo "ok: $1, $(wc -l < "$2")"
  else
    fail "$1: in the headers only (<), in the pages only (>):"
    cat "$work/diff"
  fi
}

# shellcheck disable=SC2086 # a list
awk -f "$here/header.awk" $headers > "$work/headers"
awk -f "$here/page.awk" "$top_srcdir"/doc/man/*.3 > "$work/pages"
sh "$top_srcdir/doc/man/names.sh" "$top_srcdir"/doc/man/*.3 > "$work/names"

# ---------------------------------------------------------------- names
sed -n 's/^ *\(fairsem_[a-z_]*\)\*\{0,1\};.*/\1/p' "$top_srcdir/src/fairsem.map" | sort \
  > "$work/exported"
# Other names are macros.
cut -f 1 "$work/names" | grep '^fairsem_' | sort > "$work/described"
same "exported names" "$work/exported" "$work/described"

# ---------------------------------------------------------------- prototypes
for side in headers pages; do
  sed -n 's/^P [a-z_]* //p' "$work/$side" | sort > "$work/prototypes-$side"
done
same "prototypes" "$work/prototypes-headers" "$work/prototypes-pages"
# Each prototype is on the page that has its name.
for page in "$top_srcdir"/doc/man/*.3; do
  awk -f "$here/page.awk" "$page" | sed -n 's/^P \([a-z_]*\) [^;]*;$/\1/p' |
    grep -v '_fn$' | sort > "$work/a"
  sh "$top_srcdir/doc/man/names.sh" "$page" | cut -f 1 | grep '^fairsem_' | sort > "$work/b"
  diff "$work/a" "$work/b" > "$work/diff" ||
    { fail "${page##*/}: SYNOPSIS (<) and NAME (>) differ:" && cat "$work/diff"; }
done

# ---------------------------------------------------------------- results
# A line A stands for "as fairsem_acquire, and"; these are for comments in other words.
{
  cat "$work/headers"
  echo "A fairsem_units_acquire fairsem_acquire_with"
  echo "A fairsem_units_tryacquire fairsem_tryacquire"
  echo "A fairsem_with fairsem_acquire"
  echo "A fairsem_with fairsem_release"
} | awk '
  $1 == "E" { result[$2, $3] = 1; all[$3] = 1 }
  $1 == "A" { from[++count] = $3; to[count] = $2 }
  END {
    # A function may refer to one that refers to another: at most four steps.
    for (step = 1; step <= 4; step++)
      for (i = 1; i <= count; i++)
        for (e in all)
          if ((from[i], e) in result) result[to[i], e] = 1
    for (key in result) {
      split(key, part, SUBSEP)
      print part[1], part[2]
    }
  }' | sort > "$work/results-headers"
sed -n 's/^E \(fairsem_[a-z_]* [A-Za-z0-9]*\)$/\1/p' "$work/pages" | sort -u > "$work/results-pages"
same "results" "$work/results-headers" "$work/results-pages"

# The results of all functions of shared.h are in the comment at its top.
awk '/^ \* Results\./ { inside = 1; next } /^ \* [A-Z]/ { inside = 0 } inside' \
  "$top_srcdir/include/fairsem/shared.h" | grep -o 'E[A-Z][A-Z]*' | sort -u > "$work/each"
for page in "$top_srcdir"/doc/man/fairsem_shared_*.3; do
  sed -n "s/^E ${page##*/}:each //p" "$work/pages" | sort > "$work/row"
  same "results of each function in ${page##*/}" "$work/each" "$work/row"
done
sed -n '/^\.Sh ERRORS/,/^\.Sh SEE/s/^\.It B[qo] \(.*\)/\1/p' "$top_srcdir/doc/man/fairsem_shared.7" |
  grep -o 'E[A-Z][A-Z]*' | sort -u > "$work/row"
same "results of each function in fairsem_shared.7" "$work/each" "$work/row"

# ---------------------------------------------------------------- what they mean
for page in "$top_srcdir"/doc/man/*.3; do
  name=${page##*/}
  awk -f "$here/page.awk" "$page" > "$work/one"
  sed -n 's/^E fairsem_[a-z_]* //p' "$work/one" | sort -u > "$work/a"
  sed -n 's/^X [^ ]* //p' "$work/one" | sort -u > "$work/b"
  diff "$work/a" "$work/b" > "$work/diff" ||
    { fail "$name: in the table only (<), explained only (>):" && cat "$work/diff"; }
done

# ---------------------------------------------------------------- one home for each sentence
# The heading of a section names the pages of its functions.
for header in fairsem.h fairsem/shared.h; do
  awk '
    /^ \*  [0-9]+  [A-Z]/ { getline pages; gsub(/[ *]|\(3\)/, "", pages) }
    /^FAIRSEM_API/ { sub(/\(.*/, ""); sub(/.*[ *]/, ""); print $0, pages }' \
    "$top_srcdir/include/$header" | while read -r name pages; do
    page=$(awk -v name="$name" '$1 == name { sub(/\.3$/, "", $3); print $3 }' "$work/names")
    case ,$pages, in
      *,"$page",*) ;;
      *) echo "$name is on the page $page, but its section names ${pages:-none}" ;;
    esac
  done > "$work/lost"
  if [ -s "$work/lost" ]; then
    fail "$header:" && cat "$work/lost"
  else
    echo "ok: the headings of $header lead to the pages"
  fi
done
for header in fairsem.h fairsem/shared.h fairsem/posix.h $(cd "$top_srcdir/include" &&
  echo fairsem/*.hpp); do
  all=0
  [ "$header" = "${header%.hpp}" ] || all=1
  awk -v header="$top_srcdir/include/$header" -v all="$all" -f "$here/twice.awk" \
    "$top_srcdir"/doc/man/*.[37] "$top_srcdir/include/$header" > "$work/twice"
  if [ -s "$work/twice" ]; then
    fail "$header has these words, and so has a manual page:" && cat "$work/twice"
  else
    echo "ok: no sentence of $header stands in a manual page"
  fi
done

# ---------------------------------------------------------------- C++
# What coroutine.hpp declares is called by compilers only; place.hpp and deadlines.hpp are private.
for header in "$top_srcdir"/include/fairsem/*.hpp; do
  case ${header##*/} in
    coroutine.hpp | place.hpp | deadlines.hpp) ;;
    *) cat "$header" ;;
  esac
done > "$work/cxx"
awk -f "$here/declared.awk" "$work/cxx" | sort > "$work/declared-headers"
awk '/^\.Sh EXAMPLES/ { exit } /^\.Bd/ { on = 1; next } /^\.Ed/ { on = 0 } on' \
  "$top_srcdir/doc/man/fairsem.hpp.3" | sed -e 's/\\(ti/~/g' -e 's/\\e/\\/g' |
  awk -f "$here/declared.awk" | sort > "$work/declared-pages"
same "declarations of C++" "$work/declared-headers" "$work/declared-pages"
# The page names the functions of C that these headers call.
grep -o 'fairsem_[a-z_]*(' "$work/cxx" | sed 's/($//' | sort -u | comm -12 - "$work/exported" \
  > "$work/called"
sed -n 's/^\.Xr \(fairsem_[a-z_]*\) .*/\1/p' "$top_srcdir/doc/man/fairsem.hpp.3" | sort -u \
  > "$work/referred"
comm -23 "$work/called" "$work/referred" > "$work/lost"
if [ ! -s "$work/called" ] || [ -s "$work/lost" ]; then
  fail "fairsem.hpp.3 does not name:" && cat "$work/lost"
else
  echo "ok: fairsem.hpp.3 names the functions of C, $(wc -l < "$work/called")"
fi

# ---------------------------------------------------------------- structs
# bare - print the input without comments, in one line.
bare() {
  awk '
    { text = text " " $0 }
    END {
      while ((start = index(text, "/*")) > 0) {
        rest = substr(text, start)
        text = substr(text, 1, start - 1) substr(rest, index(rest, "*/") + 2)
      }
      gsub(/[ \t]+/, " ", text)
      print text
    }'
}
# shellcheck disable=SC2086 # a list
cat $headers | bare > "$work/all"
count=0
for page in "$top_srcdir"/doc/man/*.3; do
  awk -v prefix="$work/struct-${page##*/}" '
    /^typedef struct/ { file = prefix "-" (++number) }
    file != "" { print > file }
    /^}/ { file = "" }' "$page"
done
for file in "$work"/struct-*; do
  [ -f "$file" ] || continue
  count=$((count + 1))
  grep -qF -e "$(bare < "$file" | sed 's/^ //')" "$work/all" ||
    { fail "${file##*/} is not as in the header:" && cat "$file"; }
done
if [ "$count" -gt 0 ]; then
  echo "ok: structs, $count"
else
  fail "found no structs"
fi
exit "$status"

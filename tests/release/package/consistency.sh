#!/bin/sh
# SPDX-License-Identifier: MIT
# consistency.sh - check that version numbers, lists of functions and lists of files agree across the source.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# in_source FILE SED-EXPRESSION - print the first line that sed prints for this expression.
in_source() {
  sed -n "$2" "$top_srcdir/$1" | head -n 1
}

# ---------------------------------------------------------------- one version
number() {
  in_source include/fairsem.h "s/^#define FAIRSEM_VERSION_$1  *\([0-9]*\)$/\1/p"
}

version=$(in_source configure.ac 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p')
[ -n "$version" ] || fail "found no version in configure.ac"

# agrees WHAT FOUND EXPECTED
agrees() {
  if [ "$2" = "$3" ]; then
    echo "ok: $1 says $2"
  else
    fail "$1 says '$2', configure.ac says $version"
  fi
}
agrees "the header, in numbers," "$(number MAJOR).$(number MINOR).$(number PATCH)" "$version"
agrees "the header, as a string," "$(in_source include/fairsem.h \
  's/^#define FAIRSEM_VERSION_STRING "\(.*\)"$/\1/p')" "$version"
agrees "the newest entry of NEWS" "$(in_source NEWS 's/^\([0-9][0-9.]*\) .*/\1/p')" "$version"
agrees "the newest entry of packaging/debian/changelog" "$(in_source packaging/debian/changelog \
  's/^fairsem (\(.*\)) .*/\1/p')" "$version"
agrees packaging/python/fairsem/__init__.py \
  "$(in_source packaging/python/fairsem/__init__.py 's/^__version__ = "\(.*\)"$/\1/p')" "$version"
agrees "the newest block of fairsem.map" "$(sed -n 's/^FAIRSEM_\([0-9.]*\) {$/\1/p' \
  "$top_srcdir/src/fairsem.map" | tail -n 1)" "${version%.*}"

# ---------------------------------------------------------------- one date, or none
# day_in_changelog - the date of the newest entry, or "unreleased".
day_in_changelog() {
  awk '/^fairsem .* UNRELEASED;/ { print "unreleased"; exit }
    /^ -- / {
      month = (index("JanFebMarAprMayJunJulAugSepOctNovDec", $(NF - 3)) + 2) / 3
      printf "%s-%02d-%02d\n", $(NF - 2), month, $(NF - 4)
      exit
    }' "$top_srcdir/packaging/debian/changelog"
}
day=$(in_source NEWS "s/^$version  //p")
if [ -n "$day" ] && [ "$day" = "$(day_in_changelog)" ]; then
  echo "ok: NEWS and packaging/debian/changelog say $day"
else
  fail "NEWS says '$day', packaging/debian/changelog '$(day_in_changelog)'"
fi

# Make a tree whose newest entry in NEWS is unreleased: it cannot be released, but its archives have a date.
mkdir "$work/unreleased" && cp "$top_srcdir/configure.ac" "$work/unreleased" &&
  ln -s "$(cd "$top_srcdir" && pwd)/tests" "$work/unreleased/tests" || exit 99
printf '%s  unreleased\n\n0.9.0  2026-10-01\n' "$version" > "$work/unreleased/NEWS"

for script in release_files.sh release_check.sh; do
  if env top_srcdir="$work/unreleased" top_builddir="$work" ROWS=news_has_a_date \
    "$top_srcdir/packaging/$script" https://example.org/fairsem > "$work/out" 2>&1; then
    fail "$script accepts a version that is unreleased"
  elif grep -q "NEWS is '$version  unreleased'" "$work/out"; then
    echo "ok: $script refuses a version that is unreleased"
  else
    fail "$script does not say that NEWS has no date"
  fi
done
rm -f "$work/out"

# An archive of this tree, without the link.  The files are of today.
rm "$work/unreleased/tests"
if (cd "$work" && TZ=UTC0 && export TZ && "$top_srcdir/packaging/tar.sh" unreleased | tar tvf -) \
  > "$work/listed" 2> "$work/err" && ! grep -v 2026-10-01 "$work/listed" && [ -s "$work/listed" ]; then
  echo "ok: all files of an archive have the date of the last release"
elif grep -q 'not GNU tar' "$work/err"; then
  not_here "GNU tar"
else
  fail "an archive of a version that is unreleased, above"
fi

# ---------------------------------------------------------------- one list of symbols
# names FILE SED-EXPRESSION - print the functions that FILE lists, sorted.
names() {
  sed -n "$2" "$top_srcdir/$1" | sort
}

# same_functions MAP SYMBOLS - compare the functions of a map and of a symbols file.  A star in the map stands
# for an optional suffix in the symbols file.
same_functions() {
  names "$1" 's/^ *\(fairsem_[a-z0-9_]*[*]*\);.*/\1/p' > "$work/map"
  names "$2" 's/(_time64)?@/*@/; s/.*[ ^]\(fairsem_[a-z0-9_]*[*]*\)@.*/\1/p' > "$work/symbols"
  if diff "$work/map" "$work/symbols" > "$work/diff" && [ -s "$work/map" ]; then
    echo "ok: $2 lists the $(wc -l < "$work/map") functions of $1"
  else
    fail "only in $1 (<), only in $2 (>):" && cat "$work/diff"
  fi
}
same_functions src/cluster/cluster.map packaging/debian/libfairsem-cluster0.symbols
same_functions src/fairsem.map packaging/debian/libfairsem0.symbols

# ---------------------------------------------------------------- every source is built
# make reports neither a list that ends too early nor an undefined variable.
for list in Makefile.am $(cd "$top_srcdir" && find [a-z]* -name local.mk); do
  sed -e 's/#.*//' -e "s|%D%|${list%/*}|g" -e 's|[$]([a-z_]*)/||g' "$top_srcdir/$list"
done | awk '{ for (i = 1; i <= NF; i++) print $i }' > "$work/words"
# Automake derives the source of a test program from its name.
sed -n -e p -e 's|^tests/[a-z/]*/t_[a-z0-9_]*$|&.c|p' "$work/words" > "$work/mentioned"
(cd "$top_srcdir" && find include src examples bench tests \
  \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.map' -o -name '*.sh' \) | sort) > "$work/sources"
if grep -Fvx -f "$work/mentioned" "$work/sources" > "$work/forgotten"; then
  fail "sources that no makefile mentions:" && cat "$work/forgotten"
else
  echo "ok: the makefiles mention all $(wc -l < "$work/sources") sources"
fi

# ---------------------------------------------------------------- static names
# Static names are unique in src/, because the amalgamation compiles all sources as one, and so that a search
# for a name leads to one place.
(cd "$top_srcdir" && awk '
  /^([A-Z_]+ )?static / && !/^static inline / {
    line = $0
    sub(/ = .*/, "", line)
    if (match(line, /[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])*(\(|;|$)/)) {
      name = substr(line, RSTART, RLENGTH)
      gsub(/[[(;].*/, "", name)
      if (name != "__attribute__" && !seen[FILENAME, name]++) print name, FILENAME
    }
  }' src/*/*.c) | sort > "$work/statics"
awk '{ print $1 }' "$work/statics" | uniq -d > "$work/twice"
if [ "$(wc -l < "$work/statics")" -lt 500 ]; then
  fail "found only $(wc -l < "$work/statics") static names in src/"
elif [ -s "$work/twice" ]; then
  fail "static names of two sources:" && grep -w -f "$work/twice" "$work/statics"
else
  echo "ok: the $(wc -l < "$work/statics") static names of src/ are unique"
fi

# ---------------------------------------------------------------- programs that tests call are in the table
# quickstart installs the programs of needs.txt; a program that is not in it would be missing on a new machine.
sed 's/^[a-z]* //; s/ .*//; /^#/d; s/:-.*//' "$top_srcdir/tests/support/needs.txt" | sort -u > "$work/listed"
(
  cd "$top_srcdir" || exit
  scripts=$(find tests bench packaging examples doc -name '*.sh')
  # shellcheck disable=SC2086 # a list
  {
    grep -oE '(^|[!&|({;]|if|until|do|then)[[:space:]]*(has|can_run|command -v) +[a-z][a-z0-9_.+-]*' $scripts
    grep -oE '^[[:space:]]*needs( +[a-z][a-z0-9_.+-]*)+' $scripts
    find tests bench -name '*.py' -exec grep -oE '(needs|which)\(("[^"]*"[, ]*)+' {} +
  } | sed -E 's/:.*(has|can_run|command -v|needs|which)\(?/ /' | tr -d '",' |
    awk '{ for (i = 2; i <= NF; i++) print $i, $1 }'
) | sort -u > "$work/called"
awk 'NR == FNR { there[$1]; next } !($1 in there)' "$work/listed" "$work/called" > "$work/unlisted"
if [ "$(wc -l < "$work/called")" -lt 20 ]; then
  fail "found only $(wc -l < "$work/called") programs that tests look for"
elif [ -s "$work/unlisted" ]; then
  fail "programs that tests/support/needs.txt does not list:" && cat "$work/unlisted"
else
  echo "ok: needs.txt lists the $(wc -l < "$work/called") programs that tests look for"
fi

# ---------------------------------------------------------------- tests of behavior
# Tests of behavior include only public headers.
# Compile without -Isrc, with which a header of src/ would be found.
for source in "$top_srcdir"/tests/contract/*.c "$top_srcdir"/tests/scenarios/*.c; do
  # shellcheck disable=SC2086 # a compiler can be several words
  $CC -E -std=c11 -D_POSIX_C_SOURCE=200809L -I"$top_srcdir/include" \
    -I"$top_srcdir/tests/support" -I"$top_srcdir/tests/support/plain" "$source" \
    > /dev/null 2>> "$work/behavior" || echo "${source##*/}"
done > "$work/insiders"
if [ -s "$work/insiders" ]; then
  fail "tests/contract needs more than the public headers:" && cat "$work/behavior"
else
  echo "ok: the tests of behavior need only the public headers"
fi

# ---------------------------------------------------------------- no traces of a machine
# No text file names a directory that exists only on the machine of an author.
source_files > "$work/files"
(cd "$top_srcdir" && tr '\n' '\0' < "$work/files" | xargs -0 \
  grep -nIE '(^|[^[:alnum:]_.})])/(home|root|Users|work|workspace|mnt|tmp/bash)([^[:alnum:]]|$)') > "$work/paths"
if [ "$(wc -l < "$work/files")" -lt 500 ]; then
  fail "found only $(wc -l < "$work/files") files"
elif [ -s "$work/paths" ]; then
  cat "$work/paths"
  fail "paths of one machine, above"
else
  echo "ok: no paths of one machine in $(wc -l < "$work/files") files"
fi

# ---------------------------------------------------------------- the rooms of the tests
grep -oh 'ROOM=[a-z/]*' "$top_srcdir/tests/README.md" "$top_srcdir/CONTRIBUTING.md" | sed 's/.*=//' | sort -u |
  grep . > "$work/rooms"
while read -r room; do
  grep -q "tests/$room/" "$top_srcdir/tests/local.mk" || fail "no tests/$room/, of ROOM=$room in a document"
done < "$work/rooms"
if ! "$MAKE" --version 2> /dev/null | grep -q GNU; then
  not_tried "ROOM=: $MAKE is not GNU make"
elif "$MAKE" -C "$top_builddir" check ROOM=nowhere > "$work/log" 2>&1 ||
  ! grep -q 'there are no tests in tests/nowhere/' "$work/log"; then
  cat "$work/log"
  fail "make check ROOM=nowhere"
else
  echo "ok: documents name $(wc -l < "$work/rooms") rooms, and make refuses another"
fi

# ---------------------------------------------------------------- each clean-up aligns its stack
# compiler.h has the reason.  With the C libraries of our machines, a missing FS_REALIGN_STACK would not show.
(cd "$top_srcdir" && grep -o 'pthread_cleanup_push([a-z_]*' src/core/*.c src/shared/*.c) |
  sort -u > "$work/pushed"
while IFS=: read -r file handler; do
  grep -q "^FS_REALIGN_STACK static void ${handler#*(}(" "$top_srcdir/$file" ||
    echo "$file: ${handler#*(}"
done < "$work/pushed" > "$work/unaligned"
if [ ! -s "$work/pushed" ]; then
  fail "found no clean-up"
elif [ -s "$work/unaligned" ]; then
  fail "without FS_REALIGN_STACK: $(tr '\n' ' ' < "$work/unaligned")"
else
  echo "ok: $(wc -l < "$work/pushed") clean-ups align their stacks"
fi

# ---------------------------------------------------------------- the tarball is the repository
packed_files > "$work/packed"
if [ ! -s "$work/packed" ]; then
  cat "$work/log"
  fail "make distdir"
elif [ ! -e "$top_srcdir/.git" ]; then
  not_here "a repository, to compare the tarball with"
elif [ ! -s "$work/tracked" ]; then
  not_tried "the tarball: git does not read the repository"
else
  # Files that only the repository needs do not count.  One file of the tarball is made by make.
  grep -v -e '^\.ci/' -e '^\.github/' -e '^\.gitignore$' "$work/tracked" > "$work/expected"
  echo doc/man/fairsem.hpp.3 | sort "$work/expected" - -o "$work/expected"
  if diff "$work/expected" "$work/packed" > "$work/diff"; then
    echo "ok: the tarball has all $(wc -l < "$work/expected") files of the repository"
  else
    fail "only in the repository (<), only in the tarball (>):" && cat "$work/diff"
  fi
fi

# -------------------------------------------------------------- no line is too long
# Exceptions: data (*.txt, pictures, packed files), rows of a table in Markdown, and words without a space, such
# as links.
columns=$(in_source .editorconfig 's/^max_line_length = //p')
grep -Ev '[.](txt|svg|gz)$' "$work/files" > "$work/texts"
# shellcheck disable=SC2016 # for awk
too_long='{ gsub(/\t/, "        "); gsub(/[\200-\277]/, "") }
  length($0) > columns && /[^ ] +[^ ]/ && !(FILENAME ~ /[.]md$/ && /^ *[|]/) {
    print FILENAME ":" FNR ": " length($0) " columns"
  }'
if ! grep -q " at most $columns columns" "$top_srcdir/CONTRIBUTING.md"; then
  fail "CONTRIBUTING.md has another number of columns than .editorconfig: $columns"
elif ! (cd "$top_srcdir" && xargs awk -v columns="$columns" "$too_long") < "$work/texts" > "$work/long" ||
  [ -s "$work/long" ]; then
  cat "$work/long"
  fail "lines with more than $columns columns, above"
else
  echo "ok: no line of $(wc -l < "$work/texts") files has more than $columns columns"
fi
exit "$status"

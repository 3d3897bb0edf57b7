#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - check that names in tables, scripts, comments and documents exist: scenarios, tests, files,
# functions, targets of make.
#
# A search that is given a name that no longer exists might search nothing, and report success.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
source_files > "$work/files"
work=$(cd "$work" && pwd) && cd "$top_srcdir" || exit 99

# all_in WHAT NAMES CITED - each line of CITED is `NAME WHERE`: check that each of these names is a line of NAMES.
all_in() {
  grep -v '^[^ ]*no[-_]such[-_]' "$work/$3" | awk 'NR == FNR { there[$1]; next }
    !($1 in there) { print "  " $0 }' "$work/$2" - | sort -u > "$work/missing"
  if [ ! -s "$work/$2" ] || [ ! -s "$work/$3" ]; then
    fail "found no $1, or nothing that cites any"
  elif [ -s "$work/missing" ]; then
    fail "$1 that are not there:" && cat "$work/missing"
  else
    echo "ok: all $1, cited in $(sort -u "$work/$3" | wc -l) places, are there"
  fi
}

# ---------------------------------------------------------------- scenarios
# Scripts have lists of scenarios in variables of these names.
listed() {
  awk -v quote="'" 'sub(/^(large|some)=/, "") { quotes = 2 }
    quotes > 0 { quotes -= gsub(quote, " "); for (i = 1; i <= NF; i++) print $i, FILENAME }' "$@"
}
sed -n 's/.*{ \.name = "\([^"]*\)".*/\1/p' tests/scenarios/scenarios.c > "$work/core"
{
  listed tests/search/core/*.sh
  # shellcheck disable=SC2016 # backticks
  sed -n 's/.*| `\([a-z0-9-]*\)` |$/\1 scenarios.md/p' doc/scenarios.md
} > "$work/cited"
all_in "scenarios of the explorer" core cited

# ---------------------------------------------------------------- tests and files
sed -n 's|^tests/.*/\(t_[a-z0-9_]*\)\.[a-z]*$|\1|p' "$work/files" > "$work/tests"
documents="CONTRIBUTING.md $(echo doc/*.md)"
# shellcheck disable=SC2086 # a list
grep -oE '\bt_[a-z0-9_]*[a-z0-9]\b[^*]?' $documents tests/*/*.sh tests/*/*/*.sh \
  tests/search/mutants/accepted.txt tests/search/tools/accepted.txt |
  sed 's/\(.*\):\(t_[a-z0-9_]*\).*/\2 \1/' > "$work/cited"
all_in tests tests cited

# Names of files in the documents, with directories or without.
while read -r path; do
  echo "$path"
  while [ "$path" != "${path#*/}" ]; do
    path=${path#*/}
    echo "$path"
  done
done < "$work/files" > "$work/paths"
# shellcheck disable=SC2016,SC2086 # backticks, and a list
{
  grep -oE '`[a-z][a-zA-Z0-9_./-]*\.(c|h|sh|txt|pml|py|awk|hpp|md)`' $documents |
    sed 's/\(.*\):`\(.*\)`/\2 \1/'
} > "$work/cited"
all_in files paths cited

# Names of files in comments of C and of scripts, and in docstrings of Python.  `elsewhere` lists files that are
# not in the source: files of other projects, or made by a build.
elsewhere='amalgamation/fairsem.c fairsem.c helgrind.h linux/futex.h linux/signal.h prog.c server.c'
# shellcheck disable=SC2046 # a list
awk -v elsewhere="$elsewhere" '
  BEGIN { n = split(elsewhere, names); while (n > 0) skipped[names[n--]] }
  FNR == 1 { inside = 0 }
  FILENAME ~ /[.][ch](pp)?$/ { if (!sub(/^.*(\/\*|\/\/)|^ *\* /, "")) next }
  FILENAME !~ /[.][ch](pp)?$/ {
    quotes = gsub(/"""/, " & ")
    if (!inside) is_text = /^ *"""/
    was_inside = inside
    if (quotes % 2) inside = !inside
    if (!(is_text && (quotes || was_inside)) && !sub(/^(.*[ \t])?# /, "")) next
  }
  {
    gsub(/[^A-Za-z0-9_.\/$<*{}@%-]/, " ")
    for (i = 1; i <= NF; i++) {
      sub(/^([.][.]?\/)+/, "", $i)
      sub(/[.]$/, "", $i)
      if ($i ~ /^[a-z][A-Za-z0-9_.\/-]*[.](c|h|sh|txt|pml|py|awk|[ch]pp|md|mk|map|supp|ac|am)$/ && !($i in skipped))
        print $i, FILENAME ":" FNR
    }
  }' $(grep -E '[.]([ch]|[ch]pp|sh|py|mk|a[cm]|awk|map|supp|txt|pml|yml)$|^quickstart$|^[.]ci/run$' "$work/files") \
  > "$work/cited"
all_in "files in comments" paths cited
awk '$1 ~ /^(cppcheck|clang-tidy|gcc-analyzer)$/ && $2 != "*" { print $2, FILENAME }' \
  tests/search/tools/accepted.txt > "$work/cited"
all_in "sources with accepted findings" files cited

# ---------------------------------------------------------------- functions
grep -ohE '\bfs_[a-z0-9_]+' src/core/*.[ch] src/awake/*.[ch] src/system/*.[ch] src/tools/*.[ch] \
  src/shared/*.[ch] src/posix/*.[ch] src/preload/*.[ch] > "$work/functions"
grep -oHE 'fun:fs_[a-z0-9_]+' tests/search/tools/memcheck.supp | sed 's/\(.*\):fun:\(.*\)/\2 \1/' > "$work/cited"
all_in "functions in suppressions" functions cited

# In each directory, the runner of mutants empties one function to test itself.
grep -oE '^[a-zA-Z].*\b[a-z][a-z0-9_]*\(' src/*/*.c |
  sed -E 's|^src/([a-z]*)/.*:.*\b([a-z][a-z0-9_]*)\($|\1/\2|' > "$work/functions"
sed -n 's|^\([a-z]*\) canary \(.*\)|\1/\2 suites.txt|p' tests/search/mutants/suites.txt > "$work/cited"
all_in "functions that the mutants' runner empties" functions cited

# ---------------------------------------------------------------- lines of the sources
# The written faults quote lines of the sources.
if has python3; then
  SOURCE=. PYTHONDONTWRITEBYTECODE=1 python3 tests/search/mutants/generate.py written || status=1
else
  not_tried "the written faults: there is no python3"
fi

# ---------------------------------------------------------------- targets of make
# shellcheck disable=SC2046 # a list
cat Makefile.am $(grep '/local\.mk$' "$work/files") |
  sed -n 's/^\([a-z][a-z -]*\):.*/\1/p' | tr ' ' '\n' > "$work/targets"
# Targets that Automake makes.
printf '%s\n' all check clean install distcheck html >> "$work/targets"
# shellcheck disable=SC2016,SC2086 # backticks, and a list
{
  grep -oE '`make [a-z-]+[` ]' $documents | sed 's/\(.*\):`make \(.*\)./\2 \1/'
  sed -n 's|^row .*"$MAKE" .*\(check-[a-z-]*\).*|\1 tests/verify.sh|p' tests/verify.sh
} > "$work/cited"
all_in "targets of make" targets cited

# A script that make check does not run must be in a row of a table: otherwise nobody would run it.
awk '/^(verify|release)_scripts [+]=/ { open = 1 } open { for (i = 1; i <= NF; i++)
    if ($i ~ /[.](sh|py)$/) print $i, FILENAME } !/\\$/ { open = 0 }' \
  tests/*/local.mk tests/*/*/local.mk > "$work/cited"
grep -ohE 'tests/[a-z_/]*[.](sh|py)' tests/verify.sh packaging/release_check.sh > "$work/rows"
all_in "scripts outside of make check" rows cited
exit "$status"

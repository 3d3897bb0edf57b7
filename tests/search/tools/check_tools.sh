#!/bin/sh
# SPDX-License-Identifier: MIT
# check_tools.sh - runs tools that analyze C on the library's sources; called by `make check-tools`.
#
#   check_tools.sh [TOOL...]      run these tools, or all tools
#
# Each tool must report nothing for src/ except the reports in accepted.txt, which has the reason why each of
# them is not a fault.  And each tool must report all faults of canary_static.c.  sanitize.sh and memcheck.sh
# have tools that run programs.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99
here=$top_srcdir/tests/search/tools
. "$top_srcdir/tests/support/result.sh"
mkdir -p "$top_builddir/tests" &&
  work=$(mktemp -d "$top_builddir/tests/tools.XXXXXX") && work=$(cd "$work" && pwd) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

all_tools='cppcheck clang-tidy gcc-analyzer'

# ---------------------------------------------------------------- the table
failures=0 missing=0
table=$work/table
: > "$table"

# row TOOL VERSION WHAT FINDINGS - print one line of the table, with the seconds since $started.
row() {
  printf '%-13s %-10s %-42s %-26s %4d s\n' "$1" "$2" "$3" "$4" "$(($(date +%s) - started))" |
    tee -a "$table"
}

# without TOOL WHY - leave out a tool: a failure if FAIRSEM_TRY_ALL is "yes".
without() {
  row "$1" - "skipped: $2" -
  [ "${FAIRSEM_TRY_ALL-}" != yes ] || missing=$((missing + 1))
}

# verdict TOOL VERSION WHAT FINDINGS CANARIES WRONG-CANARIES - print the row, and count failures.
verdict() {
  found="$4 findings"
  [ "$4" -ne 1 ] || found="1 finding"
  row "$1" "$2" "$3" "$found, canaries $(($5 - $6))/$5"
  if [ "$4" -ne 0 ] || [ "$6" -ne 0 ]; then
    failures=$((failures + 1))
  else
    echo "ok: $1"
  fi
}

# complain HEADING FILE - print a heading and the beginning of a log.
complain() {
  echo "---- $1"
  head -n 60 "$2"
}

# ---------------------------------------------------------------- the tools
sources=$(cd "$top_srcdir" && echo src/*/*.c)
if ! pkg-config --exists libcurl jansson 2> /dev/null; then
  not_tried "src/cluster/, without the headers of libcurl and jansson"
  # shellcheck disable=SC2086 # a list
  sources=$(printf '%s\n' $sources | grep -v /cluster)
fi
# -fexceptions as in configure: without it, a cancellation is a longjmp.
language="-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -fexceptions -Iinclude -Isrc -Isrc/core
  -Isrc/cluster"
module="-DFAIRSEM_MODULE_PATH=\"/\" -DFAIRSEM_CLUSTER_PROGRAM=\"/\" -DFAIRSEM_CLUSTER_FROM_HERE=\"/\""

# read_TOOL FILE... - print the findings of a tool in these files of the source tree, as FILE:LINE: CHECK message.
read_cppcheck() {
  cppcheck --std=c11 --enable=warning,style,performance,portability --quiet \
    --template='{file}:{line}: {id} {message}' --template-location='' -D_POSIX_C_SOURCE=200809L \
    -D__GNUC__=12 -D__linux__ -D__x86_64__ -D__SIZEOF_POINTER__=8 -Iinclude -Isrc -Isrc/core -Isrc/cluster "$@" 2>&1 ||
    echo "$1:1: could-not-run exit status $?"
}

# each_source COMMAND WORDS... -- FILE... - run the command in sh for each file, $file, several at a time.  If
# the command fails, the file was not analyzed: that is a finding.
each_source() {
  what=$1
  shift
  words=
  while [ "$1" != -- ]; do words="$words $1" && shift; done
  shift
  # shellcheck disable=SC2086 # a list
  printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c "file={}
    { $what; } > '$work/read.'\$\$ 2>&1 || echo '{}:1:1: warning: was not analyzed [could-not-run]'
    cat '$work/read.'\$\$; rm '$work/read.'\$\$" sh $words
}

# Without clang-analyzer-unix.Vfork: clang-tidy 14 crashes in this check (src/run/command.c).
read_clang_tidy() {
  # shellcheck disable=SC2016 # for the shell inside
  each_source 'clang-tidy --quiet --checks="-*,bugprone-*,cert-*,clang-analyzer-*,concurrency-*,misc-*,
performance-*,portability-*,readability-inconsistent-declaration-parameter-name,
readability-misleading-indentation,readability-non-const-parameter,readability-redundant-*,
-clang-analyzer-unix.Vfork" "$file" -- "$@"' "$language" "$module" -- "$@" |
    sed -n -e "s|^$top_srcdir/||" \
      -e 's|^\([^ :]*:[0-9]*\):[0-9]*: [a-z]*: \(.*\) \[\([^ ]*\)\]$|\1: \3 \2|p'
}

read_gcc_analyzer() {
  # At -O2 gcc analyzes inline functions where they are called.
  # shellcheck disable=SC2016 # for the shell inside
  each_source 'gcc "$@" -O2 -Wall -Wextra -fanalyzer -fdiagnostics-plain-output -c "$file" -o /dev/null' \
    "$language" "$module" -- "$@" |
    sed -n 's|^\([^ :]*:[0-9]*\):[0-9]*: warning: \(.*\) \[\([^ ]*\)\]$|\1: \3 \2|p'
}

# not_accepted TOOL - print the findings that accepted.txt does not list.  Entries that match no finding go to
# $work/stale.  A finding with several names (a,b) is accepted if all of its names are accepted.
not_accepted() {
  awk -v tool="$1" -v stale="$work/stale" '
    FNR == NR {
      if ($1 == tool) { key = $2 " " $3; line[key] = $0; used[key] = 0 }
      next
    }
    {
      split($1, place, ":")
      n = split($2, check, ",")
      accepted = n > 0
      for (i = 1; i <= n; i++) {
        here = place[1] " " check[i]
        anywhere = "* " check[i]
        if (here in used) used[here]++
        else if (anywhere in used) used[anywhere]++
        else accepted = 0
      }
      if (!accepted) print
    }
    END { for (key in used) if (!used[key]) print line[key] > stale }' "$here/accepted.txt" -
}

# static TOOL PROGRAM VERSION WORDS... - run a tool, which must report each of these words for canary_static.c.
static() {
  tool=$1 program=$2 version=$3 canaries=0 wrong=0
  shift 3
  if ! command -v "$program" > /dev/null 2>&1; then
    without "$tool" "no $program here"
    return
  fi
  reader=read_$(echo "$tool" | tr - _)
  rm -f "$work/stale"
  # shellcheck disable=SC2086 # a list
  (cd "$top_srcdir" && "$reader" $sources) > "$work/raw"
  not_accepted "$tool" < "$work/raw" > "$work/found"
  [ ! -s "$work/found" ] || complain "$tool" "$work/found"
  [ ! -s "$work/stale" ] || { echo "---- no longer needed:"; cat "$work/stale"; }
  (cd "$top_srcdir" && "$reader" tests/search/tools/canary_static.c) > "$work/canary"
  for words; do
    canaries=$((canaries + 1))
    if ! grep -Eq -e "$words" "$work/canary"; then
      complain "$tool did not report $words" "$work/canary"
      wrong=$((wrong + 1))
    fi
  done
  findings=$(wc -l < "$work/found")
  what="$(echo "$sources" | wc -w) sources, $(($(wc -l < "$work/raw") - findings)) accepted"
  verdict "$tool" "$version" "$what" "$findings" "$canaries" "$wrong"
}

first_number() {
  grep -o '[0-9][0-9.]*' | head -n 1
}

# ---------------------------------------------------------------- main
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $all_tools
begun=$(date +%s)
for tool; do
  started=$(date +%s)
  case $tool in
    cppcheck)
      static cppcheck cppcheck "$(cppcheck --version 2> /dev/null | first_number)" nullPointer \
        doubleFree memleak
      ;;
    clang-tidy)
      static clang-tidy clang-tidy "$(clang-tidy --version 2> /dev/null | first_number)" \
        'core.NullDereference' 'unix.Malloc.*(released|freed)' 'unix.Malloc.*leak'
      ;;
    gcc-analyzer)
      static gcc-analyzer gcc "$(gcc -dumpversion 2> /dev/null)" null-dereference double-free \
        malloc-leak
      ;;
    *)
      echo "no tool $tool; there are: $all_tools" >&2
      exit 2
      ;;
  esac
done

echo
cat "$table"
passed=$(grep -c -v 'skipped: ' "$table")
skipped=$(grep -c 'skipped: ' "$table")
echo
echo "in $(($(date +%s) - begun)) seconds"
echo "$((passed - failures)) passed, $failures failed, $skipped skipped"
[ "$missing" -eq 0 ] || echo "FAILED: $missing tools are missing"
[ "$((failures + missing + status))" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77

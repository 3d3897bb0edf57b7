#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - fairsem-bench: each workload runs briefly, and its output is well formed.
#
# No time is checked here.  The program itself checks that no unit is lost.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
bench=$top_builddir/bench/fairsem-bench
if [ ! -x "$bench" ]; then
  echo "skipped: bench/fairsem-bench was not built"
  exit 77
fi
work=$(mktemp -d "$top_builddir/tests/bench.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

fail() {
  echo "FAILED: $*"
  status=1
}

# runs WHAT STATUS ARGUMENT... - its output goes to $work/out and $work/err.
runs() {
  what=$1 expected=$2
  shift 2
  "$bench" "$@" > "$work/out" 2> "$work/err" < /dev/null
  result=$?
  [ "$result" -eq "$expected" ] && return
  cat "$work/out" "$work/err"
  fail "$what: exit status $result, not $expected"
  return 1
}

# rows WORKLOAD - print how many settings and how many results the JSON in $work/out has.
rows() {
  awk -v workload="$1" '
    index($0, "{\"workload\":\"" workload "\"") == 1 {
      match($0, /"setting":"[^"]*"/)
      settings[substr($0, RSTART, RLENGTH)] = 1
      if ($0 !~ /"repetitions":0[,}]/)
        count++
    }
    END { for (s in settings) n++; print n + 0, count + 0 }' "$work/out"
}

# well_formed - $work/out is JSON.  Without python3, only its first and last line are checked.
well_formed() {
  if command -v python3 > /dev/null 2>&1; then
    python3 -c 'import json, sys; json.load(sys.stdin)' < "$work/out"
  else
    head -n 1 "$work/out" | grep -q '^{"fairsem":' && [ "$(tail -n 1 "$work/out")" = ']}' ]
  fi
}

# workload NAME SETTINGS ROWS - it has at least that many settings, and rows with a result.
workload() {
  runs "$1" 0 --quick --json "$1" || return
  well_formed || fail "$1: not JSON"
  # shellcheck disable=SC2046 # two words
  set -- "$@" $(rows "$1")
  if [ "$4" -ge "$2" ] && [ "$5" -ge "$3" ]; then
    echo "ok: $1: $4 settings, $5 results"
  else
    fail "$1: $4 settings with $5 results, not $2 with $3"
  fi
}

workload uncontended 5 13
workload handoff 1 4    # 4 settings with 30 results where threads can be pinned to two cores
workload victim 1 4
workload contended 40 200
workload ring 6 24
workload cpu 7 7     # in so short a time not every thread gets a turn
workload lines 4 19
workload wake 2 8
workload expiry 1 6
if "$bench" --help | grep -q '^  shared '; then
  FAIRSEM_LIMIT=$top_builddir/fairsem-limit
  export FAIRSEM_LIMIT
  workload shared 7 15
fi

# ---------------------------------------------------------------- other languages
# Only programs that do not first compile for many seconds.
FAIRSEM_BENCH_CACHE=${FAIRSEM_BENCH_CACHE:-$top_builddir/bench/cache}
export FAIRSEM_BENCH_CACHE
foreign() {
  echo '1000 4 1 1000000 20000000' | sh "$top_srcdir/bench/foreign/foreign.sh" "$1" > "$work/out" \
    2>&1
  if [ "$(head -n 1 "$work/out")" != ready ]; then
    echo "not tried: $1: $(head -n 1 "$work/out")"
  elif [ "$(awk 'NR == 2 { print NF, ($1 > 0) }' "$work/out")" = "8 1" ]; then
    echo "ok: $1"
  else
    cat "$work/out"
    fail "$1: no line of eight numbers"
  fi
}

foreign java
[ ! -x "$FAIRSEM_BENCH_CACHE/weighted" ] || foreign go
[ ! -x "$FAIRSEM_BENCH_CACHE/tokio/release/tokio-peer" ] || foreign tokio

# ---------------------------------------------------------------- tables and data files
mkdir "$work/data"
if runs "tables" 0 --quick --data="$work/data" victim contended lines; then
  for text in 'fairsem-bench [0-9]' ' core' 'wait, 99%' 'all together' 'goal' 'not judged'; do
    grep -q "$text" "$work/out" || fail "the tables lack '$text'"
  done
  ! grep -w -e missed -e met "$work/out" "$work/data/goals.tsv" || fail "--quick judges a goal"
  [ ! -s "$work/err" ] || fail "it prints progress without a terminal"
  for file in contended.md contended.tsv goals.tsv lines.tsv machine.txt victim.tsv waits.tsv; do
    [ -s "$work/data/$file" ] || fail "no $file"
  done
  [ "$(wc -l < "$work/data/contended.md")" -eq 40 ] || fail "contended.md does not have 40 lines"
  echo "ok: tables and data files"
fi
runs "a directory that does not exist" 1 --quick --data="$work/none" lines &&
  echo "ok: a data file that cannot be written ends the run"

# ---------------------------------------------------------------- the report
mkdir -p "$work/build/bench"
ln -s "$(cd "$top_builddir/bench" && pwd)/fairsem-bench" "$work/build/bench/fairsem-bench"
script=$top_srcdir/bench/report.sh
if top_builddir=$work/build sh "$script" --quick victim lines > "$work/out" 2>&1; then
  report=$work/build/bench/report
  grep -q '^| lines: ' "$report/report.md" || fail "the report has no goals"
  grep -q 'too brief to judge' "$report/report.md" || fail "the report judges a quick run"
  if command -v gnuplot > /dev/null 2>&1; then
    for picture in victim lines; do
      grep -q '</svg>' "$report/$picture.svg" || fail "no picture $picture"
      grep -q "($picture.svg)" "$report/report.md" || fail "$picture is not in the report"
    done
  fi
  echo "ok: the report"
else
  cat "$work/out"
  fail "report.sh"
fi

# ---------------------------------------------------------------- the command line
runs "no workload" 2 && runs "an unknown workload" 2 none && runs "an unknown option" 2 --none &&
  runs "--version" 0 --version && runs "--help" 0 --help && echo "ok: the command line"
man=$top_srcdir/man/fairsem-bench.1
sed -n 's/^  \(-*[a-z][a-z]*\).*/\1/p' "$work/out" | sed 's/^--/Fl -/' > "$work/words"
[ "$(wc -l < "$work/words")" -ge 14 ] || fail "--help lists too little"
while read -r word; do
  grep -qF -e "$word" "$man" || fail "the manual page does not know $word"
done < "$work/words"
exit "$status"

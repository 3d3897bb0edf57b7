#!/bin/sh
# SPDX-License-Identifier: MIT
# report.sh - all benchmarks, and a report with pictures: bench/report/report.md in the build.
#
# Called by `make bench`.  With --again the pictures and the report are made from the numbers
# that are there, without measuring.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
bench=$top_builddir/bench/fairsem-bench
plots=$top_srcdir/bench/plots
report=$top_builddir/bench/report
text=$report/fairsem-bench.txt

measure() {
  FAIRSEM_BENCH_FOREIGN=${FAIRSEM_BENCH_FOREIGN:-$top_srcdir/bench/foreign}
  FAIRSEM_BENCH_CACHE=${FAIRSEM_BENCH_CACHE:-$top_builddir/bench/cache}
  export FAIRSEM_BENCH_FOREIGN FAIRSEM_BENCH_CACHE
  rm -rf "$report"
  mkdir -p "$report" || exit 1
  # Through a file, because the status of the first command of a pipe is lost.
  "$bench" --data="$report" "$@" > "$text"
  status=$?
  cat "$text"
  [ "$status" -eq 0 ] || exit "$status"
}

# draw NAME - a picture, if there is something to draw it from.
draw() {
  gnuplot -e "data='$report'; plots='$plots'" "$plots/$1.gp" > "$report/$1.svg" \
    2> "$report/$1.log"
  result=$?
  if [ "$result" -ne 0 ] || ! [ -s "$report/$1.svg" ]; then
    cat "$report/$1.log" >&2
    echo "bench: gnuplot failed: $plots/$1.gp" >&2
    exit 1
  fi
  # What it says about peers that did not take part is of no interest.
  rm -f "$report/$1.log"
}

draw_all() {
  if ! command -v gnuplot > /dev/null 2>&1; then
    echo "bench: no pictures: there is no gnuplot (package gnuplot-nox)" >&2
    return
  fi
  [ ! -s "$report/victim.tsv" ] || draw victim
  [ ! -s "$report/lines.tsv" ] || draw lines
  if [ -s "$report/contended.tsv" ]; then
    draw throughput
    draw longest
    draw waits
  fi
}

# picture NAME TEXT
picture() {
  [ -s "$report/$1.svg" ] || return
  printf '\n![%s](%s.svg)\n' "$2" "$1"
}

# A goal that is compared with nobody's best has only the number of settings that met it.
goals() {
  [ -s "$report/goals.tsv" ] || return
  cat <<'_EOF'

## Goals

The median of the first divided by the best repetition of the second, each peer in the same
loop, in turn, in one process.

| workload | | against | ratio | goal | |
|---|---|---|---|---|---|
_EOF
  awk -F'\t' '{ print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " |" }' \
    "$report/goals.tsv"
}

contended() {
  [ -s "$report/contended.md" ] || return
  cat <<'_EOF'

## All threads want a unit all the time

_EOF
  picture throughput "holds a second against threads, for holds of 0 to 100 us"
  picture longest "the longest wait against threads, for holds of 0 to 100 us"
  picture waits "which share of the waits is at least as long"
  cat <<'_EOF'

Holds a second: the median of fairsem divided by the best repetition of

* the best peer that serves in order of arrival, and the best of those whose waiters are
  threads: Go and tokio hand a unit to a task, for which no thread need wake up;
* a ring of threads that hand tokens on through bare futexes, the limit where one must;
* sem_t, which serves in any order;

then fairsem with bounded bypass divided by sem_t, and the longest waits of fairsem and sem_t.

| units | held | threads | in order | of threads | ring | sem_t | bounded | waits | sem_t | goal |
|---|---|---|---|---|---|---|---|---|---|---|
_EOF
  cat "$report/contended.md"
}

write() {
  cat <<_EOF
# fairsem-bench

$(cat "$report/machine.txt")

Measured on $(date -u +%Y-%m-%d); made by \`make bench\`.
_EOF
  if [ -s "$report/victim.tsv" ]; then
    printf '\n## A hog and a victim\n'
    picture victim "which share of the victim's waits is at least as long"
  fi
  goals
  contended
  if [ -s "$report/lines.tsv" ]; then
    printf '\n## The length of the line\n'
    picture lines "nanoseconds against the number of tickets in the line"
  fi
  printf '\n## Everything\n\n```\n'
  cat "$text"
  printf '```\n'
}

if [ "${1-}" != --again ]; then
  [ $# -gt 0 ] || set -- all
  measure "$@"
fi
draw_all
write > "$report/report.md"
echo "bench: the report is $report/report.md"

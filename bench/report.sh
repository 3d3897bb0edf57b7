#!/bin/sh
# SPDX-License-Identifier: MIT
# report.sh - run all benchmarks and write a report with pictures: bench/report/report.md in the
# build directory.
#
# `make bench` calls it, and `make bench-publish` then calls publish.sh.  With --again it makes the
# pictures and the report from the numbers that are there, without measuring.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
bench=$top_builddir/bench/fairsem-bench
plots=$top_srcdir/bench/plots
report=$top_builddir/bench/report
text=$report/fairsem-bench.txt

cannot_write() {
  echo "bench: cannot write $1" >&2
  exit 1
}

# run COMMAND... - its tables are printed, and go to $text.
run() {
  # Through a file, because the status of the first command of a pipe is lost.
  "$@" > "$report/output"
  status=$?
  cat "$report/output" || cannot_write "$report/output"
  [ "$status" -eq 0 ] || exit "$status"
  cat "$report/output" >> "$text" || cannot_write "$text"
  rm -f "$report/output"
}

measure() {
  FAIRSEM_BENCH_FOREIGN=${FAIRSEM_BENCH_FOREIGN:-$top_srcdir/bench/foreign}
  FAIRSEM_BENCH_CACHE=${FAIRSEM_BENCH_CACHE:-$top_builddir/bench/cache}
  FAIRSEM_LIMIT=${FAIRSEM_LIMIT:-$top_builddir/fairsem-limit}
  export FAIRSEM_BENCH_FOREIGN FAIRSEM_BENCH_CACHE FAIRSEM_LIMIT
  rm -rf "$report"
  mkdir -p "$report/dropin" || cannot_write "$report"
  run "$bench" --data="$report" "$@"
}

# What the workloads above cannot measure: it needs fairsem-run.
measure_dropin() {
  FAIRSEM_MODULE=${FAIRSEM_MODULE:-$top_builddir/.libs/fairsem-interpose.so}
  export FAIRSEM_MODULE
  if "$top_builddir/fairsem-run" --check > /dev/null 2>&1; then
    run "$top_builddir/fairsem-run" "$bench" --data="$report/dropin" dropin
  else
    echo "bench: no drop-in: fairsem-run does not work here" >&2
  fi
}

# draw NAME SCRIPT - make a picture from the numbers that are there.
draw() {
  gnuplot -e "data='$report'; plots='$plots'; picture='$1'" "$plots/$2.gp" > "$report/$1.svg" \
    2> "$report/$1.log"
  result=$?
  if [ "$result" -ne 0 ] || ! [ -s "$report/$1.svg" ]; then
    cat "$report/$1.log" >&2
    echo "bench: gnuplot failed: $1, $plots/$2.gp" >&2
    exit 1
  fi
  # What gnuplot says about peers that did not take part is of no interest.
  rm -f "$report/$1.log"
}

draw_all() {
  if ! command -v gnuplot > /dev/null 2>&1; then
    echo "bench: no pictures: there is no gnuplot (package gnuplot-nox)" >&2
    return
  fi
  [ ! -s "$report/victim.tsv" ] || draw victim tail
  [ ! -s "$report/lines.tsv" ] || draw lines lines
  if [ -s "$report/contended.tsv" ]; then
    draw throughput panels
    draw longest panels
    draw waits tail
  fi
}

# picture NAME TEXT
picture() {
  [ -s "$report/$1.svg" ] || return
  printf '\n![%s](%s.svg)\n' "$2" "$1"
}

goals() {
  [ -s "$report/goals.tsv" ] || return
  cat <<'_EOF'

## Goals

Medians, with the quartiles in brackets.  The ratio is that of the medians; each peer ran the same
loop, in turn, in one process.  Two modes are named where the repetitions fall into two groups, so
that a median hides one of them.

_EOF
  awk -F'\t' '
    $9 !~ /^-/ { judged++ }
    $9 ~ /^missed/ {
      missed++
      list = list "* " $1 ": " $3 ($4 == "-" ? "" : ", " $7 ($5 == "-" ? " " $2 : " of " $5)) \
        ", goal " $8 (length($9) > 6 ? ":" substr($9, 7) : "") "\n"
    }
    $9 == "not judged" { brief = 1 }
    { rows = rows "| " $1 ", " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 \
        " | " $9 " |\n" }
    END {
      if (brief)
        print "The run was too brief to judge a goal.\n"
      else if (missed)
        print missed " of " judged " goals are missed:\n\n" list
      else
        print "All " judged " goals are met.\n"
      print "| workload | | | against | | ratio | goal | |\n|---|---|---|---|---|---|---|---|"
      printf "%s", rows
    }' "$report/goals.tsv"
}

contended() {
  [ -s "$report/contended.md" ] || return
  cat <<'_EOF'

## All threads want a unit all the time

_EOF
  picture throughput "holds per second against threads, for holds of 0 to 100 us"
  picture longest "the longest wait against threads, for holds of 0 to 100 us"
  picture waits "the share of the waits that are at least as long"
  cat <<'_EOF'

Holds per second: the median of fairsem divided by the median of

* the best peer that grants in order of arrival, and the best of these whose waiters are
  threads: Go and tokio grant a unit to a task, and that need not wake a thread;
* a ring of threads in which each passes a unit to the next through a bare futex: the limit where
  each hold must wake a thread;
* fairsem with FAIRSEM_NO_SPIN, whose waiters sleep at once;
* sem_t, which grants in any order;

then fairsem with bounded bypass divided by sem_t, and the longest waits of fairsem and sem_t.

| units | held | threads | in order | threaded | ring | no spin | sem_t | bounded | waits | sem_t | goal |
|---|---|---|---|---|---|---|---|---|---|---|---|
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
    picture victim "the share of the victim's waits that are at least as long"
  fi
  goals
  contended
  if [ -s "$report/price.md" ]; then
    printf '\n## What strict order costs\n\nHolds per second, fairsem divided by `sem_t`.\n\n'
    cat "$report/price.md"
  fi
  if [ -s "$report/lines.tsv" ]; then
    printf '\n## The length of the queue\n'
    picture lines "nanoseconds against the number of tickets in the queue"
  fi
  printf '\n## Everything\n\n```\n'
  cat "$text"
  printf '```\n'
}

case $# in
  0) measure all && measure_dropin ;;
  *) [ "$1" = --again ] || measure "$@" ;;
esac
draw_all
write > "$report/report.md" || cannot_write "$report/report.md"
echo "bench: the report is $report/report.md"

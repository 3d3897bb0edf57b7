#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - check fairsem-bench: each workload runs briefly, its output is well formed, and bench.py makes
# tables and a report of it.  And the simulator of more cores prints its tables.
#
# The script checks no times.  The program itself checks that no unit is lost.
# shellcheck disable=SC2317 # await calls functions
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
bench=$top_builddir/bench/fairsem-bench
if [ ! -x "$bench" ]; then
  skip "bench/fairsem-bench was not built"
fi
FAIRSEM_LIMIT=$top_builddir/fairsem-limit
export FAIRSEM_LIMIT

# runs WHAT STATUS ARGUMENT... - run fairsem-bench, check the exit status; output is in $work/out and $work/err.
runs() {
  what=$1 expected=$2
  shift 2
  "$bench" "$@" > "$work/out" 2> "$work/err" < /dev/null
  result=$?
  [ "$result" -eq "$expected" ] && return
  fail "$what: exit status $result, not $expected"
  return 1
}

# rows - print a line for each setting in $work/out, and a line for each result of a setting and a peer.
rows() {
  sed -n 's/^{"workload":"[^"]*",\("setting":"[^"]*"\),\("peer":"[^"]*"\),".*}$/setting \1\
result \1 \2/p' "$work/out"
}

# found WORKLOAD SETTINGS ROWS - run the workload; succeeds if all its runs so far have that many settings and
# rows.  On a busy machine a thread may not run at all in a short run: then there is no result.
found() {
  wrong=no
  runs "$1" 0 --quick "$1" || wrong=yes
  cat "$work/out" >> "$work/results"
  rows | sort -u - "$work/rows" -o "$work/rows"
  settings=$(grep -c '^setting' "$work/rows") results=$(grep -c '^result' "$work/rows")
  [ "$wrong" = yes ] || { [ "$settings" -ge "$2" ] && [ "$results" -ge "$3" ]; }
}

# workload NAME SETTINGS ROWS - check that the workload has at least that many settings, and rows with a result.
workload() {
  : > "$work/rows"
  if ! await found "$@"; then
    fail "$1: $settings settings with $results results, not $2 with $3"
  elif [ "$wrong" = no ]; then
    echo "ok: $1: $settings settings, $results results"
  fi
}

workload uncontended 3 9
workload handoff 1 4    # 4 settings where threads can be pinned to two cores
workload victim 1 3
workload contended 40 120
workload price 67 201
if grep -q '^#define HAVE_LINUX_FUTEX_H' "$top_builddir/config.h"; then
  grep -q '"workload":"price".*"peer":"ticket array"' "$work/results" || fail "price: no ticket array"
fi
workload buffer 6 24
workload tenants 4 13
workload wake 1 2
workload expiry 1 2
if configure_says have_shared yes; then
  workload shared 9 20
fi
[ ! -s "$work/err" ] || fail "it prints progress without a terminal"

# ---------------------------------------------------------------- the command line
runs "no workload" 2 && runs "an unknown workload" 2 none && runs "an unknown option" 2 --none &&
  runs "an option that takes no argument" 2 --quick=1 expiry &&
  runs "an option behind --" 2 -- --version &&
  runs "an option after the workload" 0 expiry --qui && runs "an abbreviated option" 0 --vers && {
  grep -q '^fairsem-bench [0-9]' "$work/out" || fail "--vers is not --version"
} && echo "ok: the command line"
if [ ! -c /dev/full ]; then
  not_here "a full standard output: there is no /dev/full"
else
  for arguments in --version '--quick expiry'; do
    # shellcheck disable=SC2086 # words
    "$bench" $arguments > /dev/full 2> "$work/err"
    result=$?
    if [ "$result" -ne 1 ] || ! grep -q 'standard output: not all' "$work/err"; then
      fail "$arguments, a full standard output: exit status $result"
    fi
  done
fi
runs "--help" 0 --help
man=$top_srcdir/doc/man/fairsem-bench.1
sed -n 's/^  \(-*[a-z][a-z]*\).*/\1/p' "$work/out" | sed 's/^--/Fl -/' > "$work/words"
[ "$(wc -l < "$work/words")" -ge 12 ] || fail "--help lists too little"
while read -r word; do
  grep -qF -e "$word" "$man" || fail "the manual page does not know $word"
done < "$work/words"

# ---------------------------------------------------------------- tables and the report
if ! has python3; then
  not_tried "tables: there is no python3"
  exit "$status"
fi
script=$top_srcdir/bench/bench.py
report=$work/report
mkdir -p "$report" "$work/source/doc"

# The output of each workload is JSON; tables have a row for each result.
if python3 "$script" < "$work/results" > "$work/out" 2> "$work/err"; then
  for text in '^[A-Za-z].* core' '^| acquire | fairsem |' '^| 64 | [0-9.-]* / ' \
    '^| 16 producers, .* a mutex | '; do
    grep -q "$text" "$work/out" || fail "the tables lack '$text'"
  done
  echo "ok: tables"
else
  fail "bench.py: no tables"
fi

# Each row of doc/cost.md is measured, except rows that a quick run, one core, or a system
# without flock or sem_clockwait leaves out.
PYTHONPATH=$(dirname "$script") python3 -B - "$work/results" << '_EOF' > "$work/out" 2> "$work/err" ||
import os, sys
from bench import Results, ROWS
results = Results(open(sys.argv[1]))
one_core = len(os.sched_getaffinity(0)) == 1
for row in ROWS:
    if row.sides(results) or row.workload in ("dropin", "expiry") or row.setting == "10000 sleepers":
        continue
    if row.theirs == "flock(1)" or row.setting == "acquire_for":
        continue
    if row.workload in results.data and not (one_core and row.setting.endswith("cores")):
        sys.exit("no figure for " + row.text)
print("ok: %d rows have figures" % len(ROWS))
_EOF
  fail "a row without figures"
cat "$work/out"

# report_of RESULTS - make the report of these results.
report_of() {
  cp "$1" "$report/results" && python3 "$script" --report "$report" > "$work/out" 2> "$work/err"
}

# A logarithmic axis has no place for 0.  A value of 0 must not prevent the picture or the report.
sed -e '/held 1 us"/s/"holds_per_second":[^,]*/"holds_per_second":0/' \
  -e 's/"waits_ns":\[[^]]*\]/"waits_ns":[0,0]/' "$work/results" > "$work/zero"
has gnuplot || not_tried "pictures: there is no gnuplot"
for results in zero results; do
  report_of "$work/$results" || fail "bench.py: no report of $results"
  { grep -q 'too brief' "$report/report.md" && ! grep -q missed "$report/report.md"; } ||
    fail "the report judges a quick run"
  grep -q '^| acquire and release, nobody waits | ' "$report/report.md" ||
    fail "the report has no goals"
  if has gnuplot; then
    for picture in victim throughput; do
      grep -q '</svg>' "$report/$picture.svg" || fail "no picture $picture of $results"
      grep -q "($picture.svg)" "$report/report.md" || fail "$picture is not in the report"
    done
  fi
done
echo "ok: the report"
rm "$report/report.md" && mkdir "$report/report.md"
if report_of "$work/results" || ! grep -q 'report.md' "$work/err"; then
  fail "a report that cannot be written is reported as a success"
fi

# Known numbers: two of the victim's longest waits, and medians.
while read -r workload setting peer figure value; do
  printf '{"workload":"%s","setting":"%s","peer":"%s","%s":%s}\n' "$workload" \
    "$(echo "$setting" | tr _ ' ')" "$peer" "$figure" "$value"
done > "$work/known" << '_EOF'
uncontended acquire fairsem pair_ns 12.34
uncontended acquire sem_t pair_ns 13
handoff one_core fairsem handoff_ns 2940
handoff one_core sem_t handoff_ns 2350
price 16_threads,_1_unit,_held_2_us fairsem holds_per_second 78400
price 16_threads,_1_unit,_held_2_us sem_t holds_per_second 331000
price 16_threads,_1_unit,_held_2_us fairsem holds_per_second 78300
victim two_cores fairsem longest_wait_ns 130000
victim two_cores fairsem longest_wait_ns 13600000
victim two_cores sem_t longest_wait_ns 999000000
_EOF
cat > "$work/rows" << '_EOF'
| longest wait of a thread beside a hog | **14 ms** | 999 ms, sem_t | 0.014 | <= 10 ms, missed |
| acquire and release, nobody waits | **12.3 ns** | 13.0 ns, sem_t | 0.95 | <= 1.03 |
| hand-off between two threads on one core | 2.9 us | **2.4 us**, sem_t | 1.25 | <= 1.3 |
| 16 threads, one unit held for 2 us, holds per second | 78,000 | **330,000**, sem_t | 0.24 |  |
_EOF
rm -r "$report/report.md"
echo '{"fairsem":"1","quick":false,"machine":"one"}' | cat - "$work/known" > "$work/results"
if report_of "$work/results" && grep -E '^\| [^|]+ \| .*, sem_t \|' "$report/report.md" |
  sed 's/ that holds the unit for 0.2 ms at a time//' | diff "$work/rows" -; then
  echo "ok: known numbers, their units and goals"
else
  fail "the report of known numbers"
fi

# Run make bench, with its report in a directory of this test.
if (cd "$top_builddir" && $MAKE BENCH_REPORT="$work/made" BENCH='--quick uncontended' \
  BENCH_DROPIN='--quick dropin' BENCH_BYPASS='--quick buffer' bench) > "$work/out" 2>&1 &&
  grep -q '^| try and release' "$work/made/report.md"; then
  grep -q 'no drop-in' "$work/out" || grep -q '"workload":"dropin"' "$work/made/results" ||
    fail "make bench: no drop-in"
  echo "ok: make bench"
else
  fail "make bench"
fi

# A machine of two cores takes seconds.
number='[1-9][0-9.]*'
(cd "$top_builddir" && $MAKE CORES=2 bench) > "$work/out" 2>&1
rows=$(grep -c "^| [248] threads, [14] units* \\(| $number / $number / $number \\)\\{8\\}|\$" "$work/out")
if grep -q 'the explorer needs' "$work/out"; then
  not_here "make bench CORES=2: it needs x86-64, Linux and -fsanitize=thread"
elif [ "$rows" -eq 4 ]; then
  echo "ok: make bench CORES=2"
  for peer in fairsem 'fairsem no spin' sem_t; do
    printf '{"workload":"price","setting":"4 threads, 1 unit, held 2 us","peer":"%s","holds_per_second":332000}\n' \
      "$peer"
  done > "$work/measured"
  if python3 -B "$top_srcdir/tests/search/cores/calibrate.py" "$work/measured" \
    "$top_builddir/tests/search/cores/cores" > "$work/out" &&
    grep -q '^ *4 * 1 * 2 * 0 * 332 ' "$work/out" && grep -q '^sem_t: error [0-9]' "$work/out"; then
    echo "ok: the simulator beside measured numbers"
  else
    fail "calibrate.py"
  fi
else
  fail "make bench CORES=2: $rows rows"
fi
exit "$status"

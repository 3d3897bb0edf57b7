#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - fairsem-bench: each workload runs briefly, and its output is well formed.
#
# No time is checked here.  The program itself checks that no unit is lost.
# shellcheck disable=SC2317 # await calls functions
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
bench=$top_builddir/bench/fairsem-bench
if [ ! -x "$bench" ]; then
  skip "bench/fairsem-bench was not built"
fi

# runs WHAT STATUS ARGUMENT... - its output goes to $work/out and $work/err.
runs() {
  what=$1 expected=$2
  shift 2
  "$bench" "$@" > "$work/out" 2> "$work/err" < /dev/null
  result=$?
  [ "$result" -eq "$expected" ] && return
  fail "$what: exit status $result, not $expected"
  return 1
}

# rows - print each setting of $work/out, and each setting with a peer that has a result.
rows() {
  awk 'match($0, /"setting":"[^"]*"/) {
    setting = substr($0, RSTART, RLENGTH)
    print "setting", setting
    if ($0 !~ /"repetitions":0[,}]/ && match($0, /"peer":"[^"]*"/))
      print "result", setting, substr($0, RSTART, RLENGTH)
  }' "$work/out"
}

# well_formed - $work/out is JSON.  Without python3, only its first and last line are checked.
well_formed() {
  if has python3; then
    python3 -c 'import json, sys; json.load(sys.stdin)' < "$work/out"
  else
    head -n 1 "$work/out" | grep -q '^{"fairsem":' && [ "$(tail -n 1 "$work/out")" = ']}' ]
  fi
}

# found WORKLOAD SETTINGS ROWS - run it; true if all its runs together have had as many.  In so short a
# time not every thread gets a turn on a busy machine, and without one there is no result.
found() {
  wrong=no
  if ! runs "$1" 0 --quick --json "$1"; then
    wrong=yes
  elif ! well_formed; then
    wrong=yes
    fail "$1: not JSON"
  fi
  rows | sort -u - "$work/rows" -o "$work/rows"
  settings=$(grep -c '^setting' "$work/rows") results=$(grep -c '^result' "$work/rows")
  [ "$wrong" = yes ] || { [ "$settings" -ge "$2" ] && [ "$results" -ge "$3" ]; }
}

# workload NAME SETTINGS ROWS - it has at least that many settings, and rows with a result.
workload() {
  : > "$work/rows"
  if ! await found "$@"; then
    fail "$1: $settings settings with $results results, not $2 with $3"
  elif [ "$wrong" = no ]; then
    echo "ok: $1: $settings settings, $results results"
  fi
}

workload uncontended 5 13
workload handoff 1 4    # 4 settings with 30 results where threads can be pinned to two cores
workload victim 1 4
workload contended 40 200
workload ring 6 24
workload price 37 74
workload cpu 7 21
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
    not_tried "$1: $(head -n 1 "$work/out")"
  elif [ "$(awk 'NR == 2 { print NF, ($1 > 0) }' "$work/out")" = "8 1" ]; then
    echo "ok: $1"
  else
    fail "$1: no line of eight numbers"
  fi
}

foreign java
[ ! -x "$FAIRSEM_BENCH_CACHE/weighted" ] || foreign go
[ ! -x "$FAIRSEM_BENCH_CACHE/tokio/release/tokio-peer" ] || foreign tokio

# ---------------------------------------------------------------- tables and data files
mkdir "$work/data"
names='uncontended/acquire-1 contended/hold-0ns-threads-16-units-1 ring/16-threads
  contended/hold-10000ns-threads-64-units-1'
# has_medians - has each of these a median, for us and for libc?
has_medians() {
  for setting in $names; do
    for peer in fairsem sem_t; do
      grep -q "^${setting%/*}	${setting#*/}	$peer	" "$work/data/medians.tsv" ||
        return 1
    done
  done
}
# Again until threads that had to wait got their turns: in a run of some milliseconds on a busy machine
# there may be none.
tables() {
  wrong=no
  runs "tables" 0 --quick --data="$work/data" uncontended victim contended ring lines ||
    { wrong=yes && return; }
  has_medians && [ -s "$work/data/waits.tsv" ] && [ -s "$work/data/victim.tsv" ]
}
await tables || fail "the data files have no waits, or not all medians"
if [ "$wrong" = no ]; then
  for text in 'fairsem-bench [0-9]' ' core' 'wait, 99%' 'all together' 'goal' 'not judged'; do
    grep -q "$text" "$work/out" || fail "the tables lack '$text'"
  done
  ! grep -w -e missed -e met "$work/out" "$work/data/goals.tsv" || fail "--quick judges a goal"
  [ ! -s "$work/err" ] || fail "it prints progress without a terminal"
  for file in contended.md contended.tsv goals.tsv lines.tsv machine.txt medians.tsv victim.tsv \
    waits.tsv; do
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
report=$work/build/bench/report
# Again until the victim has been served: there is no picture of nothing.
reported() {
  top_builddir=$work/build sh "$script" --quick victim lines > "$work/out" 2>&1
  result=$?
  [ "$result" -ne 0 ] || [ -s "$report/victim.tsv" ]
}
if await reported && [ "$result" -eq 0 ]; then
  grep -q '^| lines: ' "$report/report.md" || fail "the report has no goals"
  grep -q 'too brief to judge' "$report/report.md" || fail "the report judges a quick run"
  if has gnuplot; then
    for picture in victim lines; do
      grep -q '</svg>' "$report/$picture.svg" || fail "no picture $picture"
      grep -q "($picture.svg)" "$report/report.md" || fail "$picture is not in the report"
    done
  fi
  echo "ok: the report"
else
  fail "report.sh"
fi

# again - make the report from the numbers that are there.
again() {
  top_builddir=$work/build sh "$script" --again > "$work/out" 2>&1
}

# A value of 0 has no place on a logarithmic axis: a picture with one was not drawn, and all of the
# report was missing.
rm -rf "$report" && cp -R "$work/data" "$report" && : > "$report/fairsem-bench.txt"
awk -F '\t' -v OFS='\t' '$2 == 1000 { $5 = $8 = 0 } $4 == "fairsem" { $5 = 0 } { print }' \
  "$work/data/contended.tsv" > "$report/contended.tsv"
for file in victim.tsv waits.tsv; do
  awk -F '\t' -v OFS='\t' '{ $2 = 0; print }' "$work/data/$file" > "$report/$file"
done
if again && [ -s "$report/report.md" ]; then
  echo "ok: medians and waits of 0"
else
  fail "medians and waits of 0: no report"
fi

rm "$report/report.md" && mkdir "$report/report.md"
if again || ! grep -q 'cannot write .*report.md' "$work/out"; then
  fail "a report that cannot be written is reported as a success"
else
  echo "ok: a report that cannot be written is an error"
fi

# ---------------------------------------------------------------- from one run into README.md
# With numbers that are known.
rm -rf "$report" && mkdir -p "$report/dropin" "$work/source/doc" || exit 99
printf '%s\t%s\t%s\t%s\t%s\n' \
  uncontended acquire-1 fairsem 'ns per pair' 12.34  uncontended acquire-1 sem_t 'ns per pair' 13 \
  handoff same-core fairsem ns 2940  handoff same-core sem_t ns 2350 \
  handoff two-cores fairsem ns 180  handoff two-cores sem_t ns 22140 \
  contended hold-0ns-threads-16-units-1 fairsem 'thousand holds per second' 203.4 \
  contended hold-0ns-threads-16-units-1 sem_t 'thousand holds per second' 5012 \
  contended hold-10000ns-threads-64-units-1 fairsem 'thousand holds per second' 80.45 \
  contended hold-10000ns-threads-64-units-1 sem_t 'thousand holds per second' 73.4 \
  ring 16-threads fairsem 'thousand holds per second' 78.4 \
  ring 16-threads sem_t 'thousand holds per second' 331 > "$report/medians.tsv"
printf '%s\t%s\t%s\t%s\t%s\n' dropin uncontended "the program's" ns 7 \
  dropin uncontended "libc's own" ns 5.61 > "$report/dropin/medians.tsv"
printf '%s\t%s\t1\n' fairsem 130000 fairsem 3600000 sem_t 107000000 sem_t 999000000 \
  > "$report/victim.tsv"
echo 'not judged' > "$report/goals.tsv"
for file in machine.txt victim.svg throughput.svg; do
  echo "$file" > "$report/$file"
done
cp "$top_srcdir/README.md" "$work/source/README.md" && chmod u+w "$work/source/README.md" || exit 99
publish() {
  top_builddir=$work/build sh "$top_srcdir/bench/publish.sh" "$work/source" > "$work/out" 2>&1
}
! publish || fail "a run that was too brief is published"
cmp -s "$top_srcdir/README.md" "$work/source/README.md" || fail "README.md has changed"
echo 'met' > "$report/goals.tsv"
cat > "$work/table" << '_EOF'
| | fairsem | `sem_t` |
|---|---|---|
| longest wait of a thread beside a hog that holds the unit for 0.2 ms at a time | **3.6 ms** | 999 ms |
| acquire and release, nobody waits | **12.3 ns** | 13.0 ns |
| hand-off between two threads on one core | 2.9 us | **2.4 us** |
| hand-off between two threads on two cores | **0.18 us** | 22 us |
| 16 threads, one unit held for no time, holds per second | 0.20 million | **5.0 million** |
| 16 threads, one unit held for 2 us, holds per second | 78,000 | **330,000** |
| 64 threads, one unit held for 10 us, holds per second | **80,000** | 73,000 |
| `sem_wait` and `sem_post` in a program under `fairsem-run` | 7.0 ns | **5.6 ns** |
_EOF
ours='/^| | fairsem |/,/^$/'
sed "$ours d" "$top_srcdir/README.md" > "$work/rest"
# Twice, because the second run replaces what the first has written.
if publish && publish &&
  sed -n "$ours p" "$work/source/README.md" | sed '$d' | diff "$work/table" - &&
  sed "$ours d" "$work/source/README.md" | diff "$work/rest" - &&
  cmp "$report/victim.svg" "$work/source/doc/victim.svg"; then
  echo "ok: the table of README.md and the pictures come from one run"
else
  fail "publish.sh"
fi
sed -i '/two-cores/d' "$report/medians.tsv"
! publish || fail "a table without one of its figures is published"

# ---------------------------------------------------------------- make clean
(cd "$top_builddir" && MAKEFLAGS='' make -n clean-local) > "$work/out" 2>&1
if ! grep -q 'bench/cache' "$work/out"; then
  fail "make clean keeps bench/cache"
elif grep 'bench/report' "$work/out"; then
  fail "make clean removes measurements"
else
  echo "ok: make clean keeps measurements"
fi

# ---------------------------------------------------------------- the command line
runs "no workload" 2 && runs "an unknown workload" 2 none && runs "an unknown option" 2 --none &&
  runs "an option that takes no argument" 2 --quick=1 lines && runs "--data alone" 2 --data &&
  runs "an option behind --" 2 -- --version && runs "an empty --data" 1 --data= lines &&
  runs "an abbreviated option" 0 --vers && { grep -q '^fairsem-bench [0-9]' "$work/out" ||
  fail "--vers is not --version"; } && echo "ok: the command line"
mkdir "$work/separate"
if runs "a separate argument, and options after the workload" 0 lines --data "$work/separate" \
  --qui && [ -s "$work/separate/lines.tsv" ]; then
  echo "ok: --data DIR, after the workload"
else
  fail "--data DIR, after the workload"
fi
if [ -c /dev/full ]; then
  rm "$work/separate/lines.tsv" && ln -s /dev/full "$work/separate/lines.tsv"
  if runs "a file that is full" 1 --quick --data="$work/separate" lines &&
    grep -q 'separate/lines.tsv: not all' "$work/err"; then
    echo "ok: a file that is full is an error"
  else
    fail "a file that is full is not named"
  fi
  "$bench" --version > /dev/full 2> "$work/err"
  result=$?
  if [ "$result" -ne 1 ] || ! grep -q 'standard output: not all' "$work/err"; then
    fail "a full standard output: exit status $result"
  fi
fi
runs "--version" 0 --version && runs "--help" 0 --help
man=$top_srcdir/doc/man/fairsem-bench.1
sed -n 's/^  \(-*[a-z][a-z]*\).*/\1/p' "$work/out" | sed 's/^--/Fl -/' > "$work/words"
[ "$(wc -l < "$work/words")" -ge 14 ] || fail "--help lists too little"
while read -r word; do
  grep -qF -e "$word" "$man" || fail "the manual page does not know $word"
done < "$work/words"
exit "$status"

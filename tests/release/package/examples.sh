#!/bin/sh
# SPDX-License-Identifier: MIT
# examples.sh - the example programs and the benchmark work, and stay within their limits.
#
# Nothing here depends on the speed of the machine.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
tried=0

# built PROGRAM - true if it was built.
built() {
  if [ -x "$top_builddir/$1" ]; then
    tried=$((tried + 1))
    return 0
  fi
  not_tried "$1 was not built"
  return 1
}

# run EXPECTED-STATUS PROGRAM ARGUMENT... - its output goes to $work/out.
run() {
  expected=$1 program=$2
  shift 2
  "$top_builddir/$program" "$@" > "$work/out" 2> "$work/err"
  result=$?
  if [ "$result" -eq "$expected" ]; then
    echo "ok: $program $*"
    return 0
  fi
  fail "$program $*: exit status $result, not $expected"
  return 1
}

# number TEXT - print the number after TEXT, where a line of the output begins with TEXT.
number() {
  sed -n "s/^$1  *\([0-9]*\).*/\1/p" "$work/out"
}

# ---------------------------------------------------------------- compress-tree
# An empty file, one larger than all buffers, names that break careless programs, and more small
# files than may be open.
make_tree() {
  mkdir -p "$work/tree/empty directory" "$work/tree/-dash/a" &&
    : > "$work/tree/empty" &&
    head -c 3000000 /dev/zero > "$work/tree/zeros" &&
    head -c 300000 /dev/urandom > "$work/tree/noise" &&
    echo spaces > "$work/tree/ two  spaces " &&
    echo newline > "$work/tree/new
line" &&
    echo star > "$work/tree/-dash/*?[x" &&
    ln -s zeros "$work/tree/link" &&
    ln -s . "$work/tree/loop" || exit 99
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    echo "small $i" > "$work/tree/-dash/a/$i"
  done
}

# within FILES BYTES - the printed peaks are at most these.
within() {
  files=$(number 'peak open files') bytes=$(number 'peak buffer bytes')
  if [ "${files:-0}" -lt 1 ] || [ "$files" -gt "$1" ]; then
    fail "peak open files '$files', limit $1"
  fi
  if [ "${bytes:-0}" -lt 1 ] || [ "$bytes" -gt "$2" ]; then
    fail "peak buffer bytes '$bytes', limit $2"
  fi
}

# verified COUNT SKIPPED
verified() {
  if [ "$(number 'files verified')" != "$1" ] || [ "$(number 'files failed')" != 0 ] ||
    [ "$(number 'skipped')" != "$2" ]; then
    fail "expected $1 files verified, none failed, $2 skipped"
  fi
}

compress=examples/compress-tree
if built "$compress"; then
  make_tree
  run 0 "$compress" -j 1 -b 1024 -t 8 "$work/tree" && within 1 1024 && verified 26 0
  run 0 "$compress" -j 3 -b 64K -t 16 "$work/tree" && within 3 65536 && verified 26 0
  run 0 "$compress" "$work/tree" && within 8 16777216 && verified 26 0
  run 0 "$compress" -j 2 -b 4K "$top_srcdir/src" && within 2 4096
  # Root can read everything.
  if [ "$(id -u)" -ne 0 ]; then
    chmod 000 "$work/tree/noise"
    run 0 "$compress" -j 2 -b 64K "$work/tree" && verified 25 1
  fi
  run 2 "$compress" "$work/no such directory"
  run 2 "$compress" -j 0 "$work/tree"
fi

# ---------------------------------------------------------------- hog-and-victim
hog=examples/hog-and-victim
if built "$hog"; then
  # On a busy machine the victim may not be served in so short a time: then it has no longest wait.
  # shellcheck disable=SC2317 # await calls it
  hog_meets_victim() {
    run 0 "$hog" --seconds 0.3 --svg "$work/picture.svg" || return 0
    ! grep -Eq '^ *times served .* 0( |$)' "$work/out"
  }
  if await hog_meets_victim && [ "$result" -eq 0 ]; then
    for figure in 'times served' 'longest wait' 'times the hog passed it in waiting'; do
      grep -Eq "^ *$figure +[0-9].* [0-9]" "$work/out" || fail "hog-and-victim: no '$figure'"
    done
    if has xmllint; then
      xmllint --noout "$work/picture.svg" || fail "the picture is not well-formed XML"
    elif ! grep -q '<svg ' "$work/picture.svg" || ! grep -q '</svg>' "$work/picture.svg"; then
      fail "the picture is no SVG"
    fi
  fi
  run 2 "$hog" --no-such-option
fi

# ---------------------------------------------------------------- the short ones
# They check their own results.  This checks that they have done all their work.

# says PROGRAM[ ARGUMENT] LINE... - it succeeds, and prints lines that match these regular
# expressions.
says() {
  program=examples/${1%% *} argument=${1#"${1%% *}"}
  shift
  # shellcheck disable=SC2086 # one or none
  if ! built "$program" || ! run 0 "$program" $argument; then
    return
  fi
  for line in "$@"; do
    grep -Eqx "$line" "$work/out" || fail "$program: no line '$line'"
  done
}

says collatz-pool '\[0 1 7 2 5 8 16 3 19 6 14 9 9 17 17 4 12 20 20 7 7 .* 111 18 18 18 106 5\]'
says consumer-priority 'arrived 4, priority 0: served 1' 'arrived 7, priority 0: served 2' \
  'arrived 2, priority 5: served 3' 'arrived 5, priority 5: served 4' \
  'arrived 1, priority 9: served 5' 'arrived 3, priority 9: served 6' \
  'arrived 6, priority 9: served 7' 'all 5000 items taken once'
says 'budget-pool 100' 'begun and finished all, too late 0' 'threads that ended 8' 'bytes free 67108864 of 67108864'
says start-once 'jobs 4000' 'started once 4000' 'most in progress [1-3]' \
  'at once and by callback together 4000'
says event-loop 'served 12' 'shed 10' 'hung up 1' 'refused at shutdown 8' 'most in flight 4'
# Client, limit, fetched, timed out, canceled, most at once.
says fetch-limiter 'crawler +6 +24 +0 +0 +[1-4]' 'browser +2 +12 +0 +0 +[12]' \
  'hasty +2 +0 +8 +0 +0' 'gone +3 +0 +0 +8 +0' 'at most [1-4] of 4 connections in use'
says prefork-server 'requests 160' 'workers that crashed 16' 'units given back for them 16' \
  'most connections at once [1-3]' 'units free at the end 3'

# ---------------------------------------------------------------- scripts
if built fairsem-limit; then
  if sh "$top_srcdir/examples/cron-limit.sh" "$top_builddir/fairsem-limit" > "$work/out" \
    2> "$work/err" && grep -qx 'order: mail www lib etc home' "$work/out" &&
    grep -qx 'most at once: 2' "$work/out"; then
    echo "ok: cron-limit.sh"
  else
    fail "cron-limit.sh"
  fi
fi
jobs=examples/killed-jobs
if built "$jobs" && built fairsem-limit; then
  # Whether there is much to do or nothing, three processes are killed.
  mkdir "$work/nothing"
  for tree in "$top_srcdir/src" "$work/nothing"; do
    if run 0 "$jobs" "$top_builddir/fairsem-limit" "$tree"; then
      grep -q '^parts done 8, processes killed 3, most at once [1-3]$' "$work/out" ||
        fail "killed-jobs: parts"
      [ "$(grep -c KILLED "$work/out")" -eq 3 ] || fail "killed-jobs: not three in the table"
      grep -q '^files [0-9].*: the sum is right$' "$work/out" || fail "killed-jobs: the sum"
    fi
  done
  run 2 "$jobs"
fi

# ---------------------------------------------------------------- fairsem-bench
bench=bench/fairsem-bench
if built "$bench"; then
  run 0 "$bench" --quick all && { grep -q 'fairsem' "$work/out" || fail "no row for fairsem"; }
  run 2 "$bench" no-such-workload
fi

[ "$tried" -gt 0 ] || [ "$status" -ne 0 ] || skip "no example was built"
exit "$status"

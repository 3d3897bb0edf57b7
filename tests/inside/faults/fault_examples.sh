#!/bin/sh
# SPDX-License-Identifier: MIT
# fault_examples.sh - the examples and the benchmark when no more threads can be created.
#
# For each k, the k-th pthread_create fails, and in another run all from the k-th on.  A program may
# do its work with fewer threads.  Otherwise it prints the reason and exits with a status.  It never
# hangs, and no signal ends it.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
shim=$top_builddir/tests/inside/faults/.libs/libfaultthreads.so
if [ ! -e "$shim" ] || ! has timeout; then
  skip "no shared library to put in front of the examples, or no timeout(1)"
fi
# Only the first few: the others are made by the same loops.
most=6
tried=0

# without_threads FROM WHICH PROGRAM ARGUMENT... - only "that" thread fails, or "all" from it on.
# False if the program creates fewer threads.
without_threads() {
  from=$1 which=$2 count=1
  [ "$which" = that ] || count=1000000
  shift 2
  rm -f "$work/mark"
  FAULT_THREADS_FROM=$from FAULT_THREADS_COUNT=$count FAULT_THREADS_MARK=$work/mark \
    LD_PRELOAD=$shim limited "$@" > "$work/out" 2> "$work/err" < /dev/null
  result=$?
  [ -e "$work/mark" ] || return 1
  case $which in
    that) what="$(basename "$1") without its thread $from" ;;
    *) what="$(basename "$1") without its threads from $from on" ;;
  esac
  if [ "$result" -ge 124 ]; then
    fail "$what: hung or killed, status $result"
  elif [ "$result" -ne 0 ] && ! grep -qi thread "$work/err"; then
    fail "$what: exit status $result, and no message about threads"
  elif [ "$result" -eq 0 ]; then
    echo "ok: $what: did its work with fewer"
  else
    echo "ok: $what: $(head -n 1 "$work/err")"
  fi
}

# try PROGRAM ARGUMENT... - with each thread, if the program was built.
try() {
  if [ ! -x "$top_builddir/$1" ]; then
    not_tried "$1 was not built"
    return
  fi
  program=$top_builddir/$1
  shift
  k=1
  while [ "$k" -le "$most" ] && without_threads "$k" that "$program" "$@"; do
    without_threads "$k" all "$program" "$@"
    tried=$((tried + 1)) k=$((k + 1))
  done
  [ "$k" -gt 1 ] || fail "$program $*: creates no thread"
}

mkdir "$work/tree" && for i in 1 2 3 4 5; do echo "file $i" > "$work/tree/$i"; done
try examples/collatz-pool
try examples/compress-tree -t 4 "$work/tree"
try examples/consumer-priority
try examples/fetch-limiter
try examples/hog-and-victim --seconds 0.1 --svg "$work/svg"
most=1
try bench/fairsem-bench --quick uncontended
try bench/fairsem-bench --quick handoff
try bench/fairsem-bench --quick ring
try bench/fairsem-bench --quick victim

[ "$tried" -gt 0 ] || [ "$status" -ne 0 ] || skip "no example was built"
exit "$status"

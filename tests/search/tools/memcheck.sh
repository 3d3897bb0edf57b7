#!/bin/sh
# SPDX-License-Identifier: MIT
# memcheck.sh - runs tests that have no races and few threads under memcheck.  memcheck finds uses of values
# that were never written, which AddressSanitizer does not find.  The programs are those of the build directory.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs valgrind
cd "$top_builddir" || exit 99

# Without --fair-sched a thread that polls keeps all others from running.
memcheck() {
  limited ./libtool --mode=execute valgrind -q --fair-sched=yes --error-exitcode=9 \
    --suppressions="$top_srcdir/tests/search/tools/memcheck.supp" "$@" > "$work/log" 2>&1
}

# shellcheck disable=SC2086 # a compiler can be several words
$CC -std=c11 -D_POSIX_C_SOURCE=200809L -g -I"$top_srcdir/include" \
  "$top_srcdir/tests/search/tools/canary.c" .libs/libcore.a -pthread -o "$work/canary" || exit 99
if ! memcheck "$work/canary" uninitialised right || memcheck "$work/canary" uninitialised ||
  ! grep -q uninitialised "$work/log"; then
  cat "$work/log"
  fail "memcheck does not tell a value that was never written from one that was"
fi
tests='contract/t_dump contract/t_guard contract/t_misuse contract/t_notify contract/t_results
  contract/t_stat scenarios/t_scenarios'
for test in $tests; do
  if memcheck "tests/$test"; then
    echo "ok: $test"
  else
    head -n 60 "$work/log"
    fail "$test under memcheck"
  fi
done
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# can_fail.sh - the stress program finds the faults that it commits itself.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
stress=$top_builddir/tests/search/stress/stress
[ -x "$stress" ] || skip "the stress program is not built (configure --enable-tests)"

# The watchdog aborts on purpose, and must write no core file.
# shellcheck disable=SC3045 # where there is no such limit nothing is lost
ulimit -c 0 2> /dev/null
patience=$(hang_s)

# finds WHAT STATUS PATTERN SECONDS FAULT [PATIENCE] - check that the program ends with STATUS and prints PATTERN.
# If it has found nothing it runs again, for twice as long, because on a busy machine little happens in a second.
# The program ends at once when it finds something.
finds() {
  seconds=$4
  while :; do
    "$stress" "hours=$(awk -v s="$seconds" 'BEGIN { printf "%.6f", s / 3600 }')" \
      "kind=with a short queue" "fault=$5" "patience=${6:-$patience}" > "$work/out" 2>&1
    got=$?
    if [ "$got" -eq "$2" ] && grep -q "$3" "$work/out"; then
      echo "ok: $1"
      return
    fi
    [ "$got" -eq 0 ] && [ "$seconds" -lt "$patience" ] || break
    seconds=$((seconds * 2))
  done
  fail "$1: status $got, not $2"
}

# Found by the count, or by a player that inspects the semaphore.
finds "a unit that was made" 1 '^FAILED: .*: the plain one' 1 made
# Only the patience ends a wait for a lost unit, so it is short here.
finds "a unit that was lost" 134 'silent for too long' "$patience" lost 2
# A mistyped option must be an error, because nothing would be tried.
for option in hours=half fault=losst 'kind=with a shorter queue'; do
  "$stress" "$option" > "$work/out" 2>&1
  got=$?
  [ "$got" -eq 2 ] || fail "$option: status $got, not 2"
done
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  not_here "a leak, which cannot be seen in the memory of an emulator"
else
  finds "a leak" 1 'the resident memory has grown' 4 leak
fi
exit "$status"

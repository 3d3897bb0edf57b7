#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - a short soak: it runs, it counts, and it can fail.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
soak=$top_builddir/tests/search/soak/soak
[ -x "$soak" ] || skip "the soak is not built (configure --enable-tests)"

# The watchdog aborts on purpose: write no core file.
# shellcheck disable=SC3045 # where there is no such limit nothing is lost
ulimit -c 0 2> /dev/null
patience=$(hang_s)

# soaks WHAT STATUS PATTERN SECONDS [FAULT [PATIENCE]] - the soak ends with STATUS and prints PATTERN.
# If it has found nothing yet, it runs again, for twice as long: on a busy machine little happens in a
# second.  A soak that finds something ends at once.
soaks() {
  what=$1 expected=$2 pattern=$3 seconds=$4
  shift 4
  while :; do
    "$soak" "$(awk -v s="$seconds" 'BEGIN { printf "%.6f", s / 3600 }')" "${1:-none}" \
      "${2:-$patience}" > "$work/out" 2>&1
    got=$?
    if [ "$got" -eq "$expected" ] && grep -q "$pattern" "$work/out"; then
      echo "ok: $what"
      return
    fi
    if [ "$got" -ne 0 ] || [ "$seconds" -ge "$patience" ]; then
      break
    fi
    seconds=$((seconds * 2))
  done
  fail "$what: status $got, not $expected"
}

# In more than two seconds, each arena is counted at least once before the end.
soaks "no unit is lost or made" 0 ' [1-9][0-9]* checks$' 3
# The count finds it, or a player that inspects the semaphore.
soaks "a unit that was made is found" 1 '^FAILED: unbounded' "$patience" made
# Nothing else ends a wait for a unit that is lost: how soon is a matter of this patience.
soaks "a unit that was lost is found" 134 'silent for too long' "$patience" lost 2
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  not_here "a leak, which cannot be seen in the memory of an emulator"
else
  soaks "a leak is found" 1 'it has grown by more than' 4 leak
fi
exit "$status"

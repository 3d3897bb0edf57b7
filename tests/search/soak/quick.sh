#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - a short soak: it runs, it counts, and it can fail.
set -u

: "${top_builddir:=$PWD}"
soak=$top_builddir/tests/search/soak/soak
log=$top_builddir/tests/soak.out
status=0
trap 'rm -f "$log"' EXIT

[ -x "$soak" ] || {
  echo "skipped: the soak is not built (configure --enable-tests)"
  exit 77
}

# The watchdog aborts on purpose: write no core file.
# shellcheck disable=SC3045 # where there is no such limit nothing is lost
ulimit -c 0 2> /dev/null

# soaks WHAT STATUS PATTERN ARGUMENT... - the soak ends with STATUS and prints PATTERN.
soaks() {
  what=$1 expected=$2 pattern=$3
  shift 3
  "$soak" "$@" > "$log" 2>&1
  got=$?
  if [ "$got" -eq "$expected" ] && grep -q "$pattern" "$log"; then
    echo "ok: $what"
  else
    echo "FAILED: $what: status $got" && cat "$log"
    status=1
  fi
}

# In more than two seconds, each arena is counted at least once before the end.
soaks "no unit is lost or made in two seconds" 0 ' [1-9][0-9]* checks$' 0.0007
# The count finds it, or a player that inspects the semaphore.
soaks "a unit that was made is found" 1 '^FAILED: unbounded' 0.01 made
soaks "a unit that was lost is found" 134 'silent for too long' 0.01 lost 2
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  echo "not tried: a leak, which cannot be seen in the memory of an emulator"
  exit "$status"
fi
soaks "a leak is found" 1 'it has grown by more than' 0.001 leak
exit "$status"

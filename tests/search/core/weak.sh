#!/bin/sh
# SPDX-License-Identifier: MIT
# weak.sh [COUNT [NAME...]] - make check-explore-weak: litmus tests, then all scenarios, or the named ones, with
# one preemption and one stale load.
#
# Then it looks for data races in the first COUNT scenarios of generate.c, without stale loads.  (The library
# promises no order between an acquire and a later call of another thread.  So with a stale load a run may
# contradict the sequential model although nothing is wrong.)
#
# Builds into tests/search/core of the current directory.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
count=${1:-2000}
[ $# -eq 0 ] || shift
explorer=$PWD/tests/search/core/explore
mkdir -p "${explorer%/*}"
. "$top_srcdir/tests/support/result.sh"
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$explorer" || exit $?

explore() {
  "$explorer" --jobs 2 "$@"
  result "explore $*" $?
}

# Scenarios with too many schedules for a stale load and a preemption together.  They run with a stale load and
# no preemption, and with a preemption and no stale load.
large='timeouts-of-three parker-still-on-a-chain bypass-chain bypass-two-sleepers
  bypass-two-sleepers-soon woken-by-the-woken woken-by-the-canceled'

"$explorer" --litmus
result "the litmus tests" $?
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046,SC2086 # lists
  {
    explore --bound 0 --stale 1 $large
    explore --bound 1 --stale 0 $large
    set -- $("$explorer" --list | awk '{ print $1 }' | grep -vxF "$(printf '%s\n' $large)")
  }
fi
explore --bound 1 --stale 1 "$@"
echo "-------- generated: 1 to $count"
explore --bound 1 --stale 0 --runs 300 --generate "1-$count"
[ "$status" -ne 0 ] || echo "ok: no schedule with weak memory has failed"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# weak.sh [COUNT [NAME...]] - weak memory: litmus tests, then all scenarios, or those named, with
# one preemption and one old load, two processes at a time: make check-explore-weak.
#
# Then it looks for data races in the first COUNT scenarios that generate.c makes, without old loads.  The library promises no order between an acquire and a later call
# of another thread, so an old load may contradict the sequential model although nothing is wrong.
#
# Builds into the current directory's tests/search/core.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
count=${1:-2000}
[ $# -eq 0 ] || shift
work=$PWD/tests/search/core
mkdir -p "$work"
. "$top_srcdir/tests/support/result.sh"

# These have too many schedules for both at once.  They run with an old load but no preemption, and
# with a preemption but no old load.
large='timeouts-of-three parker-still-on-a-chain bypass-chain bypass-two-sleepers
  bypass-two-sleepers-soon woken-by-the-woken woken-by-the-canceled'

# part WHICH FILE OPTION... - every other scenario named in FILE: the even ones (0) or the odd (1).
part() {
  names=$(awk "NR % 2 == $1" "$2")
  shift 2
  # Without names the explorer would run all.
  [ -n "$names" ] || return 0
  # shellcheck disable=SC2086 # a list
  "$explorer" "$@" $names
}

# halves FILE OPTION... - the scenarios named in FILE, one half of them in the background.
halves() {
  part 0 "$@" > "$work/second-half" &
  part 1 "$@"
  result "$explorer" $?
  wait $!
  result "$explorer, the other half" $?
  sed 1d "$work/second-half"
}

explorer=$work/explore
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$explorer" || exit $?
chosen=$(printf '%s\n' "$@")
[ -z "$chosen" ] || large=
printf '%s\n' "$chosen" > "$work/others"
# shellcheck disable=SC2086 # a list
printf '%s\n' $large > "$work/large"
if [ -z "$chosen" ]; then
  "$explorer" --list | awk '{ print $1 }' | grep -vxFf "$work/large" > "$work/others"
  result "$explorer --list" $?
fi
halves "$work/others" --bound 1 --stale 1
halves "$work/large" --bound 0 --stale 1
halves "$work/large" --bound 1 --stale 0

echo "-------- generated: 1 to $count"
"$explorer" --part 2/2 --bound 1 --stale 0 --runs 300 --generate "1-$count" > "$work/second-half" &
"$explorer" --part 1/2 --bound 1 --stale 0 --runs 300 --generate "1-$count"
result "$explorer, generated" $?
wait $!
result "$explorer, generated, the other half" $?
cat "$work/second-half"
echo
"$explorer" --litmus
result "the litmus tests" $?
[ "$status" -ne 0 ] || echo "ok: no schedule with weak memory has failed"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# more.sh [SECONDS [SEED]] - make explore-more: generated scenarios with new numbers, for a while.
#
# Two processes at a time.  The numbers begin at SEED, or at a number from the clock.  Scenarios
# that fail are minimized.  Builds into the current directory's tests/search/core.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
seconds=${1:-60} seed=${2:-$(($(date +%s) * 1000))}
work=$PWD/tests/search/core
mkdir -p "$work"

# explore PART - every other number from the seed on.
explore() {
  "$work/explore" --bound 2 --runs 4000 --seconds "$seconds" --part "$1/2" --generate "$seed"
}

. "$top_srcdir/tests/support/result.sh"
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$work/explore" || exit $?
echo "generated scenarios from $seed on, for $seconds s"
explore 2 > "$work/second-half" &
explore 1
result explore $?
wait $!
result "explore, the other half" $?
cat "$work/second-half"
exit "$status"

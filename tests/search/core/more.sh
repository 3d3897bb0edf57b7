#!/bin/sh
# SPDX-License-Identifier: MIT
# more.sh [SECONDS [SEED]] - make explore-more: generated scenarios with new numbers, for a while.
#
# One process for each parker.  The numbers begin at SEED, or at a number from the clock.  Scenarios
# that fail are minimized.  Builds into the current directory's tests/search/core.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
seconds=${1:-60} seed=${2:-$(($(date +%s) * 1000))}
work=$PWD/tests/search/core
mkdir -p "$work"

build() {
  EXPLORE_CPPFLAGS=$2 "$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$work/explore-$1" ||
    exit $?
}

# explore PARKER PART - every other number from the seed on.
explore() {
  "$work/explore-$1" --bound 2 --runs 4000 --seconds "$seconds" --part "$2/2" --generate "$seed"
}

. "$top_srcdir/tests/support/result.sh"
build cond ''
build futex '-DFS_FUTEX_BY_DEFAULT=1'
echo "generated scenarios from $seed on, for $seconds s, on both parkers"
explore futex 2 > "$work/second-half" &
explore cond 1
result "parker: cond" $?
wait $!
result "parker: futex" $?
cat "$work/second-half"
exit "$status"

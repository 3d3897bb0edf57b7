#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [BOUND] - all scenarios on both parkers, two processes at a time: make check-explore.
#
# Builds into the current directory's tests/explore.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
bound=${1:-2}
work=$PWD/tests/explore
mkdir -p "$work"
status=0

# explore PARKER CPPFLAGS - one half of the scenarios in the background, the other half here.
explore() {
  echo "======== parker: $1"
  EXPLORE_CPPFLAGS=$2 "$top_srcdir/tests/explore/build.sh" "$top_srcdir/src" "$work/explore-$1" ||
    exit $?
  "$work/explore-$1" --bound "$bound" --part 2/2 > "$work/second-half" &
  "$work/explore-$1" --bound "$bound" --part 1/2 || status=1
  wait $! || status=1
  sed 1d "$work/second-half"
  echo
}

explore cond ''
explore futex '-DFS_FUTEX_BY_DEFAULT=1'
"$work/explore-cond" --pairs || status=1
exit "$status"

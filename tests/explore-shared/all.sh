#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh - make check-explore-shared: every scenario with the preemptions and deaths that it allows,
# two processes at a time.  Builds into the current directory's tests/explore-shared.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
work=$PWD/tests/explore-shared
mkdir -p "$work"
"$top_srcdir/tests/explore-shared/build.sh" "$top_srcdir/src" "$work/dies" || exit $?

status=0
"$work/dies" --keep-going --part 2/2 > "$work/second-half" &
"$work/dies" --keep-going --part 1/2 || status=1
wait $! || status=1
sed 1d "$work/second-half"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [NAME...] - make check-explore-shared: every scenario, or those named, with the preemptions
# and deaths that it allows, two processes at a time.  Builds into the current directory's tests/search/shared.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
work=$PWD/tests/search/shared
mkdir -p "$work"
"$top_srcdir/tests/search/shared/build.sh" "$top_srcdir/src" "$work/dies" || exit $?

. "$top_srcdir/tests/support/result.sh"
"$work/dies" --part 2/2 "$@" > "$work/second-half" &
"$work/dies" --part 1/2 "$@"
result "the explorer" $?
wait $!
result "the explorer, the other half" $?
sed 1d "$work/second-half"
exit "$status"

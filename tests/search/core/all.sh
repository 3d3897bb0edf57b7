#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [BOUND [COUNT [NAME...]]] - make check-explore: all scenarios, and generated ones.
#
# First those of the table, or those named, then the first COUNT that generate.c makes; two processes
# at a time.  At the end it prints what all of them have seen.  Builds into
# the current directory's tests/search/core.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
bound=${1:-2} count=${2:-2000}
if [ $# -gt 2 ]; then shift 2; else set --; fi
names=$*
work=$PWD/tests/search/core
mkdir -p "$work"
rm -f "$work"/seen.*
. "$top_srcdir/tests/support/result.sh"

# halves ARGUMENT... - one half in the background, the other half here.
halves() {
  "$work/explore" --seen "$work/seen.2" --part 2/2 "$@" > "$work/second-half" &
  "$work/explore" --seen "$work/seen.1" --part 1/2 "$@"
  result explore $?
  wait $!
  result "explore, the other half" $?
}

"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$work/explore" || exit $?
# shellcheck disable=SC2086 # a list
halves --bound "$bound" $names
sed 1d "$work/second-half"
echo "-------- generated: 1 to $count"
halves --bound "$bound" --runs 3000 --generate "1-$count"
cat "$work/second-half"
echo
if [ -z "$names" ]; then
  "$work/explore" --pairs "$work/seen.1" "$work/seen.2"
  result "the report" $?
fi
exit "$status"

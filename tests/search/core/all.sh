#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [BOUND [COUNT [NAME...]]] - make check-explore: all scenarios, and generated ones.
#
# Runs first the scenarios of the table, or only the named ones, then the first COUNT scenarios of generate.c.
# Builds into tests/search/core of the current directory.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
bound=${1:-2} count=${2:-2000}
if [ $# -gt 2 ]; then shift 2; else set --; fi
explorer=$PWD/tests/search/core/explore
mkdir -p "${explorer%/*}"
. "$top_srcdir/tests/support/result.sh"
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$explorer" || exit $?

"$explorer" --jobs 2 --bound "$bound" "$@"
result explore $?
echo "-------- generated: 1 to $count"
"$explorer" --jobs 2 --bound "$bound" --runs 3000 --generate "1-$count"
result "explore, generated" $?
[ "$status" -ne 0 ] || echo "ok: no schedule with $bound preemptions has failed"
exit "$status"

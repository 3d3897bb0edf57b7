#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [NAME...] - make check-explore-shared: all scenarios, or the named ones, each with the preemptions and
# deaths that the scenario allows.  Builds into tests/search/shared of the current directory.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
explorer=$PWD/tests/search/shared/dies
mkdir -p "${explorer%/*}"
. "$top_srcdir/tests/support/result.sh"
"$top_srcdir/tests/search/shared/build.sh" "$top_srcdir/src" "$explorer" || exit $?
"$explorer" --jobs 2 "$@"
result "the explorer" $?
[ "$status" -ne 0 ] || echo "ok: no schedule with deaths has failed"
exit "$status"

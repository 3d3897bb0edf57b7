#!/bin/sh
# SPDX-License-Identifier: MIT
# more.sh [SECONDS [SEED]] - make explore-more: generated scenarios with new numbers, for a while.
#
# The numbers begin at SEED, or at a number from the clock.  A failing scenario is minimized.
# Builds into tests/search/core of the current directory.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
seconds=${1:-60} seed=${2:-$(($(date +%s) * 1000))}
explorer=$PWD/tests/search/core/explore
mkdir -p "${explorer%/*}"
. "$top_srcdir/tests/support/result.sh"
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$explorer" || exit $?

echo "generated scenarios from $seed on, for $seconds s"
"$explorer" --jobs 2 --bound 2 --runs 4000 --seconds "$seconds" --generate "$seed"
result explore $?
[ "$status" -ne 0 ] || echo "ok: no generated scenario has failed"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - the shared semaphore under every schedule with one preemption and one death, in some seconds.
# `make check-explore-shared` has two preemptions and two deaths.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/search/engine/help.sh"

# all.sh uses the same place, so that the explorer is built once for each version of the sources.
explorer=$top_builddir/tests/search/shared/dies
mkdir -p "${explorer%/*}"
"$top_srcdir/tests/search/shared/build.sh" "$top_srcdir/src" "$explorer" || exit
help_is_complete "$explorer" "$top_srcdir/tests/search/shared/main.c"
"$explorer" --jobs 2 --quick --bound 1 --deaths 1 || exit
exit "$status"

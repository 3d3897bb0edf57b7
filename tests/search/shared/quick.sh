#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - the shared semaphore under every schedule with one preemption and one death.  It takes
# some seconds.  `make check-explore-shared` is the same with two of each.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
mkdir -p "$top_builddir/tests/search/shared" || exit 99
work=$(mktemp -d "$top_builddir/tests/search/shared/quick.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

"$top_srcdir/tests/search/shared/build.sh" "$top_srcdir/src" "$work/dies"
built=$?
[ "$built" -eq 0 ] || exit "$built"
"$work/dies" --quick --bound 1 --deaths 1

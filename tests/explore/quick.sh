#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - the library's sources under every schedule with one preemption: some seconds.
#
# `make check-explore` is the same with two, and on both parkers.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
mkdir -p "$top_builddir/tests/explore" || exit 99
work=$(mktemp -d "$top_builddir/tests/explore/quick.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

"$top_srcdir/tests/explore/build.sh" "$top_srcdir/src" "$work/explore"
built=$?
[ "$built" -eq 0 ] || exit "$built"
"$work/explore" --pairs && "$work/explore" --bound 1

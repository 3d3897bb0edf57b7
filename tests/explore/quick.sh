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
"$work/explore" --pairs && "$work/explore" --bound 1 | tee "$work/merged" || exit 1
! grep -q FAILED "$work/merged" || exit 1

# What is left out because its state is known must not hide anything: no history is missing.
"$work/explore" --bound 1 --all-runs > "$work/all" || exit 1
for table in merged all; do
  awk 'NR > 1 { print $1, $4 }' "$work/$table" > "$work/$table.histories"
done
echo
if diff "$work/merged.histories" "$work/all.histories"; then
  echo "ok: as many histories without merging"
else
  echo "FAILED: histories with merging (<) and without (>)"
  exit 1
fi

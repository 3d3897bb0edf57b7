#!/bin/sh
# SPDX-License-Identifier: MIT
# cells.sh - the library's sources on simulated cores: fairsem keeps its limits, relative to sem_t and to
# FAIRSEM_NO_SPIN, except in the cells that are marked in cells.c.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

simulator=$top_builddir/tests/search/cores/cores
mkdir -p "${simulator%/*}"
"$top_srcdir/tests/search/cores/build.sh" "$top_srcdir/src" "$simulator" || exit

limited "$simulator" --cells > "$work/out"
result "cores --cells" $?
cat "$work/out"
exit "$status"

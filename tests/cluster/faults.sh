#!/bin/sh
# SPDX-License-Identifier: MIT
# faults.sh [SCENARIO...] - an engine whose answers are lost, late, cut, endless, or make no sense.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
export top_builddir PYTHONDONTWRITEBYTECODE=1
needs python3
python3 "$top_srcdir/tests/cluster/faults.py" "$work" "$@" || status=$?
exit "$status"

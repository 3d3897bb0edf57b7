#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - the litmus tests, and whether orders.txt still names orders of the sources.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
export top_srcdir CC
# The compiler itself: sanitizers and other machines have nothing to do with this.
# In the build directory, where what was built is kept.
(cd "$top_builddir" && sh "$top_srcdir/tests/search/litmus/litmus.sh" --quick) > "$work/out" 2>&1
case $? in
  0) echo "ok: $(tail -n 1 "$work/out")" ;;
  77) skip "$(sed -n 's/^skipped: //p' "$work/out")" ;;
  *) fail "litmus.sh --quick" ;;
esac
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh - make check-litmus: litmus.sh, the same question to Relacy, and the machine code.  The
# worst exit status of the three; what is skipped says why.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../../.." && pwd)}"
export top_srcdir
. "$top_srcdir/tests/support/result.sh"
for part in litmus relacy machine; do
  sh "$here/$part.sh"
  ended=$?
  [ "$ended" -eq 77 ] || result "$part.sh" "$ended"
done
exit "$status"

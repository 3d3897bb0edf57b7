#!/bin/sh
# SPDX-License-Identifier: MIT
# pytest.sh FILE [OPTION...] - run the cases of a Python file, with the additions of cases.py to pytest.
#
# `-k WORDS` chooses cases.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# If the first python3 in the path lacks pytest, the system's python3 may have it.
for python in python3 /usr/bin/python3 ''; do
  ! "${python:-true}" -c 'import pytest' 2> /dev/null || break
done
[ -n "$python" ] || skip "there is no pytest (package python3-pytest)"

top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
export top_srcdir top_builddir work CC CXX CFLAGS MAKE
PYTHONPATH=$top_srcdir/tests/support:$top_srcdir/tests/cluster PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
  "$python" -B -m pytest -c /dev/null --rootdir="$top_srcdir" --basetemp="$work/cases" -p cases \
  -p no:cacheprovider -v --no-header --tb=short ${STOP_EARLY:+-x} "$@" || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || find "$work" -name '*.log' -exec tail -n 20 {} +
exit "$status"

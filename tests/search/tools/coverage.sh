#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh - which lines of src/ the tests of `make check` run; it fails if a folder is below its
# number of percent, in `least`.
#
# `make coverage` calls it.  It builds in coverage/ of the build directory.  Exit status 1: too few
# lines; 2: nothing could be measured; 77: there is no gcovr.
set -u

least='core=98 shared=98 posix=98 preload=94 run=90 limit=92 cluster=95'
# The commands and the module are run by scripts.
scripts='tests/preload/test_interpose.py tests/limit/test_limit.py tests/limit/test_names.py
  tests/limit/test_nested.py tests/limit/test_parent.py tests/limit/test_status.py
  tests/limit/test_terminal.py tests/limit/test_cluster.py tests/cluster/test_faults.py'

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
. "$top_srcdir/tests/support/result.sh"
. "$top_srcdir/tests/support/configured.sh"
has gcovr || skip "there is no gcovr (package gcovr): nothing was measured"
cd "$top_builddir" || exit 99

# Processes that the tests fork leave by _exit or abort, which write no counters.  Make them do so.
cat > coverage_exit.c <<'_EOF'
void __gcov_dump(void);
void __real_abort(void);
void __wrap_abort(void);
void __wrap_abort(void)
{
    __gcov_dump();
    __real_abort();
}
void __real__exit(int status);
void __wrap__exit(int status);
void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
_EOF
cc -fPIC -c coverage_exit.c && ar rcs libcoverage_exit.a coverage_exit.o || exit 2

# Atomic counters: the tests have threads.
configured "$top_builddir/coverage" CFLAGS='-O0 -g --coverage -fprofile-update=atomic' \
  LDFLAGS="-L$top_builddir -Wl,--wrap=_exit,--wrap=abort,-u,__wrap_abort" LIBS=-lcoverage_exit || exit 2
rm -f ./*conftest* # of configure's probes
# A test that fails here fails in `make check`, too, or cannot bear the counters: a process that is
# another user or has no descriptors says on stderr that it cannot write them.  What counts is what ran.
# echo joins the lines.
# shellcheck disable=SC2086,SC2116
make -j"$jobs" check test_scripts="$(echo $scripts)" > log 2>&1 || true

# annotate_valgrind.c runs only under helgrind and DRD: watched.sh tests it.
#
# A thread that is canceled in a sleep leaves a block in its middle.  gcov, which infers some counts
# from others, then sometimes finds -1 for a branch.  That is no error.
gcovr --root "$top_srcdir" --filter "$top_srcdir/src/" \
  --exclude "$top_srcdir/src/tools/annotate_valgrind.c" --object-directory . \
  --gcov-ignore-parse-errors --json-summary summary.json > log 2>&1 || { tail -n 40 log && exit 2; }

# judge FOLDER=PERCENT... - 1 if one is below, 2 if nothing was measured.
judge() {
  python3 - "$@" <<'_EOF'
import collections, json, sys
lines = collections.Counter()
for file in json.load(open('summary.json'))['files']:
    folder = file['filename'].split('/')[1]
    lines[folder] += file['line_total']
    lines[folder, 'run'] += file['line_covered']
status = 0
for folder, least in (word.split('=') for word in sys.argv[1:]):
    if not lines[folder]:
        sys.exit(2)
    percent = 100 * lines[folder, 'run'] / lines[folder]
    enough = percent >= float(least)
    print(f'{"ok" if enough else "FAILED"}: src/{folder}: {percent:.1f} % of {lines[folder]} lines, {least} are needed')
    if not enough:
        status = 1
sys.exit(status)
_EOF
}

# Check that it can fail, and that it can succeed: what is measured may be all lines.
judge core=101 > log
if [ $? -ne 1 ] || ! judge core=1 >> log; then
  cat log
  echo "COULD NOT RUN: coverage does not tell 1 % from 101 %" >&2
  exit 2
fi
# shellcheck disable=SC2086 # a list
judge $least

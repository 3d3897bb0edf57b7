#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh - make coverage: measures which lines of src/ the tests of `make check` run.  Fails if a directory is
# below its percentage in `least`.
#
# The script builds in coverage/ of the build directory.  The exit status is 1 if too few lines are run, 2 if
# nothing could be measured, and 77 if there is no gcovr.
set -u

least='core=98 shared=98 posix=98 preload=94 run=90 limit=92 cluster=95'
# These scripts run the commands and the interposer.
scripts='tests/preload/test_interpose.py tests/limit/test_limit.py tests/limit/test_names.py
  tests/limit/test_nested.py tests/limit/test_parent.py tests/limit/test_status.py
  tests/limit/test_terminal.py tests/limit/test_cluster.py tests/cluster/test_faults.py'

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
. "$top_srcdir/tests/support/result.sh"
. "$top_srcdir/tests/support/configured.sh"
has gcovr || skip "there is no gcovr (package gcovr): nothing was measured"
cd "$top_builddir" || exit 99

# Forked processes end by _exit() or abort(), which would write no counters: wrap both functions.
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

# The counters are atomic, because the tests have threads.
configured "$top_builddir/coverage" CFLAGS='-O0 -g --coverage -fprofile-update=atomic' \
  LDFLAGS="-L$top_builddir -Wl,--wrap=_exit,--wrap=abort,-u,__wrap_abort" LIBS=-lcoverage_exit || exit 2
rm -f ./*conftest* # counters of configure's probes
# Failures do not matter for the coverage.  A test that fails now also fails in `make check`, or fails because
# of the counters: a process of another user, or without descriptors, prints on stderr that it cannot write its
# counters.  echo joins the lines.
# shellcheck disable=SC2086,SC2116
make -j"$jobs" check test_scripts="$(echo $scripts)" > log 2>&1 || true

# annotate_valgrind.c runs only under helgrind and DRD: watched.sh tests it.
#
# A thread that is canceled in a sleep leaves a basic block in its middle.  gcov infers some counts from others,
# so it sometimes computes -1 for such a branch.  --gcov-ignore-parse-errors: this is not an error.
gcovr --root "$top_srcdir" --filter "$top_srcdir/src/" \
  --exclude "$top_srcdir/src/tools/annotate_valgrind.c" --object-directory . \
  --gcov-ignore-parse-errors --json-summary summary.json > log 2>&1 || { tail -n 40 log && exit 2; }

# judge FOLDER=PERCENT... - returns 1 if a directory is below its percentage, and 2 if nothing was measured.
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

# Check judge itself: it must be able to fail, even if all lines are covered, and to succeed.
judge core=101 > log
if [ $? -ne 1 ] || ! judge core=1 >> log; then
  cat log
  echo "COULD NOT RUN: coverage does not tell 1 % from 101 %" >&2
  exit 2
fi
# shellcheck disable=SC2086 # a list
judge $least

#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh - which lines of src/core and src/shared the Check programs run; it fails below LEAST
# percent.
#
# `make coverage` calls it.  It builds in coverage/ of the build directory.  Exit status 1: too few
# lines; 2: nothing could be measured; 77: there is no gcovr.
set -u

LEAST=95

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/result.sh"
if ! command -v gcovr > /dev/null 2>&1; then
  skip "there is no gcovr (package gcovr): nothing was measured"
fi
# The make below must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL
make=${MAKE:-make}
log=$top_builddir/coverage.log
rm -rf "$top_builddir/coverage"
mkdir -p "$top_builddir/coverage"
cd "$top_builddir/coverage" || exit 99

# or_show COMMAND... - run it, and show its output only if it fails.
or_show() {
  "$@" > "$log" 2>&1 && return
  tail -n 40 "$log" >&2
  echo "COULD NOT RUN: coverage: $*" >&2
  exit 2
}

# Processes that the tests fork leave by _exit, which writes no counters.  Make it do so.
cat > exit.c <<'_EOF'
void __gcov_dump(void);
void __real__exit(int status);
void __wrap__exit(int status);
void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
_EOF
or_show "${CC:-cc}" -c exit.c -o exit.o
or_show ar rcs libcoverage_exit.a exit.o

# Atomic counters: the tests have threads.
or_show "$top_srcdir/configure" --enable-tests --disable-shared \
  CFLAGS='-O0 -g --coverage -fprofile-update=atomic' \
  LDFLAGS="-L$PWD -Wl,--wrap=_exit" LIBS=-lcoverage_exit
rm -f ./*conftest* # of configure's probes
or_show "$make" -j2 check test_scripts=

# annotate_valgrind.c runs only under helgrind and DRD: watched.sh tests it.
#
# A thread that is canceled in a sleep leaves a block in its middle.  gcov, which infers some counts
# from others, then sometimes finds -1 for a branch.  That is no error.
or_show gcovr --root "$top_srcdir" --filter "$top_srcdir/src/core/" \
  --filter "$top_srcdir/src/shared/" \
  --exclude "$top_srcdir/src/core/annotate_valgrind.c" --object-directory . \
  --gcov-ignore-parse-errors --json lines.json

# summary LEAST - gcovr's status is 2 if fewer lines were run.
summary() {
  gcovr --root "$top_srcdir" --add-tracefile lines.json --print-summary --fail-under-line "$1"
}

# Check that it can fail, and that it can succeed.
summary 100 > "$log" 2>&1
if [ $? -ne 2 ] || ! summary 1 >> "$log" 2>&1; then
  cat "$log"
  echo "COULD NOT RUN: gcovr does not tell 1 % from 100 %" >&2
  exit 2
fi
summary "$LEAST"
case $? in
  0) ;;
  2) exit 1 ;;
  *) exit 2 ;;
esac

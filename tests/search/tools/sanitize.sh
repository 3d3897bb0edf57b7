#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh COMPILER thread|address [OPTION]... - the Check programs in a build with a sanitizer,
# in COMPILER-SANITIZER/ of the build directory.  `address` is AddressSanitizer with UBSan.  Further
# options are for configure.  The last line is "N passed, M failed"; 77: no such sanitizer here.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99
. "$top_srcdir/tests/support/result.sh"
# AM_TESTS_ENVIRONMENT exports these: configure must not take them from there.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
compiler=$1 kind=$2
shift 2
case $kind in
  thread) flags=-fsanitize=thread ;;
  address) flags='-fsanitize=address,undefined -fno-sanitize-recover=all' ;;
  *) echo "sanitize.sh: no sanitizer: $kind" >&2 && exit 2 ;;
esac
export TSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS=detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1

# shellcheck disable=SC2086 # a list of flags
can_run "$compiler" $flags || skip "programs of $compiler with $flags do not build or do not run here"
build=$top_builddir/$compiler-$kind
rm -rf "$build" && mkdir -p "$build" && cd "$build" || exit 99
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
unset top_builddir
if ! { "$top_srcdir/configure" --enable-tests --disable-shared CC="$compiler" \
  CFLAGS="-g -O1 -fno-omit-frame-pointer $flags" LDFLAGS="$flags" "$@" && make -j"$jobs"; } > log 2>&1; then
  tail -n 50 log
  echo "0 passed, 1 failed"
  exit 1
fi
# The exit status decides: a sanitizer may stop a program after it has printed 100 %.
make -j"$jobs" check test_scripts= > log 2>&1
result=$?
"$top_srcdir/quickstart" tally "$build" || result=1
exit "$result"

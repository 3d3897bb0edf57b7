#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh COMPILER thread|address - the Check programs in a build with a sanitizer, in
# COMPILER-SANITIZER/ of the build directory.  `address` is AddressSanitizer with LeakSanitizer and
# UBSan.  Before them, the sanitizer must report the fault of each of its canaries, programs with one
# fault each, and nothing of the same program without it.  The last line is "N passed, M failed"; 77: no
# such sanitizer here.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99
here=$top_srcdir/tests/search/tools
. "$top_srcdir/tests/support/result.sh"
# AM_TESTS_ENVIRONMENT exports these: configure must not take them from there.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
compiler=$1 kind=$2
case $kind in
  thread)
    flags=-fsanitize=thread
    canaries='race=data_race relaxed=data_race lock_order=lock-order-inversion unlock=unlock_of_an_unlocked'
    ;;
  address)
    flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
    canaries='use_after_return=stack-use-after-return use_after_free=heap-use-after-free
      leak=detected_memory_leaks undefined=misaligned_address'
    ;;
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
  CFLAGS="-g -O1 -fno-omit-frame-pointer $flags" LDFLAGS="$flags" && make -j"$jobs"; } > log 2>&1; then
  tail -n 50 log
  echo "0 passed, 1 failed"
  exit 1
fi

# canary NAME WORDS - it ends with a failure and prints the words; without its fault it does not.
# `relaxed` is the program `order`, which is right, with a library whose memory orders are all relaxed.
canary() {
  source=$here/canary_$1.c library=.libs/libfairsem.a flags="-std=c11 -D_POSIX_C_SOURCE=200809L -g -O1
    -I$top_srcdir/include $flags"
  # shellcheck disable=SC2086 # lists
  (
    if [ "$1" = relaxed ]; then
      source=$here/canary_order.c
      "$compiler" $flags "$source" $library -pthread -o canary_right || exit 2
      flags="$flags -DFAIRSEM_WATCHED_=0 -I$top_srcdir/src/core"
      library="-include $here/relaxed.h $(echo "$top_srcdir"/src/core/*.c)"
    fi
    "$compiler" $flags "$source" $library -pthread -o canary_wrong || exit 2
    [ "$1" = relaxed ] || ln -sf canary_wrong canary_right
    ./canary_right without-the-fault || exit 3
    ! ./canary_wrong
  ) > canary.log 2>&1 && grep -q "$(echo "$2" | tr _ ' ')" canary.log
}
for one in $canaries; do
  if ! canary "${one%%=*}" "${one#*=}"; then
    tail -n 30 canary.log
    fail "$compiler -fsanitize=$kind does not tell canary_${one%%=*} from a program without its fault"
  fi
done

# The exit status decides: a sanitizer may stop a program after it has printed 100 %.
make -j"$jobs" check test_scripts= > log 2>&1
result "the tests" $?
"$top_srcdir/quickstart" tally "$build" || status=1
exit "$status"

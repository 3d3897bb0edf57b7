#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh COMPILER thread|address - run the Check programs and the trials of fairsem.hpp in a build with a
# sanitizer, in COMPILER-SANITIZER/ of the build directory.  `address` is AddressSanitizer with LeakSanitizer and
# UBSan.  Before the tests, the sanitizer must report some faults of canary.c, and nothing for the same programs
# without their faults.  The last line is "N passed, M failed"; the exit status is 77 if there is no such
# sanitizer.
#
# sanitize.sh COMPILER commands TEST... - build the commands with the sanitizers of `address`; run these tests
# of the commands, and test_interpose.py, which runs fairsem-run.  AddressSanitizer must be the first library of
# a program.  So only the command fairsem-run has the sanitizer; the preloaded module and the programs are those
# of the build directory, without a sanitizer.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) || exit 99
here=$top_srcdir/tests/search/tools
. "$top_srcdir/tests/support/result.sh"
. "$top_srcdir/tests/support/configured.sh"
compiler=$1 kind=$2 linking=--disable-shared build=$(cd "$top_builddir" && pwd) || exit 99
shift 2
tests=$*
case $kind in
  thread)
    flags=-fsanitize=thread
    canaries='race=data_race order=data_race lock_order=lock-order-inversion unlock=unlock_of_an_unlocked'
    ;;
  address | commands)
    flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
    canaries='use_after_return=stack-use-after-return use_after_free=heap-use-after-free
      leak=detected_memory_leaks undefined=misaligned_address'
    ;;
  *) echo "sanitize.sh: no sanitizer: $kind" >&2 && exit 2 ;;
esac
# The module of fairsem-run needs a build with shared libraries; the commands are still linked statically.
[ "$kind" != commands ] || linking='' only=tests/cluster/cluster_user
export TSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS=detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1

# shellcheck disable=SC2086 # a list of flags
can_run "$compiler" $flags || skip "programs of $compiler with $flags do not build or do not run here"
configured "$build/$compiler-$kind" $linking CC="$compiler" \
  CXX="$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')" \
  CFLAGS="-g -O1 -fno-omit-frame-pointer $flags" LDFLAGS="$flags" || exit 1

# The fault of `order` is in the library: `relaxed` is linked with a library whose memory orders are all relaxed.
# shellcheck disable=SC2086 # a list of flags
for program in canary relaxed; do
  set -- .libs/libfairsem.a
  [ "$program" = canary ] ||
    set -- -DFAIRSEM_WATCHED_=0 -I"$top_srcdir/src" -I"$top_srcdir/src/core" -include "$here/relaxed.h" \
      "$top_srcdir"/src/core/*.c "$top_srcdir"/src/awake/*.c "$top_srcdir"/src/system/*.c "$top_srcdir"/src/tools/*.c
  "$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -I"$top_srcdir/include" $flags "$here/canary.c" \
    "$@" -pthread -o "$program" > canary.log 2>&1 || { cat canary.log && fail "$program does not build"; }
done
for one in $canaries; do
  name=${one%%=*} program=./canary
  [ "$name" != order ] || program=./relaxed
  if ! ./canary "$name" right > canary.log 2>&1 || "$program" "$name" > canary.log 2>&1 ||
    ! grep -q "$(echo "${one#*=}" | tr _ ' ')" canary.log; then
    tail -n 30 canary.log
    fail "$compiler -fsanitize=$kind does not tell $name of canary.c from the program without its fault"
  fi
done

if [ "$kind" != commands ]; then
  checked test_scripts=tests/cxx/cxx.sh || status=1
  exit "$status"
fi

# These tests expect messages and exit statuses other than 0, and do not read the messages of some processes.
# So the sanitizer writes its reports to files, and there must be none.
reports=$PWD/reports
mkdir -m 1777 "$reports" || exit 99
ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$reports/report
for fault in use_after_free leak undefined; do
  ./canary "$fault" > canary.log 2>&1
  grep -q canary "$reports"/* || fail "the report of $fault does not come into a file"
  rm -f "$reports"/*
done
for command in fairsem-limit fairsem-limit-cluster fairsem-run "$only"; do
  nm "$command" | grep -q __asan_init || fail "$command has no sanitizer"
done

top_builddir=$build FAIRSEM_RUN=$PWD/fairsem-run \
  "$top_srcdir/tests/support/pytest.sh" "$top_srcdir/tests/preload/test_interpose.py" > run.log 2>&1
case $? in
  0) grep -E '^(not tried: |not here: |[0-9]+%: )' run.log ;;
  77) not_tried "fairsem-run: $(tail -n 1 run.log)" ;;
  *) cat run.log && fail "fairsem-run with $kind" ;;
esac
checked TESTS="$tests" || status=1
for report in "$reports"/*; do
  [ ! -f "$report" ] || { cat "$report" && fail "a report: $report"; }
done
exit "$status"

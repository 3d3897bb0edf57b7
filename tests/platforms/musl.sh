#!/bin/sh
# SPDX-License-Identifier: MIT
# musl.sh - library and tests build with musl, without Check, and the tests pass.
#
# musl has other mutexes, condition variables and limits than glibc, so this shows that the sources
# need only POSIX.  By hand: tests/platforms/musl.sh
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  echo "skipped: musl-gcc is not for the emulated machine"
  exit 77
fi
if ! command -v musl-gcc > /dev/null 2>&1; then
  echo "skipped: there is no musl-gcc (package musl-tools)"
  exit 77
fi
mkdir -p "$top_builddir/tests"
work=$(mktemp -d "$top_builddir/tests/musl.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

# shellcheck source=tests/support/plain/plain.sh
. "$top_srcdir/tests/support/plain/plain.sh"

warnings='-Wall -Wextra -Wpedantic -Werror'
plain_library "musl-gcc -g" "$work/musl" || exit 1
for source in "$top_srcdir"/tests/*/t_*.c; do
  # The first two unload objects of the other C library; the third needs the test build.
  case $source in
    */t_fault_unload.c | */t_fault_plugin.c | */t_shared_cut.c) continue ;;
  esac
  plain_test "musl-gcc -g $warnings" "$work/musl" "$source" || status=1
done
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# musl.sh - library and tests build with musl, without Check, and the tests pass.
#
# Another C library, with other mutexes, other condition variables and other limits, is
# what shows that the sources are POSIX and not glibc.  By hand: tests/platforms/musl.sh
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
  # What they unload is of the other C library; only the test build asks where to be cut.
  case $source in
    */t_fault_unload.c | */t_fault_plugin.c | */t_shared_cut.c) continue ;;
  esac
  plain_test "musl-gcc -g $warnings" "$work/musl" "$source" || status=1
done
exit "$status"

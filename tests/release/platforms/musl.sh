#!/bin/sh
# SPDX-License-Identifier: MIT
# musl.sh - library and tests build with musl, without Check, and the tests pass.
#
# musl has other mutexes, condition variables and limits than glibc, so this shows that the sources
# need only POSIX.  By hand: tests/release/platforms/musl.sh
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
has musl-gcc || skip "there is no musl-gcc (package musl-tools)"

# cross.sh puts the linker of another machine in front, which cannot link for the one of musl-gcc.
echo 'int main(void) { return 0; }' > "$work/probe.c"
if ! { musl-gcc "$work/probe.c" -o "$work/probe" && "$work/probe"; } > "$work/log" 2>&1; then
  skip "programs of musl-gcc do not link or do not run here"
fi

# shellcheck source=tests/support/plain/plain.sh
. "$top_srcdir/tests/support/plain/plain.sh"

warnings='-Wall -Wextra -Wpedantic -Werror'
plain_library "musl-gcc -g" "$work/musl" || exit 1
for source in "$top_srcdir"/tests/*/t_*.c "$top_srcdir"/tests/*/*/t_*.c; do
  # The first two unload objects of the other C library; those of the limit between machines need
  # libcurl, which musl-gcc does not have.
  case $source in
    */t_fault_unload.c | */t_fault_plugin.c | */t_cluster_*.c) continue ;;
  esac
  plain_test "musl-gcc -g $warnings" "$work/musl" "$source" || status=1
done
plain_test "musl-gcc -g $warnings" "$work/musl" "$top_srcdir/tests/search/stress" || status=1
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# posix_only.sh - check that the library, the amalgamation, fairsem-bench and the examples compile with only the
# headers of POSIX, as on a system that is not Linux.
#
# The headers are musl's, which declare only names of POSIX.  The headers of Linux are removed, and the macros
# for Linux are undefined.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
own=$($CC -print-file-name=include 2> /dev/null)
for headers in /usr/include/*-linux-musl /usr/lib/musl/include; do
  [ ! -f "$headers/semaphore.h" ] || break
done
if [ ! -f "$headers/semaphore.h" ] || [ ! -f "$own/stdatomic.h" ]; then
  skip "no headers of musl (package musl-tools) or of $CC"
fi

cp -R "$headers/." "$work/include" && cd "$work/include" || exit 99
rm -rf linux asm asm-generic bits/syscall.h syscall.h sys/syscall.h sys/epoll.h sys/eventfd.h \
  sys/prctl.h sys/random.h sys/timerfd.h sys/signalfd.h sys/inotify.h sys/personality.h
cd "$OLDPWD" || exit 99

# compiles SOURCE
# shellcheck disable=SC2086 # a compiler can be several words
compiles() {
  $CC -nostdinc -isystem "$work/include" -isystem "$own" -U__linux__ -U__linux -Ulinux \
    -U__gnu_linux__ -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror \
    -DFAIRSEM_WATCHED_=0 -I"$top_srcdir/include" -I"$top_srcdir/src" \
    -I"$top_srcdir/src/core" \
    -I"$top_srcdir/src/posix" -I"$top_srcdir" -fsyntax-only "$1" > "$work/log" 2>&1
}

echo '#include <stdint.h>
_Static_assert(INT64_MAX > INT32_MAX && sizeof(INT64_C(1)) == 8, "the headers are of another machine");
int main(void) { return 0; }' > "$work/probe.c"
if ! compiles "$work/probe.c"; then
  skip "musl's headers are not for the machine of $CC"
fi

# Check that the removed headers are missing.
for call in 'int x = SYS_futex;' '#include <linux/futex.h>' '#include <sys/syscall.h>'; do
  printf '#include <unistd.h>\n%s\n' "$call" > "$work/probe.c"
  if compiles "$work/probe.c"; then
    fail "$call compiles, so this test would find nothing"
  fi
done

"$top_srcdir/packaging/amalgamation.sh" "$work/one" || exit 1
count=0
for source in "$work/one/fairsem.c" "$top_srcdir"/src/core/*.c "$top_srcdir"/src/awake/*.c \
  "$top_srcdir"/src/system/*.c "$top_srcdir"/src/tools/*.c \
  "$top_srcdir/src/shared/absent.c" "$top_srcdir"/src/posix/*.c \
  "$top_srcdir"/bench/*.c "$top_srcdir"/examples/*.c; do
  # These sources need semaphores between processes, epoll or zlib.
  case $source in
    */bench/shared*.c | */prefork-server.c | */killed_job.c | */killed-jobs.c) continue ;;
    */event-loop.c | */compress-tree.c) continue ;;
  esac
  count=$((count + 1))
  if ! compiles "$source"; then
    cat "$work/log"
    fail "${source#"$top_srcdir/"}"
  fi
done
[ "$status" -ne 0 ] || echo "ok: $count sources"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# hardened.sh - the library, the interposer and the commands compile with the flags of distributions.
#
# Some compilers define _FORTIFY_SOURCE by themselves; the C library's headers then declare other
# functions than usual.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
case $(uname) in Linux) ;; *) echo "skipped: this is not Linux"; exit 77 ;; esac
work=$(mktemp -d "$top_builddir/tests/hardened.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

hardened() {
  # shellcheck disable=SC2086 # a compiler can be several words
  ${CC:-cc} -std=c11 -O1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
    -Wformat -Werror=format-security "$@" -o "$work/object.o" > "$work/log" 2>&1
}
cat > "$work/probe.c" <<'_EOF'
#include <stdio.h>
#ifndef __GLIBC__
#error not glibc
#endif
int main(void) { return puts("") < 0; }
_EOF
if ! hardened -c "$work/probe.c"; then
  echo "skipped: the compiler does not take these flags, or the C library is not glibc"
  exit 77
fi

# The interposer is built only where a sem_t has room for its data.
posix='posix/*.c'
echo '#include <semaphore.h>
_Static_assert(sizeof(sem_t) >= 32, "small");' > "$work/probe.c"
hardened -c "$work/probe.c" || posix='posix/sem_*.c'

count=0
cd "$top_srcdir" || exit 99
# shellcheck disable=SC2086 # a pattern
for source in $posix limit/*.c src/*.c src/shared/*.c; do
  count=$((count + 1))
  case $source in
    limit/*) features=-D_DEFAULT_SOURCE ;;
    *) features=-D_POSIX_C_SOURCE=200809L ;;
  esac
  hardened -Iinclude -Isrc $features -DFAIRSEM_MODULE_PATH='""' -c "$source" || {
    cat "$work/log"
    echo "FAILED: $source does not compile with the flags of a distribution"
    exit 1
  }
done
echo "ok: $count sources"

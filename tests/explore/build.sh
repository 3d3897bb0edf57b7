#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - the explorer for the library's sources in SRCDIR, as the program OUT.
#
# The public header is taken from SRCDIR/../include if it is there, else from this tree.
# CC and EXPLORE_CPPFLAGS, for instance -DFS_FUTEX_BY_DEFAULT=1, are honoured.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$1" && pwd)
out=$2
: "${CC:=cc}" "${EXPLORE_CPPFLAGS:=}"
include=$src/../include
[ -f "$include/fairsem.h" ] || include=$here/../../include

work=$out.objects
mkdir -p "$work/library" "$work/explorer"
# _GNU_SOURCE as park_futex.c defines it.
flags="-std=c11 -O2 -g -D_GNU_SOURCE= -I$include -I$src $EXPLORE_CPPFLAGS"

# shellcheck disable=SC2086 # lists of flags
library() {
  cd "$work/library"
  $CC $flags -fsanitize=thread -fno-omit-frame-pointer -include "$here/layer.h" -c "$src"/*.c
}

# shellcheck disable=SC2086
explorer() {
  cd "$work/explorer"
  $CC $flags -fcf-protection=none -Wall -Wextra -Wshadow -Wstrict-prototypes -c "$here"/*.c
}

library &
explorer
wait $!

# The order matters: static_first.c says why.
cd "$work"
others=$(find explorer -name '*.o' ! -name 'static_*.o')
# shellcheck disable=SC2086
$CC -no-pie -o "$out" explorer/static_first.o library/*.o explorer/static_last.o $others

#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the simulator for the library's sources in SRCDIR, as the program OUT.
#
# ../engine/build.sh explains CC.  explorer() and link() of that file are not used: the simulator needs only
# fibre.c and instrument.c of the engine, and the library's variables need no place of their own.  If OUT was
# made from the same sources, it is kept.  Exits with 77, and prints the reason, if the simulator cannot be
# built on this machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/search/engine/build.sh
. "$here/../engine/build.sh"

keep "$src"/core/*.[ch] "$src"/awake/*.[ch] "$src"/system/*.[ch] "$src"/tools/*.[ch] \
  "$include"/*.h "$here"/*.[ch] "$here/../../../bench"/*.h
mkdir -p "$work/library" "$work/simulator"
need_compiler

# The value of _GNU_SOURCE is empty, as in the sources, which define it again.
flags="-std=c11 -O2 -g1 -D_GNU_SOURCE= -I$include -I$src -I$src/core -I$here"

# The library and the peers are instrumented; ../engine/instrument.c replaces the runtime of
# ThreadSanitizer.  calls.c replaces the files that make system calls.
# shellcheck disable=SC2046,SC2086
library() {
  cd "$work/library"
  $CC $flags -fsanitize=thread -include "$here/layer.h" -c "$here/peers.c" \
    $(find "$src/core" "$src/awake" "$src/system" "$src/tools" -name '*.c' ! -name system_linux.c \
      ! -name quota_linux.c)
}

# shellcheck disable=SC2046,SC2086
simulator() {
  cd "$work/simulator"
  $CC $flags -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -c \
    $(find "$here" -name '*.c' ! -name peers.c) "$engine/fibre.c" "$engine/instrument.c"
}

library &
(simulator)
wait $!
# shellcheck disable=SC2086
$CC $flags -no-pie -pthread -o "$out" "$work"/library/*.o "$work"/simulator/*.o -lm
echo "$made_of" > "$work/made-of"

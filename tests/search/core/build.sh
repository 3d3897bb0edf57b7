#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the explorer for the library's sources in SRCDIR, as the program OUT.
#
# ../engine/build.sh explains CC and EXPLORER.  Set EXPLORER to build for many versions of the library whose
# structs are the same.  If OUT was made from the same sources, it is kept.  Exits with 77, and prints the
# reason, if the explorer cannot be built on this machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/search/engine/build.sh
. "$here/../engine/build.sh"

scenarios=$here/../../scenarios
keep "$src"/core/*.[ch] "$src"/awake/*.[ch] "$src"/system/*.[ch] "$src"/tools/*.[ch] \
  "$include"/*.h "$here"/*.[ch] "$here"/instead/*.c "$here"/../spec/*.[ch] \
  "$scenarios"/*.[ch]
mkdir -p "$work/library" "$work/explorer"
need_compiler

# The value of _GNU_SOURCE is empty, as in the sources, which define it again.
flags="-std=c11 -O2 -g1 -D_GNU_SOURCE= -I$include -I$src -I$src/core"

# The library is instrumented; ../engine/instrument.c replaces the runtime of ThreadSanitizer.
# shellcheck disable=SC2086
library() {
  cd "$work/library"
  $CC $flags -fsanitize=thread -include "$here/layer.h" -c \
    $(ls "$src"/core/*.c "$src"/system/*.c "$src"/tools/*.c | grep -v '/quota_linux\.c$') "$here"/instead/*.c
}

library &
(explorer "$flags" "$here/../spec/spec.c" "$scenarios"/scenarios.c "$scenarios"/script.c "$scenarios"/words.c)
wait $!
link 'library/*.o' "$flags"

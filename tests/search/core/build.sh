#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the explorer for the library's sources in SRCDIR, as the program OUT.
#
# See ../engine/build.sh for CC and EXPLORER.  Set EXPLORER to build for many versions of the library whose
# structs are the same.  An OUT that was made from the same text is kept.  Exits with 77, and prints the reason,
# if the explorer cannot be built here.
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

# -D_GNU_SOURCE= is empty, like the definition in the sources.
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

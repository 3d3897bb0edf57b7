#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the explorer of deaths for the library's sources in SRCDIR, as the
# program OUT.  If OUT was made from the same sources, it is kept.
#
# ../engine/build.sh explains CC and EXPLORER.  With EXPLORER, the objects of src/core/*.c are copied from that
# build, too.  Exits with 77, and prints the reason, if the explorer cannot be built on this machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/search/engine/build.sh
. "$here/../engine/build.sh"
scenarios=$here/../../scenarios
# shellcheck disable=SC2046 # a list
keep "$src"/core/*.[ch] "$src"/awake/*.[ch] "$src"/system/*.[ch] "$src"/tools/*.[ch] \
  "$include"/*.h "$include"/fairsem/*.h "$here"/*.[ch] "$scenarios"/*.[ch] \
  $(find "$src/shared" "$here/../spec" -name '*.[ch]')
mkdir -p "$work/core" "$work/shared" "$work/explorer"
need_compiler

# The value of _GNU_SOURCE is empty, as in the sources, which define it again.
flags="-std=c11 -O1 -g1 -D_GNU_SOURCE= -DFAIRSEM_WATCHED_=0 -I$include -I$src -I$src/core"
library="$flags -fsanitize=thread -Wno-tsan -include $here/layer.h"

# shellcheck disable=SC2046,SC2086
core() {
  cd "$work/core"
  if [ -n "$EXPLORER" ]; then
    cp "$EXPLORER.objects/core"/*.o .
    return
  fi
  $CC $library -c $(find "$src/core" "$src/awake" "$src/system" "$src/tools" -name '*.c' ! -name quota_linux.c)
}

# shellcheck disable=SC2046,SC2086
shared() {
  cd "$work/shared"
  $CC $library -c $(find "$src/shared" -name '*.c' ! -name absent.c ! -name kernel.c)
}

core &
(explorer "$flags -O2" "$scenarios"/script.c "$scenarios"/words.c)
wait $!
(shared)
link 'core/*.o shared/*.o' "$flags -O2"

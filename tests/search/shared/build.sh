#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the explorer of deaths for the library's sources in SRCDIR, as the
# program OUT.
#
# CC is honored.  Objects go to OUT.objects.  If EXPLORER is the OUT of an earlier build, the
# explorer's own objects and those of src/core/*.c are copied from there.  Where it cannot be built, the
# script says why and exits with 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
engine=$here/../engine
src=$(cd "$1" && pwd)
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
[ -z "${EXPLORER:-}" ] || EXPLORER=$(cd "$(dirname "$EXPLORER")" && pwd)/$(basename "$EXPLORER")
: "${CC:=cc}" "${EXPLORER:=}"
include=$src/../include
[ -f "$include/fairsem.h" ] || include=$here/../../../include

work=$out.objects
rm -rf "$work"
mkdir -p "$work/core" "$work/shared" "$work/explorer"

cat > "$work/probe.c" << 'END'
#if !defined(__x86_64__) || !defined(__linux__)
#error "fibre.c is for x86-64"
#endif
int probe(int *p) { return *p; }
END
# CC can be more than one word.
# shellcheck disable=SC2086
if ! $CC -fsanitize=thread -c "$work/probe.c" -o "$work/probe.o" > "$work/probe.log" 2>&1; then
  cat "$work/probe.log"
  echo "skipped: the explorer needs x86-64, Linux and a compiler with -fsanitize=thread"
  exit 77
fi

# _GNU_SOURCE empty, as the sources define it.
flags="-std=c11 -O1 -g -D_GNU_SOURCE= -DFAIRSEM_WATCHED_=0 -I$include -I$src -I$src/core"
library="$flags -fsanitize=thread -Wno-tsan -include $here/layer.h"

# shellcheck disable=SC2086
core() {
  cd "$work/core"
  $CC $library -c "$src"/core/*.c
}

# shellcheck disable=SC2046,SC2086
shared() {
  cd "$work/shared"
  $CC $library -c $(find "$src/shared" -name '*.c' ! -name absent.c ! -name kernel.c)
}

# shellcheck disable=SC2086
explorer() {
  cd "$work/explorer"
  $CC $flags -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -I"$here" \
    -c "$here"/*.c "$engine"/*.c
}

if [ -n "$EXPLORER" ]; then
  cp "$EXPLORER.objects/explorer"/*.o "$work/explorer/"
  cp "$EXPLORER.objects/core"/*.o "$work/core/"
else
  core &
  (explorer)
  wait $!
fi
(shared)

# The order matters: static_first.c says why.
cd "$work"
others=$(find explorer -name '*.o' ! -name 'static_*.o')
# shellcheck disable=SC2086
$CC -no-pie -pthread -o "$out" explorer/static_first.o core/*.o shared/*.o \
  explorer/static_last.o $others

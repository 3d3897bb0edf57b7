#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT - build the explorer for the library's sources in SRCDIR, as the program OUT.
#
# The public header is the one in SRCDIR/../include, if there is one.  CC is honored, and so is
# EXPLORE_CPPFLAGS, for instance -DFS_FUTEX_BY_DEFAULT=1.  Objects go to OUT.objects.  To build
# for many versions of the library whose structs are the same, set EXPLORER to the OUT of an
# earlier build: the explorer's own objects are copied from there.  An OUT that was made of the same
# text is kept.  Where it cannot be built, the script says why and exits with 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
engine=$here/../engine
src=$(cd "$1" && pwd)
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
[ -z "${EXPLORER:-}" ] || EXPLORER=$(cd "$(dirname "$EXPLORER")" && pwd)/$(basename "$EXPLORER")
: "${CC:=cc}" "${EXPLORE_CPPFLAGS:=}" "${EXPLORER:=}"
include=$src/../include
[ -f "$include/fairsem.h" ] || include=$here/../../../include

work=$out.objects
# The text, not the times: mutants are copies, made in the same second.
made_of=$(echo "$CC $EXPLORE_CPPFLAGS" |
  cat - "$0" "$src"/core/*.[ch] "$include"/*.h "$here"/*.[ch] "$engine"/*.[ch] |
  cksum)
[ ! -x "$out" ] || [ "$(cat "$work/made-of" 2> /dev/null)" != "$made_of" ] || exit 0
rm -rf "$out" "$work"
mkdir -p "$work/library" "$work/explorer"

cat > "$work/probe.c" << 'END'
#if !defined(__x86_64__) || !defined(__linux__)
#error "fibre.c is for x86-64, and layer.h for Linux"
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
flags="-std=c11 -O2 -g -D_GNU_SOURCE= -I$include -I$src/core $EXPLORE_CPPFLAGS"

# The library is instrumented; access.c replaces the runtime of ThreadSanitizer.
# shellcheck disable=SC2086
library() {
  cd "$work/library"
  $CC $flags -fsanitize=thread -include "$here/layer.h" -c "$src"/core/*.c
}

# shellcheck disable=SC2086
explorer() {
  cd "$work/explorer"
  if [ -n "$EXPLORER" ]; then
    cp "$EXPLORER.objects/explorer"/*.o .
    return
  fi
  $CC $flags -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -I"$here" \
    -c "$here"/*.c "$engine"/*.c
}

library &
(explorer)
wait $!

# The order matters: static_first.c says why.
cd "$work"
others=$(find explorer -name '*.o' ! -name 'static_*.o')
# shellcheck disable=SC2086
$CC -no-pie -o "$out" explorer/static_first.o library/*.o explorer/static_last.o $others
echo "$made_of" > made-of

# SPDX-License-Identifier: MIT
# build.sh - read by the build.sh of each explorer, which has the arguments SRCDIR and OUT and sets
# `here`: sets src, out, include, work and engine.
#
# CC is honored.  The public header is the one in SRCDIR/../include, if there is one.  Objects go to
# OUT.objects.  EXPLORER is "", or the OUT of an earlier build, whose own objects are copied.

# shellcheck shell=sh disable=SC2154,SC2164 # who reads it has set `here`, and set -e
src=$(cd "$1" && pwd)
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
[ -z "${EXPLORER:-}" ] || EXPLORER=$(cd "$(dirname "$EXPLORER")" && pwd)/$(basename "$EXPLORER")
: "${CC:=cc}" "${EXPLORER:=}"
engine=$(cd "$here/../engine" && pwd)
include=$src/../include
[ -f "$include/fairsem.h" ] || include=$here/../../../include
work=$out.objects

# need_compiler - exit with 77 where no explorer can be built, and say why.
need_compiler() {
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
}

# explorer FLAGS [FILE] - compile its own sources, the engine's and FILE to $work/explorer, or copy
# the objects.
# shellcheck disable=SC2086
explorer() {
  cd "$work/explorer"
  if [ -n "$EXPLORER" ]; then
    cp "$EXPLORER.objects/explorer"/*.o .
    return
  fi
  $CC $1 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -I"$here" \
    -c "$here"/*.c "$engine"/*.c ${2:+"$2"}
}

# link LIBRARY - the objects matching these patterns are the library's.  The order matters:
# static_first.c says why.  -z now: a function that is bound at its first call leaves traces on the
# stack of that run alone, and stacks are a part of the state.
# shellcheck disable=SC2046,SC2086
link() {
  cd "$work"
  $CC -no-pie -pthread -Wl,-z,now -o "$out" explorer/static_first.o $1 explorer/static_last.o \
    $(find explorer -name '*.o' ! -name 'static_*.o')
}

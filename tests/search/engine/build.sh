# SPDX-License-Identifier: MIT
# build.sh - sourced by the build.sh of each explorer, which has the arguments SRCDIR and OUT and sets `here`.
# Sets src, out, include, work and engine.
#
# CC is honored.  The public header is that in SRCDIR/../include, if it exists.  Objects go to OUT.objects.
# EXPLORER is "", or the OUT of an earlier build, whose own objects are copied.

# shellcheck shell=sh disable=SC2154,SC2164 # who reads it has set `here`, and set -e
src=$(cd "$1" && pwd)
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
[ -z "${EXPLORER:-}" ] || EXPLORER=$(cd "$(dirname "$EXPLORER")" && pwd)/$(basename "$EXPLORER")
: "${CC:=cc}" "${EXPLORER:=}"
engine=$(cd "$here/../engine" && pwd)
# shellcheck source=tests/support/result.sh
. "$here/../../support/result.sh"
include=$src/../include
[ -f "$include/fairsem.h" ] || include=$here/../../../include
work=$out.objects

# need_compiler - exit with 77, and print the reason, if no explorer can be built here.
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
    skip "the explorer needs x86-64, Linux and a compiler with -fsanitize=thread"
  fi
  # -Wno-stringop-overflow, because gcc does not know that no thread has a number beyond the last stack.
  whole='-flto -flto-partition=one -Wno-stringop-overflow'
  # shellcheck disable=SC2086
  $CC $whole -shared -fPIC "$work/probe.c" -o "$work/probe.so" > "$work/probe.log" 2>&1 || whole=
}

# keep FILE... - exit if OUT was made from the same text, by the same commands and compiler.  Texts are compared,
# not times, because mutants are copies made in the same second.
keep() {
  # CC can be more than one word.
  # shellcheck disable=SC2086
  made_of=$({ echo "$CC" && $CC --version 2>&1; } | cat - "$0" "$engine"/*.[ch] "$engine/build.sh" "$@" |
    cksum)
  [ ! -x "$out" ] || [ "$(cat "$work/made-of" 2> /dev/null)" != "$made_of" ] || exit 0
  rm -rf "$out" "$work"
}

# objects_in DIRECTORY - list its objects, without the two that have a place of their own.
objects_in() {
  find "$1" -name '*.o' ! -name 'static_*.o'
}

# explorer FLAGS [FILE...] - compile the explorer's sources, the engine's and FILEs to $work/explorer.  If the
# compiler can, they are optimized as a whole at link time, which makes a search much faster, because many small
# functions in many files run at each access of the library.  For many versions of the library that would take
# longer than it saves, so the objects of EXPLORER are combined into one object, once, which is only linked.
# shellcheck disable=SC2046,SC2086
explorer() {
  cd "$work/explorer"
  for_all=$1
  shift
  if [ -n "$EXPLORER" ]; then
    one=$EXPLORER.objects/one.o
    if [ ! -f "$one" ]; then
      $CC $for_all $whole ${whole:+-flinker-output=nolto-rel} -r -nostdlib \
        $(objects_in "$EXPLORER.objects/explorer") -o "$one.$$"
      mv "$one.$$" "$one"
    fi
    cp "$EXPLORER.objects/explorer"/static_*.o "$one" .
    return
  fi
  $CC $for_all $whole -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -I"$here" \
    -c "$here"/*.c "$engine"/*.c "$@"
  # These are linked before and behind the library's objects.
  $CC $for_all -c "$engine"/static_*.c
}

# link LIBRARY FLAGS - link the program; LIBRARY are patterns of the library's objects.  The order matters, see
# static_first.c.  -z now, because the binding of a function at its first call would leave traces on the stack of
# only one run, and stacks are a part of the state.
# shellcheck disable=SC2046,SC2086
link() {
  cd "$work"
  [ -z "$EXPLORER" ] || whole=
  $CC $2 $whole -no-pie -pthread -Wl,-z,now -o "$out" explorer/static_first.o $1 explorer/static_last.o \
    $(objects_in explorer)
  echo "$made_of" > made-of
}

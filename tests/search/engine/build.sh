# SPDX-License-Identifier: MIT
# build.sh - functions for the build.sh of each explorer, which sources this file.
#
# The explorer's build.sh has the arguments SRCDIR and OUT, and sets `here` to its directory.  This file sets
# src, out, include, work and engine.  The compiler is CC.  The public header is that of SRCDIR/../include, if
# it exists, else that of this tree.  Objects go to OUT.objects.  EXPLORER is "", or the OUT of an earlier
# build: then the explorer's own objects are copied from that build.

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

# need_compiler - exit with 77, and print the reason, if this compiler or machine cannot build an explorer.
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
  # -Wno-stringop-overflow: gcc does not know that the number of a thread is smaller than the number of stacks.
  whole='-flto -flto-partition=one -Wno-stringop-overflow'
  # shellcheck disable=SC2086
  $CC $whole -shared -fPIC "$work/probe.c" -o "$work/probe.so" > "$work/probe.log" 2>&1 || whole=
}

# keep FILE... - exit if OUT was made from the same contents of FILEs, by the same commands and compiler.  Times
# of files are not compared: mutants are copies that may be made in the same second.
keep() {
  # CC can be more than one word.
  # shellcheck disable=SC2086
  made_of=$({ echo "$CC" && $CC --version 2>&1; } | cat - "$0" "$engine"/*.[ch] "$engine/build.sh" "$@" |
    cksum)
  [ ! -x "$out" ] || [ "$(cat "$work/made-of" 2> /dev/null)" != "$made_of" ] || exit 0
  rm -rf "$out" "$work"
}

# objects_in DIRECTORY - list its objects, except static_first.o and static_last.o: link() places these two.
objects_in() {
  find "$1" -name '*.o' ! -name 'static_*.o'
}

# explorer FLAGS [FILE...] - compile the sources of the explorer and of the engine, and FILEs, to
# $work/explorer.
#
# If the compiler can, these objects are optimized together at link time.  A search is then much faster, because
# each access of the library calls many small functions in many files.  With EXPLORER, for many versions of the
# library, this optimization would take longer than it saves.  So the objects of EXPLORER are combined, once,
# into one object, which is then only linked.
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
  # Without -flto: link() places these two before and behind the library's objects.
  $CC $for_all -c "$engine"/static_*.c
}

# link LIBRARY FLAGS - link the program; LIBRARY are patterns of the library's objects.
#
# The order of the objects matters, see static_first.c.  With -z now functions are bound at the start.
# Otherwise the first call of a function would leave traces on the stack of one run only, and stacks are a part
# of the state.
# shellcheck disable=SC2046,SC2086
link() {
  cd "$work"
  [ -z "$EXPLORER" ] || whole=
  $CC $2 $whole -no-pie -pthread -Wl,-z,now -o "$out" explorer/static_first.o $1 explorer/static_last.o \
    $(objects_in explorer)
  echo "$made_of" > made-of
}

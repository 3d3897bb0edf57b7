#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh SRCDIR OUT [EARLIER] - build the litmus tests for the library's sources in SRCDIR/core,
# as the program OUT.
#
# CC is honored.  Objects go to OUT.objects.  EARLIER is the OUT of an earlier build: what is the
# same is copied from there.  Where it cannot be built, the script says why and exits with 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/support/result.sh
. "$here/../../support/result.sh"
src=$(cd "$1" && pwd)
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
earlier=${3:+$(cd "$(dirname "$3")" && pwd)/$(basename "$3").objects}
: "${CC:=cc}"
work=$out.objects
# An OUT that was made of the same text by the same compiler is kept.
# shellcheck disable=SC2086 # CC can be more than one word
made_of=$({ echo "$CC" && $CC --version 2>&1; } | cat - "$0" "$src"/core/*.[ch] "$here"/*.[ch] \
  "$here"/../../../include/*.h "$here"/../core/*.h "$here"/../core/litmus_tests.c \
  "$here"/../engine/*.[ch] | cksum)
[ ! -x "$out" ] || [ "$(cat "$work/made-of" 2> /dev/null)" != "$made_of" ] || exit 0
rm -rf "$out" "$work"
mkdir -p "$work/library" "$work/tests" "$work/engine"

cat > "$work/probe.c" << 'END'
unsigned __int128 wide;
int probe(int *p) { return *p; }
END
# CC can be more than one word.
# shellcheck disable=SC2086
if ! $CC -fsanitize=thread -c "$work/probe.c" -o "$work/probe.o" > "$work/probe.log" 2>&1; then
  cat "$work/probe.log"
  skip "the litmus tests need __int128 and a compiler with -fsanitize=thread"
fi

# _GNU_SOURCE empty, as the sources define it.
flags="-std=c11 -O1 -g1 -D_GNU_SOURCE= -I$here/../../../include -I$src/core -I$here"
strict='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes'

# compile DIRECTORY FLAGS FILE... - those that the earlier build lacks.
compile() {
  cd "$work/$1"
  more=$2
  shift 2
  # shellcheck disable=SC2086
  for file; do
    [ -f "$(basename "$file" .c).o" ] || $CC $flags $more -c "$file"
  done
}

# Instrumented: the library, and the tests, which have some of it inline.  One changed header
# changes all of it.
if [ -n "$earlier" ]; then
  cp "$earlier/engine"/*.o "$work/engine"
  echo "$src"/core/*.h | tr ' ' '\n' | while read -r header; do
    cmp -s "$header" "$here/../../../src/core/$(basename "$header")" || echo "$header"
  done > "$work/headers"
  if [ ! -s "$work/headers" ]; then
    cp "$earlier/tests"/*.o "$work/tests"
    for file in "$src"/core/*.c; do
      name=$(basename "$file" .c)
      ! cmp -s "$file" "$here/../../../src/core/$name.c" ||
        cp "$earlier/library/$name.o" "$work/library"
    done
  fi
fi
compile library "-fsanitize=thread -include $here/layer.h" "$src"/core/*.c
compile tests "-fsanitize=thread $strict" "$here/fast.c" "$here/hand_off.c" "$here/inspection.c" \
  "$here/tickets.c" "$here/world.c"
compile engine "-O2 $strict" "$here/axioms.c" "$here/calls.c" "$here/classics.c" \
  "$here/executions.c" "$here/main.c" "$here/races.c" "$here/record.c" "$here/values.c" \
  "$here/../core/litmus_tests.c" "$here/../engine/instrument.c"
# shellcheck disable=SC2086
cd "$work" && $CC -no-pie -pthread -o "$out" engine/*.o tests/*.o library/*.o &&
  echo "$made_of" > made-of

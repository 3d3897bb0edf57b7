#!/bin/sh
# SPDX-License-Identifier: MIT
# machine.sh - do the memory orders of the sources arrive in the machine code?  Compiles src/core
# for arm64 and counts, in the functions of machine.txt, the instructions that acquire and
# release.
#
# An emulator on x86 shows no weak memory, whatever it runs: what counts is that the instructions
# are there.  Three ways to make them: those of ARMv8.0, those of ARMv8.1, and calls of functions
# that choose when the program runs (-moutline-atomics).  The canary: with every order relaxed, a
# function must have fewer.  Exit status 1: an instruction is missing; 2: could not run; 77: no
# compiler.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../../.." && pwd)}" "${CC_ARM64:=aarch64-linux-gnu-gcc}"
src=$(cd "$top_srcdir/src/core" && pwd)
work=$PWD/tests/search/litmus/machine
. "$top_srcdir/tests/support/result.sh"

if ! command -v "${CC_ARM64%% *}" > /dev/null; then
  skip "there is no compiler for arm64, $CC_ARM64"
fi
rm -rf "$work"
mkdir -p "$work"
cat > "$work/relaxed.h" << 'END'
#include <stdatomic.h>
#define memory_order_acquire memory_order_relaxed
#define memory_order_release memory_order_relaxed
#define memory_order_acq_rel memory_order_relaxed
END

# count FILE FUNCTION - print how many loads acquire, stores release, read-modify-writes acquire,
# and read-modify-writes release.  A pair of exclusive instructions is one read-modify-write.
count() {
  awk -v name="$2" '
    $1 ~ "^" name "(\\.[a-z]+\\.[0-9]+)?:$" { inside = 1; found = 1; next }
    inside && $1 == ".size" { inside = 0 }
    !inside { next }
    $1 ~ /^(ldar|ldapr)[bh]?$/ { loads++ }
    $1 ~ /^stlr[bh]?$/ { stores++ }
    $1 ~ /^(ldaxr[bh]?|(cas|swp|ldset|ldclr|ldadd)al?[bh]?)$/ { acquire++ }
    $1 ~ /^(stlxr[bh]?|(cas|swp|ldset|ldclr|ldadd)a?l[bh]?)$/ { release++ }
    $1 == "bl" && $2 ~ /^__aarch64_.*_(acq|acq_rel)$/ { acquire++ }
    $1 == "bl" && $2 ~ /^__aarch64_.*_(rel|acq_rel)$/ { release++ }
    END { print found + 0, loads + 0, stores + 0, acquire + 0, release + 0 }' "$1"
}

# all HOW ORDERS - check every function in the files of this build; with ORDERS relaxed, none
# passes.
all() {
  grep -v '^#' "$here/machine.txt" | while read -r file function loads stores acquire release; do
    # shellcheck disable=SC2046 # five numbers
    set -- "$1" "$2" $(count "$work/$1-$2/${file%.c:}.s" "$function")
    if [ "$3" -eq 0 ]; then
      echo "COULD NOT RUN: ${file%:} has no function $function"
      continue
    fi
    passes=yes
    [ "$4" -ge "$loads" ] && [ "$5" -ge "$stores" ] && [ "$6" -ge "$acquire" ] &&
      [ "$7" -ge "$release" ] || passes=no
    case $2-$passes in
      written-no)
        echo "FAILED: $function, $1: $4 loads acquire, $5 stores release, $6 and $7" \
          "read-modify-writes; not $loads $stores $acquire $release"
        ;;
      relaxed-yes) echo "COULD NOT RUN: $function, $1: has them without any order in the sources" ;;
      *) echo "ok $1-$2 $function" ;;
    esac
  done
}

for how in -march=armv8-a+nolse -march=armv8.1-a -moutline-atomics; do
  for orders in written relaxed; do
    dir=$work/$how-$orders
    mkdir -p "$dir"
    options="-std=c11 -O2 -D_GNU_SOURCE= -I$top_srcdir/include -I$src $how"
    [ "$how" = -moutline-atomics ] || options="$options -mno-outline-atomics"
    [ "$orders" = written ] || options="$options -include $work/relaxed.h"
    # shellcheck disable=SC2013 # they are words
    for file in $(sed -n 's/^\([a-z_]*\.c\):.*/\1/p' "$here/machine.txt" | sort -u); do
      # shellcheck disable=SC2086
      $CC_ARM64 $options -S "$src/$file" -o "$dir/${file%.c}.s" || exit 2
    done
    all "$how" "$orders"
  done
done > "$work/table"
grep -v '^ok' "$work/table"
! grep -q '^COULD' "$work/table" || exit 2
functions=$(grep -cv '^#' "$here/machine.txt")
[ "$(wc -l < "$work/table")" -eq $((functions * 6)) ] || exit 2
! grep -q '^FAILED' "$work/table" || exit 1
echo "arm64: $functions functions have their acquires and releases, in three instruction sets"

#!/bin/sh
# SPDX-License-Identifier: MIT
# musl.sh - library and tests build with musl, without Check, and the tests pass.
#
# Another C library, with other mutexes, other condition variables and other limits, is
# what shows that the sources are POSIX and not glibc.  By hand: tests/musl.sh
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
if ! command -v musl-gcc > /dev/null 2>&1; then
  echo "skipped: there is no musl-gcc (package musl-tools)"
  exit 77
fi
mkdir -p "$top_builddir/tests"
work=$(mktemp -d "$top_builddir/tests/musl.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

# Only a moment of each stress test: the long ones are for the other C library.
FAIRSEM_STRESS_SECONDS=${FAIRSEM_STRESS_SECONDS:-1}
export FAIRSEM_STRESS_SECONDS

compile() {
  musl-gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -Wall -Wextra -Wpedantic -Werror \
    -I"$top_srcdir/include" -I"$top_srcdir/src" -I"$top_srcdir/posix" -I"$top_srcdir/tests/plain" "$@"
}

for source in "$top_srcdir"/src/*.c "$top_srcdir"/posix/sem_*.c "$top_srcdir/tests/workers.c"; do
  object=$work/$(basename "$source" .c).o
  compile -c "$source" -o "$object" || status=1
done
[ "$status" -eq 0 ] || exit "$status"
# A library: a test may have a part of it within itself.
ar rcs "$work/libcore.a" "$work"/*.o || exit 99

# wraps NAME - the calls that a test replaces are listed where it is built.  Only ours: with
# -static, those inside the C library would be replaced too.
wraps() {
  awk -v name="tests_$1_LDFLAGS" '
    !open { variable = $1 }
    { value[variable] = value[variable] " " $0; open = /\\$/ }
    END {
      words = value[name]
      for (other in value)
        if (index(words, "$(" other ")") > 0)
          words = words value[other]
      print words
    }' "$top_srcdir/tests/local.mk" | grep -o -e '-Wl,--wrap=[a-z_]*'
}

for source in "$top_srcdir"/tests/t_*.c; do
  name=$(basename "$source" .c)
  # What they unload is of the other C library.
  case $name in
    t_fault_unload | t_fault_plugin) continue ;;
  esac
  link=$(wraps "$name")
  # shellcheck disable=SC2086 # a list of options, or nothing
  compile "$source" "$work/libcore.a" $link -o "$work/$name" || { status=1; continue; }
  if "$work/$name" > "$work/log" 2>&1; then
    echo "ok: $name, $(sed -n 's/.*Checks: \([0-9]*\),.*/\1/p' "$work/log") tests"
  else
    echo "FAILED: $name"
    cat "$work/log"
    status=1
  fi
done
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# systems.sh [TARGET...] - check for macOS, FreeBSD, NetBSD and OpenBSD that the library, the amalgamation, the
# examples, and the tests of fairsem.h and fairsem/posix.h compile and link, and that the C++ headers compile.
# The script does not run the programs.
#
# zig (0.16), a cross compiler, has the headers of these systems and the names in their libraries.  The script
# uses $ZIG, or zig in the path.  A TARGET is a target of zig.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
: "${ZIG:=zig}"
needs "$ZIG"
[ $# -gt 0 ] || set -- aarch64-macos x86_64-macos x86_64-freebsd x86_64-netbsd x86_64-openbsd

# makes WHAT ARGUMENT... - compile for $target.  Warnings are errors, except warnings about the system's sem_t.
makes() {
  what=$1
  shift
  if ! "$ZIG" "$@" -target "$target" -O1 -Wall -Wextra -Wpedantic -Werror \
    -Wno-deprecated-declarations -I"$top_srcdir/include" -pthread > "$work/log" 2>&1; then
    cat "$work/log"
    fail "$target: $what"
  fi
}

# program SOURCE... - compile and link a program with the library.
program() {
  makes "${1#"$top_srcdir/"}" cc -std=c11 "$@" "$work/library.so" -lm -o "$work/program"
}

"$top_srcdir/packaging/amalgamation.sh" "$work/one" || exit 1
workload=$(sed -n "/^hog_victim_sources/,/[^\\\\]\$/s,.*\(bench/[a-z_]*\.c\).*,$top_srcdir/\1,p" \
  "$top_srcdir/bench/local.mk")
for target; do
  # As configure chooses POSIX_CPPFLAGS.
  case $target in
    *-netbsd) visible=-D_POSIX_C_SOURCE=200809L ;;
    *) visible= ;;
  esac
  # shellcheck disable=SC2086 # a list
  makes library cc -std=c11 $visible -DFAIRSEM_WATCHED_=0 -fexceptions -I"$top_srcdir/src" \
    -I"$top_srcdir/src/core" "$top_srcdir"/src/core/*.c "$top_srcdir"/src/awake/*.c \
    "$top_srcdir"/src/system/*.c "$top_srcdir"/src/tools/*.c "$top_srcdir/src/shared/absent.c" \
    "$top_srcdir"/src/posix/*.c -shared -fPIC -o "$work/library.so"
  makes "one file" cc -std=c11 "$work/one/fairsem.c" -shared -fPIC -o "$work/one/library.so"
  for name in budget-pool worker-pool consumer-priority fetch-limiter start-once start-rate tenants; do
    program "$top_srcdir/examples/$name.c"
  done
  # shellcheck disable=SC2086 # lists
  program "$top_srcdir/examples/hog-and-victim.c" "$top_srcdir/examples/wait_plot_svg.c" $workload
  for source in "$top_srcdir/tests/scenarios/t_scenarios.c" "$top_srcdir"/tests/contract/t_*.c \
    "$top_srcdir"/tests/posix/t_*.c; do
    # shellcheck disable=SC2086 # a list
    program "$source" "$top_srcdir/tests/support/workers.c" $visible -I"$top_srcdir/src" \
      -I"$top_srcdir/src/core" -I"$top_srcdir/tests/support" -I"$top_srcdir/tests/support/plain"
  done
  for standard in c++17 c++20; do
    for source in "$top_srcdir"/tests/cxx/t_*.cpp; do
      makes "${source##*/} as $standard" c++ "-std=$standard" -c "$source" -o "$work/object.o"
    done
  done
  [ "$status" -ne 0 ] || echo "ok: $target"
done
exit "$status"

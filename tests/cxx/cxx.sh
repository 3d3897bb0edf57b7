#!/bin/sh
# SPDX-License-Identifier: MIT
# cxx.sh - runs the trials of fairsem.hpp as C++17 and as C++20, in which fairsem.hpp has more functions.
#
#     tests/cxx/cxx.sh [--std] [STANDARD...]
#
# --std: run the trials of the standard's wording on std::counting_semaphore, too.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)
compare=
[ "${1-}" != --std ] || { compare=-DTRIAL_STD; shift; }
[ $# -gt 0 ] || set -- c++17 c++20
has "$CXX" || skip "no C++ compiler"
ran=0
# For exceptions that leave a callback, the library's compiler matters: see fairsem_ticket_take(3).
by_clang=
! echo __clang__ | $CC -E -P - 2> /dev/null | grep -qx 1 || by_clang=-DTRIAL_LIBRARY_BY_CLANG

# One source, because compiling <chrono> and <future> takes most of the time.
for source in main t_standard t_semaphore t_units t_async t_exceptions; do
  echo "#include \"$top_srcdir/tests/cxx/$source.cpp\""
done > "$work/all.cpp"

# understands FLAG... - succeeds if the compiler and its library accept the flags.
understands() {
  # shellcheck disable=SC2086 # a compiler can be several words
  echo '#include <future>' | $CXX "$@" -x c++ -fsyntax-only - > /dev/null 2>&1
}

# FAIRSEM_WATCHED_ must be as in the library.  About this option of AddressSanitizer, see doc/debugging.md.
: "${ASAN_OPTIONS=detect_stack_use_after_return=1}"
export ASAN_OPTIONS
for standard in "$@"; do
  # shellcheck disable=SC2086 # lists
  if $CXX ${CFLAGS-} -O0 "-std=$standard" $compare $by_clang -DFAIRSEM_WATCHED_=0 -Wall -Wextra \
    -Wpedantic -Wold-style-cast -Wshadow -Wconversion -Werror -I"$top_srcdir/include" "$work/all.cpp" \
    -o "$work/all" "$library" -pthread > "$work/log" 2>&1 &&
    LD_LIBRARY_PATH=$top_builddir/.libs limited "$work/all" > "$work/said"; then
    echo "ok: $standard, $(tail -n 1 "$work/said")"
    ran=$((ran + 1))
  elif ! understands "-std=$standard"; then
    not_here "$CXX does not know -std=$standard"
  else
    cat "$work/log"
    [ ! -f "$work/said" ] || cat "$work/said"
    fail "$standard"
  fi
done
if [ "$ran" -eq 0 ] && [ "$status" -eq 0 ]; then
  not_here "$CXX knows none of $*"
  exit 77
fi
exit "$status"

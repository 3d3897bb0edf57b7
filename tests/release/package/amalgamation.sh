#!/bin/sh
# SPDX-License-Identifier: MIT
# amalgamation.sh - check the single file of make amalgamation: it does not depend on the user and the
# directory, compiles without warnings, exports only public names, and passes the tests that need nothing else.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# runs COMPILER... - do programs of this compiler link and run on this machine?
runs() {
  echo 'int main(void) { return 0; }' > "$work/probe.c"
  "$@" "$work/probe.c" -o "$work/probe" > "$work/log" 2>&1 && "$work/probe" > "$work/log" 2>&1
}

# quietly COMMAND... - run the command.  If it fails or prints anything, show its output and fail.
quietly() {
  "$@" > "$work/log" 2>&1 && [ ! -s "$work/log" ] && return
  cat "$work/log"
  fail "$*"
  return 1
}

one=$work/one
quietly "$top_srcdir/packaging/amalgamation.sh" "$one" || exit 1
cd "$one" || exit 99

# ---------------------------------------------------------------- the same bytes
ln -s "$top_srcdir" "$work/elsewhere"
(
  cd "$work" && umask 077
  TZ=Pacific/Auckland LC_ALL=C.UTF-8
  export TZ LC_ALL
  quietly elsewhere/packaging/amalgamation.sh two/directories/deeper
) || status=1
if diff -r "$one" "$work/two/directories/deeper"; then
  echo "ok: the same twice, $(wc -l < fairsem.c) lines in fairsem.c"
else
  fail "fairsem.c differs in another directory and locale, or the headers do"
fi

# ---------------------------------------------------------------- no warning
# compiles FLAG... - compile with $compiler; warnings are errors.
compiles() {
  # shellcheck disable=SC2086 # a compiler can be several words
  quietly $compiler -Werror "$@" -c fairsem.c -o fairsem.o
}

warnings='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Wstrict-prototypes -Wmissing-prototypes'
compilers=$CC
for compiler in gcc clang musl-gcc; do
  # shellcheck disable=SC2086 # a compiler can be several words
  if ! has "$compiler"; then
    not_tried "there is no $compiler"
  elif ! runs "$compiler"; then
    not_here "programs of $compiler do not run"
  # Skip gcc if it is the same compiler as $CC.
  elif [ "$compiler" != gcc ] ||
    [ "$($CC -print-file-name=include 2> /dev/null)" != "$(gcc -print-file-name=include)" ]; then
    compilers="$compilers
$compiler"
  fi
done
printf '%s\n' "$compilers" > "$work/compilers"
while read -r compiler; do
  before=$status status=0
  compiles
  for standard in c11 c17 gnu11 gnu17 gnu2x; do
    # shellcheck disable=SC2086 # lists
    if $compiler -std="$standard" -E -x c /dev/null > "$work/log" 2>&1; then
      compiles -std="$standard" $warnings -fsyntax-only
    fi
  done
  # Some warnings come from the optimizer.
  for flag in -O0 -O2 -O3; do
    # shellcheck disable=SC2086 # a list
    compiles "$flag" $warnings
  done
  for flag in -fexceptions -DFAIRSEM_NO_SHARED -DFAIRSEM_FUTEX=1 -DFAIRSEM_VALGRIND=0 \
    -DFAIRSEM_PROBES=1 -D_POSIX_C_SOURCE=200809L -D_GNU_SOURCE; do
    case $flag in
      *FUTEX*) header=linux/futex.h ;;
      *PROBES*) header=sys/sdt.h ;;
      *) header=errno.h ;;
    esac
    echo "#include <$header>" > "$work/probe.c"
    # shellcheck disable=SC2086 # lists
    if $compiler -E "$work/probe.c" > "$work/log" 2>&1; then
      compiles "$flag" $warnings -fsyntax-only
    else
      case $compiler in
        *musl*) not_here "$compiler has no <$header>" ;;
        *) not_tried "$compiler has no <$header>" ;;
      esac
    fi
  done
  [ "$status" -ne 0 ] || echo "ok: $compiler has nothing to say about it"
  [ "$before" -eq 0 ] || status=1
done < "$work/compilers"

# ---------------------------------------------------------------- public names only
# names OBJECT - print the global names of the object, without those of compilers, probes and
# annotate_valgrind.c: see exports.sh.
names() {
  nm -g --defined-only "$1" | awk 'NF == 3 { sub(/_time64$/, "", $3); print $3 }' |
    grep -v -e '^__' -e '^_\.stapsdt\.' -e '^_vgw' | sort
}

if has nm; then
  sed -n 's/^ *\(fairsem_[a-z0-9_]*\)[*]*;.*/\1/p' "$top_srcdir/src/fairsem.map" |
    sort > "$work/map"
  grep -v '^fairsem_shared_' "$work/map" > "$work/map-without"
  compiler=$CC
  compiles && names fairsem.o > "$work/names"
  compiles -DFAIRSEM_NO_SHARED && names fairsem.o > "$work/names-without"
  for without in '' -without; do
    if diff "$work/map$without" "$work/names$without"; then
      echo "ok: it defines $(wc -l < "$work/names$without") public names and no others"
    else
      fail "src/fairsem.map (<) and fairsem.o (>) differ"
    fi
  done
else
  not_tried "there is no nm"
fi

# ---------------------------------------------------------------- README's example, C++
awk '/^```/ { inside = $0 == "```c"; next } inside' "$top_srcdir/README.md" > prog.c
cat > prog.cc << '__EOF'
#include <fairsem.hpp>

int main()
{
    fairsem::semaphore slots(1);

    return fairsem::units(slots, 1) ? 0 : 1;
}
__EOF
# Compile with the commands in the first comment of fairsem.c.
# shellcheck disable=SC2086 # lists
if quietly $CC ${CFLAGS-} -c fairsem.c &&
  quietly $CC ${CFLAGS-} -I. prog.c fairsem.o -pthread -o prog && quietly ./prog; then
  echo "ok: the example of README.md"
fi
# shellcheck disable=SC2086 # lists
if runs ${CXX:-c++}; then
  quietly ${CXX:-c++} -std=c++17 ${CFLAGS-} -I. prog.cc fairsem.o -pthread -o prog &&
    quietly ./prog && echo "ok: a program in C++"
fi

# ---------------------------------------------------------------- the tests
# Link the tests that the build has compiled, except tests that need a function that is static in fairsem.c.
# shellcheck disable=SC2086 # lists
quietly $CC ${CFLAGS-} -O2 -g -c fairsem.c && ar rcs one.a fairsem.o || exit 1
check=$(sed -n 's/^CHECK_LIBS = //p' "$top_builddir/Makefile") passed=0
for source in "$top_srcdir/tests/scenarios/t_scenarios.c" "$top_srcdir"/tests/contract/t_*.c \
  "$top_srcdir"/tests/posix/t_*.c "$top_srcdir"/tests/shared/t_*.c; do
  name=$(basename "$source" .c) object=$top_builddir${source#"$top_srcdir"}
  object=${object%.c}.o
  nm "$object" > "$work/symbols" || exit 99
  wraps=$(sed -n 's/.* T __wrap_/-Wl,--wrap=/p' "$work/symbols")
  ! grep -q -e ' U fs_' -e ' __wrap_fs_' "$work/symbols" || continue
  # shellcheck disable=SC2086 # lists
  if quietly $CC ${CFLAGS-} "$object" "$top_builddir/tests/support/libtests.a" one.a $wraps $check \
    -pthread -o "$name" && limited "./$name" > "$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    cat "$work/log"
    fail "$name"
  fi
done
[ "$passed" -ge 30 ] || fail "only $passed programs: where are the tests?"
echo "ok: $passed programs of the tests"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# watched.sh - check that race detectors report nothing about a correct program, and each race of a racy
# program.
#
# The library is the one that `make` has built, without instrumentation: shared (and stripped), and static.
# The program is watched.c, and nothing is suppressed.  Tools that are not installed are skipped.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
case ${CFLAGS-} in
  *-fsanitize*)
    not_here "the library is built for a sanitizer"
    exit 77
    ;;
esac
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  not_here "the tools do not work in an emulator"
  exit 77
fi
unset TSAN_OPTIONS VALGRIND_OPTS
status=0 tried=0

# The libraries that were built, as arguments for the linker.
static=$top_builddir/.libs/libfairsem.a shared=''
name=$(made dlname)
if [ -n "$name" ]; then
  shared=$work/$name
  cp "$top_builddir/.libs/$name" "$shared" && strip "$shared" || exit 99
fi
[ -f "$static" ] || static=''

# The reports must name each function that touches data.
sed -n 's/^ *TOUCH([a-z]*).*/&/p' "$top_srcdir/tests/release/platforms/watched.c" | grep -o 'TOUCH([a-z]*)' |
  sed 's/TOUCH(\(.*\))/touch_\1/' > "$work/touched"
[ "$(wc -l < "$work/touched")" -ge 10 ] || exit 99

# try TOOL LIBRARY COMMAND... - run $work/prog, correct and racy, with the command.
try() {
  tool=$1 library=$2
  shift 2
  tried=$((tried + 1))
  if ! limited "$@" "$work/prog" > "$work/log" 2>&1; then
    head -n 80 "$work/log"
    fail "$tool reports a race in a correct program ($library)"
    return
  fi
  # A detector forgets old accesses, so on a busy machine it may miss a race: try three times.
  : > "$work/log"
  for _ in 1 2 3; do
    if limited "$@" "$work/prog" racy >> "$work/log" 2>&1; then
      fail "$tool reports nothing about a racy program ($library)"
      return
    fi
    missed=$(grep -o -w -f "$work/touched" "$work/log" | sort -u | sort - "$work/touched" | uniq -u)
    [ -n "$missed" ] || break
  done
  if [ -n "$missed" ]; then
    fail "$tool did not report ($library): $missed"
  else
    echo "ok: $tool reports nothing about a correct program, and $(wc -l < "$work/touched")" \
      "kinds of races in a racy one ($library)"
  fi
}

# build COMPILER FLAGS LIBRARY - build $work/prog.
build() {
  # shellcheck disable=SC2086 # lists
  $1 -std=c11 -g -O0 $2 -I"$top_srcdir/include" "$top_srcdir/tests/release/platforms/watched.c" "$3" -pthread \
    -Wl,-rpath,"$work" -o "$work/prog"
}

for compiler in gcc clang; do
  if ! can_run "$compiler" -fsanitize=thread; then
    not_tried "$compiler -fsanitize=thread"
    continue
  fi
  # Without llvm-symbolizer, the reports of clang name no functions.
  if [ "$compiler" = clang ] && ! has llvm-symbolizer; then
    not_tried "clang -fsanitize=thread: there is no llvm-symbolizer"
    continue
  fi
  for library in $shared $static; do
    if build "$compiler" -fsanitize=thread "$library"; then
      try "ThreadSanitizer of $compiler" "${library##*/}"
    else
      fail "$compiler -fsanitize=thread ($library)"
    fi
  done
done

if ! configure_says have_valgrind_headers yes; then
  not_tried "helgrind and DRD, whose headers were not there when the library was built"
elif ! has valgrind || ! valgrind -q true > /dev/null 2>&1; then
  not_tried "there is no valgrind"
else
  for library in $shared $static; do
    build "$CC" '' "$library" || fail "$CC ($library)"
    for tool in helgrind drd; do
      # Without --fair-sched a thread that polls keeps all others from running.
      try "$tool" "${library##*/}" valgrind --tool="$tool" --fair-sched=yes --error-exitcode=9
    done
  done
fi
[ "$tried" -gt 0 ] || [ "$status" -ne 0 ] || skip "there is none of these tools"
exit "$status"

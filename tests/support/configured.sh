# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# configured.sh - a second build with another configuration; sourced by scripts.
#
#   configured DIRECTORY ARGUMENT...   go to a new directory, configure, and build everything and the tests
#   checked ARGUMENT...                after that, run `make check`; the last line is "N passed, M failed"
#
# If `only` names test programs, no others are built.
# shellcheck disable=SC2154 # top_srcdir, of the scripts that read this

# configure must not inherit these variables; AM_TESTS_ENVIRONMENT exports some of them.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
only=''
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

make_check() {
  make -j"$jobs" check ${only:+check_LTLIBRARIES= check_PROGRAMS="$only"} "$@" > log 2>&1
}

configured() {
  rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 99
  shift
  unset top_builddir
  "$top_srcdir/configure" --enable-tests "$@" > log 2>&1 && make_check TESTS= && return
  tail -n 50 log
  echo "0 passed, 1 failed"
  return 1
}

# The exit status of make counts, too: a sanitizer may stop a program after the program has printed "100%".
checked() {
  make_check "$@"
  ended=$?
  "$top_srcdir/quickstart" tally "$PWD" > counts || ended=1
  [ "$ended" -ne 0 ] || echo "ok: make check, configured in ${PWD##*/}"
  cat counts
  return "$ended"
}

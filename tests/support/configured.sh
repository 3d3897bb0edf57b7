# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# configured.sh - everything once more, configured in another way; sourced by the scripts that need it.
#
#   configured DIRECTORY ARGUMENT...   go there, configure, and build all, with the tests
#   checked ARGUMENT...                then `make check`; the last line is "N passed, M failed"
# shellcheck disable=SC2154 # top_srcdir, of the scripts that read this

# AM_TESTS_ENVIRONMENT exports some of these: configure must not take them from there.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

configured() {
  rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 99
  shift
  unset top_builddir
  "$top_srcdir/configure" --enable-tests "$@" > log 2>&1 && make -j"$jobs" check TESTS= > log 2>&1 && return
  tail -n 50 log
  echo "0 passed, 1 failed"
  return 1
}

# The exit status decides, too: a sanitizer may stop a program after it has printed 100 %.
checked() {
  make -j"$jobs" check "$@" > log 2>&1
  ended=$?
  "$top_srcdir/quickstart" tally "$PWD" && [ "$ended" -eq 0 ]
}

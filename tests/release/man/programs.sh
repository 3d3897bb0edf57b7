#!/bin/sh
# SPDX-License-Identifier: MIT
# programs.sh - every program in a manual page builds without a warning, runs, and exits with 0; and
# each page of sections 3 and 7 has one.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)

# programs PAGE PREFIX - copy each display that begins with #include into a file PREFIX-NUMBER.c, as
# a reader would see it.
programs() {
  awk -v prefix="$2" '
    /^\.Bd -literal/ { first = 1; next }
    /^\.Ed/ { file = ""; first = 0; next }
    first { first = 0; file = /^#include/ ? prefix "-" (++number) ".c" : "" }
    file != "" {
      gsub(/\\&/, "")
      gsub(/\\-/, "-")
      gsub(/\\\(aq/, "\047")
      gsub(/\\\(ga/, "`")
      gsub(/\\\(ha/, "^")
      gsub(/\\\(ti/, "~")
      gsub(/\\e/, "\\")
      print > file
    }' "$1"
}

ran=0
for page in "$top_srcdir"/doc/man/*.[37]; do
  name=${page##*/}
  # Elsewhere these functions return ENOSYS.
  [ "$(uname)" = Linux ] || ! grep -q '^\.In fairsem/' "$page" || continue
  compile="$CC ${CFLAGS-} -x c" also=
  if grep -q '^\.In fairsem/cluster\.h' "$page"; then
    also=$top_builddir/.libs/libfairsem-cluster.so
    [ -f "$also" ] || { not_tried "$name, whose library was not built" && continue; }
  fi
  if [ "$name" != "${name%.hpp.3}" ]; then
    has "$CXX" || { not_tried "$name: there is no C++ compiler" && continue; }
    compile="$CXX ${CXXFLAGS-} -std=c++17 -x c++"
  fi
  programs "$page" "$work/$name"
  [ -f "$work/$name-1.c" ] || fail "$name has no program"
  for file in "$work/$name"-*.c; do
    [ -f "$file" ] || continue
    # shellcheck disable=SC2086 # lists
    if ! $compile -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" "$file" -x none \
      -o "$work/prog" $also "$library" -pthread; then
      fail "${file##*/} does not build"
    elif LD_LIBRARY_PATH=$top_builddir/.libs limited "$work/prog" > "$work/said" 2>&1; then
      echo "ok: ${file##*/}"
      ran=$((ran + 1))
    else
      result=$?
      cat "$work/said"
      fail "${file##*/} ends with $result"
    fi
  done
done
[ "$ran" -gt 0 ] || fail "no program ran"
exit "$status"

# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# script.sh - what test scripts share.  They read it first:
#
#   : "${top_srcdir:=...}" "${top_builddir:=$PWD}"
#   . "$top_srcdir/tests/support/script.sh"
#
# It makes an empty directory $work, which goes when the script ends.  A script prints a line "ok: ..."
# for what it has seen to work, and ends with `exit "$status"`.
# shellcheck disable=SC2034,SC2154 # of the scripts that read this
export LC_ALL=C
# A make in a script must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
: "${CC:=cc}" "${CXX:=c++}" "${CFLAGS=}" "${MAKE:=make}"

mkdir -p "$top_builddir/tests" &&
  work=$(mktemp -d "$top_builddir/tests/$(basename "$0" .sh).XXXXXX") &&
  work=$(cd "$work" && pwd) || exit 99
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
status=0

# fail WHAT - after what the last command has written to these files, if the script uses them.
fail() {
  cat "$work/out" "$work/err" 2> /dev/null
  echo "FAILED: $*"
  status=1
  # The first failure is all that a seeded fault needs.
  [ -z "${STOP_EARLY-}" ] || exit 1
}

# skip WHY - nothing of it can be tried here.  With FAIRSEM_TRY_ALL=yes that is a failure: whoever sets
# it wants to know that all has been tried.
skip() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    echo "FAILED: skipped: $*"
    exit 1
  fi
  echo "skipped: $*"
  exit 77
}

# not_tried WHAT - a part of it cannot be tried here.  For what the machine itself does not allow, a
# script prints a line "not here: ..." instead.
not_tried() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    fail "not tried: $*"
  else
    echo "not tried: $*"
  fi
}

# hang_s - print after how many seconds something hangs: 300, times CK_TIMEOUT_MULTIPLIER.
hang_s() {
  awk -v times="${CK_TIMEOUT_MULTIPLIER:-1}" \
    'BEGIN { s = 300 * times; print int(s) + (s > int(s)) }'
}

# limited COMMAND... - run it, and end it if it hangs.
limited() {
  timeout -k 10 "$(hang_s)" "$@"
}

# has COMMAND - can it be run?  It can be several words.
has() {
  command -v "${1%% *}" > /dev/null 2>&1
}

# each_compiler COMMAND... - print those that can be run, once.
each_compiler() {
  for command; do
    ! has "$command" || echo "$command"
  done | sort -u
}

# needs COMMAND... - skip without one of them.
needs() {
  for tool; do
    has "$tool" || skip "there is no $tool"
  done
}

# library - the path of the library that was built, the static one if there is one.
library() {
  if [ -f "$top_builddir/.libs/libfairsem.a" ]; then
    echo "$top_builddir/.libs/libfairsem.a"
  else
    echo "$top_builddir/.libs/libfairsem.so"
  fi
}

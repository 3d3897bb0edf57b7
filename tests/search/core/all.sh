#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh [BOUND [COUNT [NAME...]]] - make check-explore: all scenarios on both parkers, and generated
# ones.
#
# With PARKERS=cond or futex on one parker only.
#
# First those of the table, or those named, then the first COUNT that generate.c makes, half of them on each
# parker; two processes at a time.  At the end it prints what all of them have seen.  Builds into
# the current directory's tests/search/core.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
bound=${1:-2} count=${2:-2000}
if [ $# -gt 2 ]; then shift 2; else set --; fi
names=$*
work=$PWD/tests/search/core
mkdir -p "$work"
rm -f "$work"/seen.*
. "$top_srcdir/tests/support/result.sh"

# halves PROGRAM ARGUMENT... - one half in the background, the other half here.
halves() {
  program=$1
  shift
  "$program" --seen "$work/seen.2" --part 2/2 "$@" > "$work/second-half" &
  "$program" --seen "$work/seen.1" --part 1/2 "$@"
  result "$program" $?
  wait $!
  result "$program, the other half" $?
}

# explore PARKER CPPFLAGS FIRST LAST - the table, and the generated scenarios of these numbers.
explore() {
  echo "======== parker: $1"
  EXPLORE_CPPFLAGS=$2 "$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$work/explore-$1" ||
    exit $?
  # shellcheck disable=SC2086 # a list
  halves "$work/explore-$1" --bound "$bound" $names
  sed 1d "$work/second-half"
  echo "-------- generated: $3 to $4"
  halves "$work/explore-$1" --bound "$bound" --runs 3000 --generate "$3-$4"
  cat "$work/second-half"
  echo
}

for parker in ${PARKERS:-cond futex}; do
  case $parker in
    cond) explore cond '' 1 $((count / 2)) ;;
    futex) explore futex '-DFS_FUTEX_BY_DEFAULT=1' $((count / 2 + 1)) "$count" ;;
    *) echo "all.sh: no parker: $parker" >&2 && exit 2 ;;
  esac
done
if [ -z "$names" ]; then
  "$work/explore-$parker" --pairs "$work/seen.1" "$work/seen.2"
  result "the report" $?
fi
exit "$status"

# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# part.sh - PART=K/N: a search takes one thing in N, from the K-th on; sourced by the scripts.
case ${PART:=1/1} in
  *[!0-9/]*|/*|*/|*/*/*|*/0) echo "${0##*/}: not K/N: $PART" >&2 && exit 2 ;;
esac
things=0

# False: the next thing belongs to another part.
in_part() {
  things=$((things + 1))
  [ $((things % ${PART#*/})) -eq $((${PART%/*} % ${PART#*/})) ]
}

# only_part - print those lines that belong to this part.
only_part() {
  while read -r thing; do
    ! in_part || echo "$thing"
  done
}

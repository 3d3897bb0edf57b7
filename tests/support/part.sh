# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# part.sh - with PART=K/N a search does every N-th item, from the K-th on; sourced by scripts of the searches.
case ${PART:=1/1} in
  *[!0-9/]*|/*|*/|*/*/*|*/0) echo "${0##*/}: not K/N: $PART" >&2 && exit 2 ;;
esac
things=0

# in_part - does the next item belong to this part?
in_part() {
  things=$((things + 1))
  [ $((things % ${PART#*/})) -eq $((${PART%/*} % ${PART#*/})) ]
}

# only_part - print the lines of stdin that belong to this part.
only_part() {
  while read -r thing; do
    ! in_part || echo "$thing"
  done
}

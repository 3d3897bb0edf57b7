#!/bin/sh
# SPDX-License-Identifier: MIT
# orders.sh [PATTERN [NAME...]] - every acquire, release and acq_rel in src/, or those in lines
# `file:number` that match PATTERN, weakened to relaxed, one by one: make check-orders.
#
# For each of them the explorer must find an error, with weak memory (views.h): first without
# preemptions, then with one, two processes at a time.  orders.txt lists those that
# it cannot find, with the reason.  In the scenarios that have found an error the explorer must find
# none in the sources as they are.  `seconds` is the most for one scenario; with NAMEs it searches
# only those scenarios.  With PART=K/N it weakens one order in N, from the K-th on.  Exit status 1:
# an order survives; 2: the explorer could not run.  Builds into the current directory's
# tests/search/core.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../../.." && pwd)}"
src=$(cd "$top_srcdir/src/core" && pwd)
work=$PWD/tests/search/core/orders
pattern=${1:-.}
[ $# -eq 0 ] || shift
only=$*
: "${seconds:=5}"
. "$top_srcdir/tests/support/part.sh"

# These scenarios need more than one preemption or one old load: a seqlock over three numbers, a
# ticket that moves from queue to queue, and a look at numbers in the middle of a section.
numbers='try-while-capacity-grows try-while-capacity-shrinks'
moves='watched-in-one-queue-or-another claimed-by-another'
looks='inspected-beside-grants inspected-beside-a-take inspected-beside-a-close
  inspected-beside-a-capacity'

# places - print FILE LINE OCCURRENCE ORDER for each order in the code, without comments.
places() {
  awk 'FNR == 1 { file = FILENAME; sub(/.*\//, "", file) }
    {
      code = $0
      sub(/\/\*.*/, "", code)
      if (code ~ /^ \*/)
        next
      n = 0
      while (match(code, /memory_order_(acquire|release|acq_rel)/)) {
        print file, FNR, ++n, substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
      }
    }' "$src"/*.c "$src"/*.h
}

# excuse FILE LINE OCCURRENCE - print why the explorer cannot see this order, if it cannot.
excuse() {
  awk -v file="$1" -v nth="$1#$3" -v line="$(sed -n "$2p" "$src/$1")" '
    /^#/ || NF == 0 { next }
    /^[^ ]/ { wanted = $1; sub(/:$/, "", wanted); text = $0; sub(/^[^ ]+ /, "", text); next }
    (wanted == file || wanted == nth) && index(line, text) > 0 {
      sub(/^ +/, "")
      why = why (why != "" ? " " : "") $0
    }
    END { print why }' "$here/orders.txt"
}

# weaken FILE LINE OCCURRENCE - print FILE with that order relaxed.
weaken() {
  awk -v line="$2" -v wanted="$3" 'FNR != line { print; next }
    {
      before = ""
      rest = $0
      for (n = 1; match(rest, /memory_order_(acquire|release|acq_rel)/); n++) {
        order = n == wanted ? "memory_order_relaxed" : substr(rest, RSTART, RLENGTH)
        before = before substr(rest, 1, RSTART - 1) order
        rest = substr(rest, RSTART + RLENGTH)
      }
      print before rest
    }' "$src/$1"
}

# build DIRECTORY - unless it is built.
build() {
  "$here/build.sh" "$1/src" "$1/explore" > "$1/build.log" 2>&1
}

# searches - print OPTIONS|NAMES of each search.
searches() {
  if [ -n "$only" ]; then
    echo "--bound 0 --stale 1|$only"
    echo "--bound 1 --stale 1|$only"
  else
    echo "--bound 0 --stale 1|"
    echo "--bound 1 --stale 3|$numbers"
    echo "--bound 3 --stale 1|$moves"
    printf '%s ' "--bound 2 --stale 1|$looks" | tr '\n' ' ' && echo
    echo "--bound 1 --stale 1 --seconds $seconds|"
  fi
}

# search DIRECTORY - status 1 if the explorer finds the fault, 0 if not, 2 if it could not run.
# Prints the scenario and the oracle, or why it could not run.  A crash of the library is one of
# the errors that the explorer reports; if it ends in another way, it has not searched.
search() {
  searches > "$1/searches"
  build "$1" || {
    echo "it does not build: $(tail -n 1 "$1/build.log")"
    return 2
  }
  while IFS='|' read -r options names; do
    # shellcheck disable=SC2086 # lists
    "$1/explore" --first $options $names > "$1/out" 2> "$1/errors"
    ended=$?
    [ "$ended" -ne 0 ] || continue
    by=$(sed -n 's/^\([^ :]*\): FAILED: \([^:]*\):.*/\1, \2/p' "$1/out" | head -n 1)
    if [ "$ended" -eq 1 ] && [ -n "$by" ]; then
      echo "$options ${by%%,*}" >> "$work/used"
      echo "$by"
      return 1
    fi
    echo "$(tail -n 1 "$1/errors") (exit status $ended)"
    return 2
  done < "$1/searches"
}

# try FILE LINE OCCURRENCE ORDER - print one line of the table.
try() {
  name=$1:$2:$3
  why=$(excuse "$1" "$2" "$3")
  if [ -n "$why" ]; then
    printf '%-22s %-8s excused   %s\n' "$name" "${4#memory_order_}" "$why"
    return
  fi
  dir=$work/$name
  mkdir -p "$dir/src/core" "$dir/include"
  cp "$src"/*.[ch] "$dir/src/core"
  cp "$top_srcdir/include"/*.h "$dir/include"
  weaken "$1" "$2" "$3" > "$dir/src/core/$1"
  by=$(search "$dir")
  case $? in
    0) verdict=SURVIVED ;;
    1) verdict=caught ;;
    *) verdict='COULD NOT RUN' ;;
  esac
  printf '%-22s %-8s %-9s %s\n' "$name" "${4#memory_order_}" "$verdict" "$by"
  rm -rf "$dir"
}

# control - what has found an error in a changed copy finds none in the sources as they are.
control() {
  mkdir -p "$work/control/src"
  cp -R "$src" "$work/control/src"
  cp -R "$top_srcdir/include" "$work/control"
  sort -u "$work/used" | while read -r options; do
    # shellcheck disable=SC2086 # a list
    { build "$work/control" && "$work/control/explore" $options; } > "$work/out" 2>&1 ||
      echo "control: the sources as they are, $options: exit status $?: WRONG"
  done
}

# half WHICH - every other place.
half() {
  awk "NR % 2 == $1" "$work/places" | while read -r file line occurrence order; do
    try "$file" "$line" "$occurrence" "$order"
  done
}

rm -rf "$work"
mkdir -p "$work"
if [ -z "${EXPLORER:-}" ]; then
  EXPLORER=$work/explore
  "$here/build.sh" "$top_srcdir/src" "$EXPLORER" || exit $?
fi
export EXPLORER
places | awk -v pattern="$pattern" '($1 ":" $2) ~ pattern' | only_part > "$work/places"
: > "$work/used"
half 0 > "$work/second-half" &
half 1 > "$work/first-half"
wait
sort -t: -k1,1 -k2,2n "$work/first-half" "$work/second-half" | tee "$work/table"
count() { grep -c "^[^ ]* *[a-z_]* *$1" "$work/table"; }
echo
echo "$(wc -l < "$work/places") orders: $(count caught) caught, $(count excused) excused," \
  "$(count SURVIVED) survived, $(count 'COULD NOT RUN') could not run"
control | tee "$work/wrong"
[ "$(wc -l < "$work/places")" -eq "$(wc -l < "$work/table")" ] && [ -s "$work/table" ] &&
  [ "$(count 'COULD NOT RUN')" -eq 0 ] && [ ! -s "$work/wrong" ] || exit 2
[ "$(count SURVIVED)" -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: MIT
# orders.sh [PATTERN] - every acquire, release and acq_rel in src/, or those in lines `file:number`
# that match PATTERN, weakened to relaxed, one by one: make check-orders.
#
# For each of them the explorer must find an error, with weak memory (views.h): first without
# preemptions, then with one, on both parkers, two processes at a time.  orders.txt lists those that
# it cannot find, with the reason.  `seconds` is the most for one scenario.  Builds into the current
# directory's tests/explore.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../.." && pwd)}"
src=$(cd "$top_srcdir/src" && pwd)
work=$PWD/tests/explore/orders
pattern=${1:-.}
: "${seconds:=5}"

# These scenarios need more than one preemption or one old load: a seqlock over three numbers, and a
# ticket that moves from queue to queue.
numbers='try-while-capacity-grows try-while-capacity-shrinks'
moves='watched-in-one-line-or-another claimed-by-another'

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

# Print each excuse for an order that no longer exists.
stale() {
  grep '^[^# ]' "$here/orders.txt" | while read -r where text; do
    file=${where%:}
    grep -qF -- "$text" "$src/${file%#*}" || echo "orders.txt: there is no such line: $where $text"
  done
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

# build DIRECTORY PARKER CPPFLAGS
build() {
  EXPLORER=$work/explore EXPLORE_CPPFLAGS=$3 "$here/build.sh" "$1/src" "$1/explore-$2" \
    > "$1/build.log" 2>&1
}

# search DIRECTORY - print which scenario and oracle find the fault; status 1 if none does.
search() {
  if ! build "$1" cond '' || ! build "$1" futex '-DFS_FUTEX_BY_DEFAULT=1'; then
    echo "it does not build"
    return
  fi
  for options in '--bound 0 --stale 1' "--bound 1 --stale 3 $numbers" \
    "--bound 3 --stale 1 $moves" "--bound 1 --stale 1 --seconds $seconds"; do
    for parker in cond futex; do
      # shellcheck disable=SC2086 # a list
      "$1/explore-$parker" --first $options > "$1/out" 2> "$1/errors"
      case $? in
        0) continue ;;
        1) sed -n 's/^\([^ :]*\): FAILED: \([^:]*\):.*/\1, \2/p' "$1/out" | head -n 1 ;;
        *) echo "the library crashes" ;;
      esac
      return
    done
  done
  return 1
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
  mkdir -p "$dir/src" "$dir/include"
  cp "$src"/*.[ch] "$dir/src"
  cp "$top_srcdir/include"/*.h "$dir/include"
  weaken "$1" "$2" "$3" > "$dir/src/$1"
  if by=$(search "$dir"); then
    printf '%-22s %-8s caught    %s\n' "$name" "${4#memory_order_}" "$by"
  else
    printf '%-22s %-8s SURVIVED\n' "$name" "${4#memory_order_}"
  fi
  rm -rf "$dir"
}

# half WHICH - every other place.
half() {
  awk "NR % 2 == $1" "$work/places" | while read -r file line occurrence order; do
    try "$file" "$line" "$occurrence" "$order"
  done
}

rm -rf "$work"
mkdir -p "$work"
"$here/build.sh" "$src" "$work/explore" || exit $?
places | awk -v pattern="$pattern" '($1 ":" $2) ~ pattern' > "$work/places"
half 0 > "$work/second-half" &
half 1 > "$work/first-half"
wait
sort -t: -k1,1 -k2,2n "$work/first-half" "$work/second-half" | tee "$work/table"
count() { grep -c "^[^ ]* *[a-z_]* *$1" "$work/table"; }
echo
echo "$(wc -l < "$work/places") orders: $(count caught) caught, $(count excused) excused," \
  "$(count SURVIVED) survived"
stale | tee "$work/stale"
[ ! -s "$work/stale" ] && ! grep -q 'SURVIVED\|does not build' "$work/table"

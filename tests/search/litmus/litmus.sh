#!/bin/sh
# SPDX-License-Identifier: MIT
# litmus.sh [--all | --quick [NAME...]] - the litmus tests of the library, and whether they find
# what is missing.
#
# First all tests, or those whose names begin so, with the sources as they are.  Then each memory
# order that orders.txt names is weakened, one by one, and the test named there must fail.
# --quick: they must only be in the sources.  --all: weakens every acquire and release in
# src/core, and prints what finds it.  Exit status 1: a test fails with the sources as they are,
# or an order survives; 2: could not run.  Builds into the current directory's
# tests/search/litmus.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../../.." && pwd)}"
src=$(cd "$top_srcdir/src/core" && pwd)
work=$PWD/tests/search/litmus
. "$top_srcdir/tests/support/result.sh"

# weaken FILE LINE OCCURRENCE ORDER - print FILE with that one as ORDER.
weaken() {
  awk -v line="$2" -v wanted="$3" -v to="$4" 'FNR != line { print; next }
    {
      before = ""
      rest = $0
      for (n = 1; match(rest, /memory_order_(acquire|release|acq_rel)/); n++) {
        order = n == wanted ? "memory_order_" to : substr(rest, RSTART, RLENGTH)
        before = before substr(rest, 1, RSTART - 1) order
        rest = substr(rest, RSTART + RLENGTH)
      }
      print before rest
    }' "$src/$1"
}

# places - print FILE LINE OCCURRENCE ORDER - for each order in the code, without comments.
places() {
  awk 'FNR == 1 { file = FILENAME; sub(/.*\//, "", file) }
    {
      code = $0
      sub(/\/\*.*/, "", code)
      if (code ~ /^ \*/)
        next
      for (n = 1; match(code, /memory_order_(acquire|release|acq_rel)/); n++) {
        if (substr(code, RSTART, RLENGTH) == "memory_order_acq_rel")
          printf "%s %d %d acquire -\n%s %d %d release -\n", file, FNR, n, file, FNR, n
        else
          print file, FNR, n, "relaxed -"
        code = substr(code, RSTART + RLENGTH)
      }
    }' "$src"/*.c "$src"/*.h
}

# line_of FILE FUNCTION TEXT - where the function, which begins a line, has that text; 0: nowhere.
line_of() {
  awk -v name="$2" -v text="$3" '
    /^[a-zA-Z]/ && /\(/ { inside = index($0, name "(") > 0 }
    inside && index($0, text) > 0 { print FNR; found = 1; exit }
    END { if (!found) print 0 }' "$src/$1"
}

# named - print FILE LINE OCCURRENCE ORDER TEST of each order in orders.txt.
named() {
  grep '^[^#]' "$here/orders.txt" | while IFS='|' read -r place text order name; do
    file=${place%%:*} nth=${place##*#} function=${place#*:}
    echo "$file $(line_of "$file" "${function%#*}" "$text") $nth $order $name"
  done
}

# try FILE LINE OCCURRENCE ORDER TEST - print one line of the table.  TEST is -: any.
try() {
  dir=$work/weakened
  rm -rf "$dir"
  mkdir -p "$dir/core"
  cp "$src"/*.[ch] "$dir/core"
  weaken "$1" "$2" "$3" "$4" > "$dir/core/$1"
  what="$1:$2:$3 $4"
  if cmp -s "$src/$1" "$dir/core/$1"; then
    printf '%-32s COULD NOT RUN: no such order, %s\n' "$what" "$5"
    return
  fi
  sh "$here/build.sh" "$dir" "$dir/litmus" "$work/litmus" > "$dir/log" 2>&1 || {
    printf '%-32s COULD NOT RUN: %s\n' "$what" "$(tail -n 1 "$dir/log")"
    return
  }
  if [ "$5" = - ]; then
    "$dir/litmus" --quiet --patterns > "$dir/log" 2>&1
  else
    "$dir/litmus" --quiet "$5" > "$dir/log" 2>&1
  fi
  case $? in
    0) printf '%-32s SURVIVED  %s\n' "$what" "$5" ;;
    1) printf '%-32s caught by "%s"%s\n' "$what" \
      "$(sed -n 's/^FAILED: \(.*\)/\1/p' "$dir/log" | head -n 1)" \
      "$(sed -n 's/.*, a race: .*/, a race/p' "$dir/log" | head -n 1)" ;;
    *) printf '%-32s COULD NOT RUN: %s\n' "$what" "$(tail -n 1 "$dir/log")" ;;
  esac
}

mkdir -p "$work"
sh "$here/build.sh" "$top_srcdir/src" "$work/litmus" || exit $?
how=${1-}
[ $# -eq 0 ] || shift
"$work/litmus" "$@"
result "the litmus tests" $?
[ "$status" -eq 0 ] || exit "$status"
case $how in
  --all) places > "$work/places" ;;
  *) named > "$work/places" ;;
esac
if ! grep -q . "$work/places" || grep ' 0 [0-9]* [a-z]* ' "$work/places"; then
  echo "COULD NOT RUN: orders.txt has no orders, or these are not in the sources"
  exit 2
fi
if [ "$how" = --quick ]; then
  exit 0
fi
while read -r file line nth order name; do
  try "$file" "$line" "$nth" "$order" "$name" < /dev/null
done < "$work/places" | tee "$work/table"
caught=$(grep -c ' caught by ' "$work/table")
all=$(wc -l < "$work/places")
[ "$(wc -l < "$work/table")" -eq "$all" ] && ! grep -q ' COULD NOT RUN' "$work/table" || exit 2
[ "$caught" -eq "$all" ] || {
  echo "$all orders weakened: only $caught found"
  exit 1
}
echo "ok: $all orders weakened, and each of them found"

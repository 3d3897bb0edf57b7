#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - check which room (a directory) includes files of which other rooms, and that the units of a room
# include each other without a cycle.  A unit is the files of one name: wait.c and wait.h.  A room may always
# include its own files and public headers.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# In each line a room, and the other rooms or files that it may include.
cat > "$work/rooms" << '_EOF'
src/tools
src/system   src/tools
src/awake    src/system src/tools
src/core     src/awake src/system src/tools
src/shared   src/core src/awake src/system src/tools
src/posix    src/core/fast_path.h src/system src/tools
src/cluster
src/preload  src/core/fast_path.h src/posix src/system src/tools
src/run      src/preload
src/limit    src/run
bench
examples     bench
_EOF

# includes ROOM - print a line "FILE INCLUDED" for each include of a file of the tree.
includes() {
  grep -H '^ *# *include' "$1"/*.[ch] | sed -E 's/: *# *include *[<"]([^>"]*).*/ \1/' | while read -r file header; do
    for path in "$1/$header" "src/$header" "src/core/$header"; do
      [ ! -f "$path" ] || { echo "$file $path" | sed -E -e :a -e 's|[^/ ]+/\.\./||; ta'; break; }
    done
  done
}

# judge TREE - print a line "FAILED: ..." for each fault.
judge() {
  cd "$1" || exit 99
  for room in src/*/; do
    grep -Eq "^${room%/}( |\$)" "$work/rooms" || echo "FAILED: not in the table: $room"
  done
  while read -r room others; do
    includes "$room" > "$work/includes"
    [ -s "$work/includes" ] || echo "FAILED: no includes in $room"
    while read -r file path; do
      case " $room $others include include/fairsem " in
        *" ${path%/*} "* | *" $path "*) ;;
        *) echo "FAILED: $file includes $path" ;;
      esac
    done < "$work/includes"
    grep " $room/[^/]*\$" "$work/includes" | sed -E 's/\.[a-z]*( |$)/\1/g' | tsort 2>&1 > "$work/order" |
      sed 's/^/FAILED: circle: /'
  done < "$work/rooms"
}

if ! (judge "$top_srcdir") > "$work/out" 2> "$work/err" || [ -s "$work/out" ]; then
  fail "the layers"
else
  echo "ok: layers, and no room includes what it may not"
fi

mkdir "$work/tree" && (cd "$top_srcdir" && tar cf - src bench examples) | (cd "$work/tree" && tar xf -) || exit 99
cd "$work/tree" && chmod -R u+w . && rm src/cluster/*.[ch] && mkdir src/new || exit 99
echo '#include "wait.h"' >> src/awake/awake.h
echo '#include "../src/core/wait.h"' >> bench/pin.h
echo '#include "core/fast_path.h"' >> src/limit/names.c
echo '#include "circle_b.h"' > src/core/circle_a.h
echo '#include "circle_a.h"' > src/core/circle_b.c
touch src/core/circle_b.h
(judge "$work/tree") > "$work/found" 2> "$work/err"
for fault in 'src/awake/awake.h includes src/core/wait.h' 'bench/pin.h includes src/core/wait.h' \
  'src/limit/names.c includes src/core/fast_path.h' 'circle: .*circle_a' 'no includes in src/cluster' \
  'not in the table: src/new'; do
  grep -q "^FAILED: $fault" "$work/found" || fail "planted, not found: $fault"
done
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - the files of a room (a directory of src) form layers without cycles, and a room uses only the
# rooms that it may use.
#
# A unit is the files of one name: wait.c, wait.h and their object.  It needs another unit if one of
# its files includes a file of the other, or if its object refers to a symbol that the other's
# object defines.  Its layer is one above the highest layer that it needs in its room.  The script prints
# the layers, lowest first.
#
# The table below says which rooms a room may use.  A room that may use the door may use of the core only
# fast_path.h, the names in it, and these:
#   fs_inside             converts a fairsem_t for the functions of the door
#   fs_signal_hooks, fs_abandon_wait, fs_interrupt_wait   the interposer keeps handlers out of sections
#                         with these, and lets handlers end waits: signals.h
#   fs_forked, fs_retire, fs_reuse   the interposer keeps the memory of semaphores with these, and uses
#                         it again: cells.h
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
beside='fs_inside fs_signal_hooks fs_abandon_wait fs_interrupt_wait fs_forked fs_retire fs_reuse
'

# Room, prefixes of its objects, rooms that it may use, and whether configure lets it have objects.
rooms() {
  sed "$found" << '_EOF'
    src/tools    libcore_la-                           -                    always
    src/system   libcore_la-                           src/tools            always
    src/awake    libcore_la-                           src/system,src/tools always
    src/core     libcore_la-                           src/awake,src/system,src/tools always
    src/shared   libcore_la-                           src/core,src/awake,src/system,src/tools have_shared
    src/posix    libcore_la-                           door,src/system,src/tools always
    src/cluster  libcluster_la-                        -                    have_cluster
    src/preload  fairsem_interpose_la-                 door,src/posix,src/system,src/tools have_interposer
    src/run      fairsem_run-                          src/preload          have_interposer
    src/limit    fairsem_limit-|fairsem_limit_cluster- src/run              have_shared
    bench        bench_fairsem_bench-|fairsem_bench-   peers                always
    examples     .                                     -                    always
_EOF
}
found=$(sed -n 's/^\(have_[a-z]*\) = yes$/s|\1|always|/p' "$top_builddir/Makefile")

# facts ROOT BUILD - print facts about sources and objects:
#   file ROOM PATH   include ROOM PATH PATH   word ROOM PATH NAME   defines|needs ROOM UNIT SYMBOL
facts() {
  rooms | while read -r room objects _ _; do
    (cd "$1" && ls "$room"/*.[ch] "$room"/*.cpp 2> /dev/null) | while read -r file; do
      echo "file $room $file"
      sed -n 's/^# *include *[<"]\([^">]*\)[">].*/\1/p' "$1/$file" | while read -r header; do
        for path in "$room/$header" "src/$header" "src/core/$header"; do
          [ ! -f "$1/$path" ] || { echo "include $room $file $path"; break; }
        done
      done
      # Names in comments do not count.
      sed -e 's|//.*||' -e 's|/\*.*\*/||' -e '/\/\*/,/\*\//d' "$1/$file" |
        grep -oE '\b(fs|FS)_[A-Za-z_0-9]+' | sort -u | sed "s|^|word $room $file |"
    done
    # Libtool makes one or two objects of a source.  Objects of removed sources may be left.
    (cd "$2/$room" 2> /dev/null && find . .libs -maxdepth 1 -name '*.o' 2> /dev/null) |
      grep -E "/($objects)[^/]*\.o\$" | while read -r object; do
      unit=$(echo "${object##*/}" | sed -E "s/^($objects)//; s/\.o\$//")
      [ "$objects" != . ] || unit=$(basename "$object" .o)
      [ -f "$1/$room/$unit.c" ] && nm -P -g "$2/$room/$object" | awk -v of="$room $room/$unit" '
        { print $2 ~ /^[Uvw]$/ ? "needs" : "defines", of, $1 }'
    done
  done | sort -u
}

# judge - read facts; print layers, and FAILED lines.
judge() {
  { rooms | sed 's/^ */room /' && cat; } | awk -v beside="$beside" '
    function unit(path) { sub(/\.[a-z]*$/, "", path); return path }
    function wrong(what) { if (!(what in told)) print "FAILED: " what; told[what]; failures++ }
    function has(list, what) { return index("," list ",", "," what ",") > 0 }
    function door(room, file) {
      return has(may[room], "door") || has(may[room], "peers") && file ~ /\/peer_|fairsem_kinds/
    }
    function need(room, from, to, cause,   of) {
      of = to; sub(/\/[^\/]*$/, "", of)
      if (of == room && from != to) { edge[from, to] = cause; units[from]; units[to] }
      if (of == room || has(may[room], of) || of !~ /^src\//) return
      if (cause ~ /"fast_path.h"/ && door(room, from)) return
      if (of == "src/core" && door(room, from) && cause !~ /"/) return   # see the words
      wrong(from " needs " cause " of " to)
    }
    BEGIN { n = split(beside, names); while (n > 0) free[names[n--]] }
    $1 == "room" { may[$2] = $4; always[$2] = $5; next }
    $1 == "file" { units[unit($3)]; in_room[unit($3)] = $2 }
    $1 == "include" { name = $4; sub(/.*\//, "", name); from[++i] = unit($3); to[i] = unit($4)
                      why[i] = "\"" name "\""; room[i] = $2 }
    $1 == "word" && $2 == "src/core" && $3 ~ /\.h$/ { private[$4] }
    $1 == "word" && $3 == "src/core/fast_path.h" { shown[$4] }
    $1 == "word" && $2 ~ /^src\/(awake|system|tools)$/ { below[$4] }
    $1 == "word" { words[++w] = $0 }
    $1 == "defines" { home[$2, $4] = $3; objects[$2]++; if ($4 ~ /^fs_/) private_home[$4] = $3 }
    $1 == "needs" { needs[++k] = $0; sub(/ other_/, " ", needs[k]) }   # the library once more
    END {
      for (r in always) if (always[r] == "always" && !objects[r]) wrong("no objects in " r)
      for (a = 1; a <= i; a++) need(room[a], from[a], to[a], why[a])
      for (a = 1; a <= k; a++) {
        split(needs[a], f)
        if ((f[2], f[4]) in home) need(f[2], f[3], home[f[2], f[4]], f[4])
        else if (f[4] in private_home) need(f[2], f[3], private_home[f[4]], f[4])
      }
      for (a = 1; a <= w; a++) {
        split(words[a], f)
        if (f[2] ~ /^src\/(core|shared)$/ || f[4] in below || !(f[4] in private) || f[4] in free) continue
        if (f[4] in shown && door(f[2], f[3])) continue
        wrong(f[3] " uses " f[4] ", which is private to src/core")
      }
      for (u in units) layer[u] = 1
      for (rounds = 0; rounds < 60; rounds++) {
        for (e in edge) {
          split(e, f, SUBSEP)
          if (layer[f[1]] <= layer[f[2]]) layer[f[1]] = layer[f[2]] + 1
        }
      }
      for (e in edge) {
        split(e, f, SUBSEP)
        if (layer[f[1]] > 50 && layer[f[2]] > 50)
          wrong("circle: " f[1] " needs " edge[e] " of " f[2])
      }
      for (u in in_room) {
        l = sprintf("%s layer %2d:", in_room[u], layer[u])
        line[l] = line[l] substr(u, length(in_room[u]) + 1)
      }
      for (l in line) { gsub("/", " ", line[l]); print l line[l] | "sort" }
      exit failures > 0
    }'
}

needs nm
mkdir -p "$work/src/core" "$work/src/posix" "$work/bench"
cd "$work" || exit 99
echo 'int fs_low(void);' | tee src/core/fast_path.h > src/core/low.h
echo '#include "low.h"' | tee src/core/high.h src/core/hidden.h > /dev/null
echo '#include "b.h"' > src/core/a.h
echo '#include "a.h"' > src/core/b.h
echo 'int fs_high(void); int fs_low(void) { return fs_high(); }' > src/core/low.c
printf '#include "high.h"\nint fs_high(void) { return fs_low(); }\n' > src/core/high.c
echo 'int fs_secret(void);' >> src/core/hidden.h
printf '#include "hidden.h"\nint sem_first(void) { return fs_secret(); }\n' > src/posix/first.c
for unit in core/low core/high posix/first; do
  # shellcheck disable=SC2086 # a compiler can be several words
  $CC -w -Isrc/core -c "src/$unit.c" -o "src/${unit%/*}/libcore_la-${unit#*/}.o" || exit 99
done
facts . . > planted 2> /dev/null
judge < planted > found && echo "FAILED: nothing found in the planted tree" && exit 1
for fault in 'circle: src/core/low needs fs_high of src/core/high' \
  'circle: src/core/a needs "b.h" of src/core/b' \
  'src/posix/first needs "hidden.h" of src/core/hidden' \
  'src/posix/first.c uses fs_secret, which is private'; do
  grep -q "FAILED: $fault" found || { echo "FAILED: planted, not found: $fault"; exit 1; }
done
cd "$top_builddir" || exit 99
facts "$top_srcdir" "$top_builddir" > "$work/facts"
judge < "$work/facts" && echo "ok: layers, and no room looks where it may not"

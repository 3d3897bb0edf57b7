#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - the files in each of src/, src/shared/, posix/, limit/ and bench/ form layers, without
# circles; and the other directories use src/ only through the public headers.
#
#   layers.sh [DIRECTORY...]    only these directories; the variable LAYERS has the same effect
#
# A unit is the files of one name: wait.c, wait.h and their object.  It needs another unit if
#
#   - one of its files includes a file of the other,
#   - its object refers to a symbol that the other's object defines,
#   - an inline function of its header does: otherwise only the objects of its callers show that.
#     Except if the header chooses between its own implementations.
#
# The layer of a unit is one above the highest layer that it needs.  The script prints the layers,
# lowest first, with a star at each unit in a circle; for a circle also each need and its causes.
#
# posix/, limit/, bench/ and examples/ may use the public headers.  src/ has one more header for
# others, the door: posix/ and the peers in bench/ may use fast_path.h.  Function calls in place of
# its inline functions would double their cost.
# src/shared/ may use src/, but src/ does not need src/shared/.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
if ! command -v nm > /dev/null 2>&1; then
  echo "skipped: there is no nm"
  exit 77
fi
work=$(mktemp -d "$top_builddir/tests/layers.XXXXXX") || exit 99
printf '%s\n' '#include <semaphore.h>' '_Static_assert(sizeof(sem_t) >= 32, "small");' > "$work/probe.c"
# shellcheck disable=SC2086 # a compiler can be several words
if ! ${CC:-cc} -fsyntax-only "$work/probe.c" > "$work/log" 2>&1; then
  rm -rf "$work"
  echo "skipped: a sem_t has no room here for the interposer, whose headers are checked, too"
  exit 77
fi
trap 'rm -rf "$work"' EXIT
status=0

fail() {
  echo "FAILED: $*"
  status=1
}

# Implementations of a header, between which its inline functions choose.
implementations='park_cond=parking park_futex=parking'

# Names from other headers of src/ that users of the door may use, too:
#   fs_inside             converts a fairsem_t for the functions of the door
#   fs_signal_hooks, fs_abandon_wait, fs_interrupt_wait   with them the interposer keeps handlers out of
#                         sections, and lets them end waits: signals.h
#   fs_forked, fs_retire, fs_reuse   the interposer keeps the memory of semaphores, and uses it
#                         again: slots.h
#   fs_fork_exclude       initializes a sem_t at its first use: fork.h
#   FS_FUTEX_BY_DEFAULT   an option of configure; a header has its default
beside_the_door='fs_inside fs_signal_hooks fs_abandon_wait fs_interrupt_wait fs_forked fs_fork_exclude
  fs_retire fs_reuse FS_FUTEX_BY_DEFAULT'

# ---------------------------------------------------------------- facts
# ROOT is a source tree, BUILD the tree with its objects; paths begin with the directory.

# sources ROOT DIRECTORY
sources() {
  for source in "$1/$2"/*.[ch] "$1/$2"/*.cpp; do
    [ ! -f "$source" ] || echo "$2/${source##*/}"
  done
}

# targets DIRECTORY - print the prefix of its objects' names, for each program and library.
targets() {
  case $1 in
    src | src/shared) echo libcore_la- ;;
    posix)
      echo libcore_la-
      grep -q '^#pkglib_LTLIBRARIES = fairsem-interpose' "$top_builddir/Makefile" ||
        echo fairsem_interpose_la- fairsem_run-
      ;;
    limit) echo fairsem_limit- ;;
    bench) echo fairsem_bench- ;;
    examples) echo ./ ;;
  esac
}

# symbols OBJECT... - print "needs OBJECT SYMBOL" and "defines OBJECT SYMBOL"; "weakly" in place of
# "defines" if another definition may replace it.
symbols() {
  nm -A -P -g "$@" > "$work/nm" 2> "$work/log" && awk '{
    sub(/:$/, "", $1)
    print $3 ~ /^[Uvw]$/ ? "needs" : $3 ~ /^[CVWu]$/ ? "weakly" : "defines", $1, $2
  }' "$work/nm"
}

# objects ROOT BUILD DIRECTORY - the same lines with units in place of objects; "missing PATTERN" if
# a target has no objects.  Libtool makes one or two objects of each source.  Objects whose source
# was removed remain in a build, and are ignored.
objects() {
  for target in $(targets "$3"); do
    (
      cd "$2/$3" || exit
      for object in "$target"*.o .libs/"$target"*.o; do
        source=$1/$3/${object##*"$target"}
        [ -f "$object" ] && { [ -f "${source%.o}.c" ] || [ -f "${source%.o}.cpp" ]; } &&
          echo "$object"
      done
    ) > "$work/objects"
    # shellcheck disable=SC2046 # a list
    if [ -s "$work/objects" ] && (cd "$2/$3" && symbols $(cat "$work/objects")) > "$work/symbols"
    then
      sed "s| [^ ]*$target\([^ ]*\)\.o | \1 |" "$work/symbols"
    else
      echo "missing $3/$target*.o"
    fi
  done
}

# inline HEADER OPTION... - print what its inline functions need: the compiler emits all of them.
inline() {
  # shellcheck disable=SC2086 # lists
  ${CC:-cc} -std=c11 -w ${CFLAGS-} -D_GNU_SOURCE -DFAIRSEM_WATCHED_=0 -I"$top_builddir" \
    -D'inline=__attribute__((used))' -c -o "$work/inline.o" -x c "$@" 2> "$work/log" &&
    symbols "$work/inline.o" > "$work/symbols" && sed -n 's/^needs [^ ]* //p' "$work/symbols"
}

# inlines ROOT DIRECTORY - print "inline UNIT SYMBOL"; "alone HEADER" if that does not compile.
inlines() {
  for header in "$1"/include/*.h "$1"/include/*/*.h; do
    [ ! -f "$header" ] || inline -I"$1/include" "$header"
  done > "$work/public"
  sources "$1" "$2" | grep '\.h$' | while read -r header; do
    unit=${header##*/}
    if ! grep -q inline "$1/$header"; then
      continue
    elif inline -I"$1/include" -I"$1/src" -I"$1/$2" "$1/$header" > "$work/needs"; then
      grep -Fvx -f "$work/public" "$work/needs" | sed "s/^/inline ${unit%.h} /"
    else
      echo "alone $header"
    fi
  done
}

# facts_of DIRECTORY - print the name of the file with its facts.
facts_of() {
  echo "$work/facts.$(echo "$1" | tr / _)"
}

# facts ROOT BUILD DIRECTORY - write all of these to $(facts_of DIRECTORY), and
#   source FILE
#   word FILE NAME        a name that begins with fs_ or FS_
#   include FILE FILE     both in this tree
facts() {
  {
    sources "$1" "$3" > "$work/sources"
    sed 's/^/source /' "$work/sources"
    # shellcheck disable=SC2046 # a list
    (cd "$1" && awk '
      FNR == 1 { comment = 0 }
      /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
        split($0, part, /[<">]/)
        print "include", FILENAME, part[2]
      }
      {
        sub(/\/\/.*/, "")
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ")
        if (comment && !sub(/.*\*\//, "")) next
        comment = sub(/\/\*.*/, "")
        while (match($0, /[A-Za-z_][A-Za-z_0-9]*/)) {
          word = substr($0, RSTART, RLENGTH)
          $0 = substr($0, RSTART + RLENGTH)
          if (word ~ /^(fs|FS)_/) print "word", FILENAME, word
        }
      }' $(cat "$work/sources") /dev/null) | sort -u | while read -r fact file name; do
      case $fact-$name in
        include-../*) path=${name#../} ;;
        include-*) path=$3/$name ;;
        *) echo "$fact $file $name" && continue ;;
      esac
      [ -f "$1/$path" ] || path=src/$name
      [ ! -f "$1/$path" ] || echo "include $file $path"
    done
    inlines "$1" "$3"
    objects "$1" "$2" "$3" | sort -u
  } > "$(facts_of "$3")"
}

# ---------------------------------------------------------------- layers
# layers DIRECTORY - print them; false if anything is wrong, such as a circle.
layers() {
  awk -v directory="$1" -v implementations="$implementations" '
    function file(path) { sub(/.*\//, "", path); return path }
    function unit(path) { path = file(path); sub(/\.[a-z]*$/, "", path); return path }
    function need(from, to, cause) {
      if (from == to || (from, to, cause) in known) return
      if (cause ~ / \(inline\)$/ && chosen_by[to] == from) return
      known[from, to, cause]
      why[from, to] = why[from, to] (why[from, to] == "" ? "" : ", ") cause
      reach[from, to]
      needs++
    }
    function wrong(what) {
      print "FAILED: " directory "/: " what
      failures++
    }
    BEGIN {
      for (n = split(implementations, pairs); n > 0; n--) {
        split(pairs[n], pair, /=/)
        chosen_by[pair[1]] = pair[2]
      }
    }
    $1 == "source" && !(unit($2) in is_unit) { name[++n] = unit($2); is_unit[name[n]] }
    $1 == "source" && !/\.h$/ { compiled[++compilations] = unit($2) }
    $1 == "include" && index($3, directory "/") == 1 {
      need(unit($2), unit($3), "\"" file($3) "\"")
      included[$2, ++inclusions[$2]] = unit($3)
    }
    $1 == "defines" { strong[$3, ++strongs[$3]] = $2 }
    $1 == "weakly" { weak[$3, ++weaks[$3]] = $2 }
    $1 == "defines" || $1 == "weakly" { has_symbols[$2]; symbols++ }
    $1 == "needs" || $1 == "inline" { user[++uses] = $2; used[uses] = $3; how[uses] = $1 }
    $1 == "inline" { inline[$2, $3] }
    $1 == "missing" { wrong("no objects that nm reads: " $2) }
    $1 == "alone" { wrong($2 " cannot be compiled alone") }
    END {
      for (u = 1; u <= uses; u++) {
        symbol = used[u]
        cause = symbol
        if (how[u] == "inline") {
          # A need that comes from an included header belongs to that header.
          header = directory "/" user[u] ".h"
          for (i = 1; i <= inclusions[header]; i++)
            if ((included[header, i], symbol) in inline) break
          if (i <= inclusions[header]) continue
          cause = symbol " (inline)"
        }
        for (i = 1; i <= strongs[symbol]; i++) need(user[u], strong[symbol, i], cause)
        for (i = 1; !strongs[symbol] && i <= weaks[symbol]; i++)
          need(user[u], weak[symbol, i], cause)
      }
      if (!symbols) wrong("the objects have no symbols")
      if (!needs) wrong("no unit needs another")

      # Needs are transitive.  Units that need each other are a circle.
      for (via = 1; via <= n; via++)
        for (a = 1; a <= n; a++)
          for (b = 1; (name[a], name[via]) in reach && b <= n; b++)
            if ((name[via], name[b]) in reach) reach[name[a], name[b]]
      do {
        changed = 0
        for (a = 1; a <= n; a++)
          for (b = 1; b <= n; b++) {
            if (!((name[a], name[b]) in reach)) continue
            least = layer[b] + ((name[b], name[a]) in reach ? 0 : 1)
            if (layer[a] < least) { layer[a] = least; changed = 1 }
          }
      } while (changed)

      for (l = 0; printed < n; l++) {
        line = sprintf("%s/ layer %2d:", directory, l + 1)
        for (a = 1; a <= n; a++)
          if (layer[a] == l) {
            printed++
            line = line " " name[a] ((name[a], name[a]) in reach ? "*" : "")
          }
        print line
      }
      line = ""
      for (c = 1; c <= compilations; c++)
        if (!(compiled[c] in has_symbols)) line = line " " compiled[c]
      if (line != "") print directory "/ only by their includes, without an object here:" line

      for (a = 1; a <= n; a++) {
        if (!((name[a], name[a]) in reach) || a in shown) continue
        members = lines = ""
        for (b = a; b <= n; b++) {
          if (!((name[a], name[b]) in reach && (name[b], name[a]) in reach)) continue
          shown[b]
          members = members " " name[b]
          for (c = 1; c <= n; c++)
            if ((name[b], name[c]) in why && (name[c], name[b]) in reach)
              lines = lines "\n  " name[b] " needs " name[c] ": " why[name[b], name[c]]
        }
        wrong("a circle:" members lines)
      }
      exit failures > 0
    }' "$(facts_of "$1")"
}

# below LOWER UPPER - true if the lower directory does not need the upper one.
below() {
  awk -v lower="$1" -v upper="$2" '
    function wrong(what) {
      print "FAILED: " what
      failures++
    }
    above && /^(defines|weakly)/ { upper_symbol[$3]; symbols++ }
    above { next }
    $1 == "include" && index($3, upper "/") == 1 { wrong($2 " includes " $3) }
    $1 == "needs" && $3 in upper_symbol { wrong(lower "/" $2 " needs " $3 " of " upper "/") }
    END {
      if (!symbols) wrong("the objects of " upper "/ have no symbols")
      exit failures > 0
    }' above=1 "$(facts_of "$2")" above=0 "$(facts_of "$1")"
}

# ---------------------------------------------------------------- the public headers
# sees DIRECTORY - print what it uses of src/ but must not; false if there is anything.
sees() {
  awk -v directory="$1" -v beside="$beside_the_door" '
    function wrong(what) {
      print "FAILED: " what
      failures++
    }
    function may_use_door(file) {
      return directory == "posix" || file ~ /^bench\/peer_/
    }
    BEGIN {
      door = "src/core/fast_path.h"
      for (n = split(beside, names); n > 0; n--) free[names[n]]
    }
    inside && /^word [^ ]*\.h / { private_word[$3] }
    inside && $1 == "word" && $2 == door { door_word[$3] }
    inside && /^(defines|weakly)/ && $3 !~ /^fairsem_/ { private[$3]; privates++ }
    inside { next }
    $1 == "word" && $3 in private_word && !($3 in free || $3 in door_word && may_use_door($2)) {
      wrong($2 " uses " $3 ", which is private to src/")
    }
    $1 == "include" && index($3, "src/") == 1 && !($3 == door && may_use_door($2)) {
      wrong($2 " includes " $3)
    }
    $1 == "needs" {
      sub(/^other_/, "", $3)    # a second copy of the library, under other names
      if ($3 in private && !($3 in free)) wrong(directory "/" $2 " needs " $3 " of src/")
      needs++
    }
    $1 == "missing" { wrong("no objects that nm reads: " $2) }
    END {
      if (!privates) wrong("the objects of src/ have no symbols")
      if (!needs) wrong("the objects of " directory "/ have no symbols")
      exit failures > 0
    }' inside=1 "$work/facts.src" inside=0 "$work/facts.$1"
}

# ---------------------------------------------------------------- the checks find seeded faults
# plant - a tree with two units, high above low; a peer that uses the door; an example.
plant() {
  tree=$work/tree
  rm -rf "$tree"
  mkdir -p "$tree/src" "$tree/bench" "$tree/examples" || exit 99
  cat > "$tree/src/inner.h" << '_EOF'
#ifndef INNER_H
#define INNER_H
#define FS_HIDDEN 1
struct fs_sem { int count; };
int fs_lock(struct fs_sem *s);
#endif
_EOF
  cat > "$tree/src/inner.c" << '_EOF'
#include "inner.h"
int fs_lock(struct fs_sem *s) { return s->count; }
_EOF
  cat > "$tree/src/core/fast_path.h" << '_EOF'
#include "inner.h"
static inline int fs_take_fast(struct fs_sem *s) { return s->count--; }
_EOF
  cat > "$tree/bench/peer_fairsem.h" << '_EOF'
#include "fast_path.h"
static inline int peer_take(struct fs_sem *s) { return fs_take_fast(s); }
_EOF
  echo 'int low(void);' > "$tree/bench/low.h"
  echo 'int high(void);' > "$tree/bench/high.h"
  echo 'int low(void); int low(void) { return 0; }' > "$tree/bench/low.c"
  echo 'int low(void); int high(void); int high(void) { return low(); }' > "$tree/bench/high.c"
  echo 'int one(void); int main(void) { return one(); }' > "$tree/examples/one.c"
}

# compile SOURCE OBJECT
compile() {
  # shellcheck disable=SC2086 # lists
  ${CC:-cc} -std=c11 -w ${CFLAGS-} -I"$tree/src" -c "$tree/$1" -o "$tree/$2" > "$work/log" 2>&1 ||
    { cat "$work/log" && fail "a planted file does not compile"; }
}

# look - build the tree and collect its facts.
look() {
  compile src/inner.c src/libcore_la-inner.o
  compile bench/low.c bench/fairsem_bench-low.o
  compile bench/high.c bench/fairsem_bench-high.o
  compile examples/one.c examples/one.o
  for directory in src bench examples; do
    facts "$tree" "$tree" "$directory"
  done
}

# finds WHAT COMMAND DIRECTORY - the command fails, and prints WHAT.
finds() {
  if "$2" "$3" > "$work/output"; then
    fail "planted and not found: $1"
  elif ! grep -Fq "$1" "$work/output"; then
    cat "$work/output"
    fail "planted, and something else found: $1"
  else
    finds=$((finds + 1))
  fi
}

# below, with the arguments that `finds` gives.
below_examples() {
  below "$1" examples
}

finds=0
plant
look
if [ "$status" -eq 0 ] && ! grep -q '^defines low _*low$' "$work/facts.bench"; then
  echo "skipped: nm does not read the objects of ${CC:-cc} ${CFLAGS-}"
  exit 77
fi
layers bench > "$work/output"
cat > "$work/expected" << '_EOF'
bench/ layer  1: low peer_fairsem
bench/ layer  2: high
_EOF
diff "$work/expected" "$work/output" || fail "the layers of the planted tree are wrong"
sees bench || fail "a finding, but no fault is planted yet"
sees examples || fail "a finding, but no fault is planted yet"

plant
cat > "$tree/bench/low.c" << '_EOF'
int high(void) __attribute__((weak));
int datum = 1;
int low(void) { return high ? high() : 0; }
_EOF
echo 'extern int datum; int high(void) { return datum; }' > "$tree/bench/high.c"
look
finds 'low needs high: high' layers bench
finds 'high needs low: datum' layers bench

plant
echo '#include "high.h"' >> "$tree/bench/low.h"
echo '#include "low.h"' >> "$tree/bench/high.c"
look
finds 'low needs high: "high.h"' layers bench

plant
echo 'int high(void); static inline int twice(void) { return 2 * high(); }' >> "$tree/bench/low.h"
look
finds 'low needs high: high (inline)' layers bench

plant
echo '#include "../src/inner.h"' >> "$tree/bench/low.h"
echo '#include <fast_path.h>' >> "$tree/bench/high.c"
echo '#include "fast_path.h"' >> "$tree/examples/one.c"
echo 'int both(void *s) { return fs_lock(s); }' >> "$tree/bench/low.c"
echo 'int three[FS_HIDDEN];' >> "$tree/bench/peer_fairsem.h"
look
finds 'bench/low.h includes src/inner.h' sees bench
finds 'bench/high.c includes src/core/fast_path.h' sees bench
finds 'examples/one.c includes src/core/fast_path.h' sees examples
finds 'bench/low needs fs_lock of src/' sees bench
finds 'bench/peer_fairsem.h uses FS_HIDDEN' sees bench

plant
echo '#include "../examples/one.h"' >> "$tree/bench/low.h"
echo 'int one(void);' > "$tree/examples/one.h"
echo 'int one(void); int one(void) { return 1; }' > "$tree/examples/one.c"
echo 'int one(void); int low(void); int low(void) { return one(); }' > "$tree/bench/low.c"
look
finds 'bench/low.h includes examples/one.h' below_examples bench
finds 'bench/low needs one of examples/' below_examples bench

plant
echo > "$tree/bench/low.c"
echo > "$tree/bench/high.c"
look
finds 'the objects have no symbols' layers bench
mv "$tree/bench"/*.c "$tree/examples"
facts "$tree" "$tree" bench
finds 'no objects that nm reads: bench/' layers bench
[ "$status" -ne 0 ] || echo "ok: found all $finds planted faults"

# ---------------------------------------------------------------- the tree itself
# fairsem-limit is not built on every system.
limit=limit
grep -q '^am__append_[0-9]* = fairsem-limit' "$top_builddir/Makefile" || limit=
for directory in src/core src/shared posix $limit bench examples; do
  facts "$top_srcdir" "$top_builddir" "$directory"
done
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- ${LAYERS:-src/core src/shared posix $limit bench}
for directory; do
  if layers "$directory"; then
    echo "ok: $directory/ has layers"
  else
    status=1
  fi
done
if below src/core src/shared; then
  echo "ok: src/ does not need src/shared/"
else
  status=1
fi
for directory in posix $limit bench examples; do
  if sees "$directory"; then
    echo "ok: $directory/ uses only the public headers, and the door where it may"
  else
    status=1
  fi
done
exit "$status"

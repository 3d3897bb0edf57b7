#!/bin/sh
# SPDX-License-Identifier: MIT
# relacy.sh - the word's fast path and SLOW under another checker, Relacy: relacy.cpp.
#
# It takes the text of the functions out of src/core.  Then it weakens an order in each of them, or
# takes out a check of SLOW, and Relacy must find that.  Exit status 1: it finds something in the
# sources as they are, or nothing in one that was changed; 2: could not run; 77: no Relacy, no C++.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$(cd "$here/../../.." && pwd)}" "${CXX:=c++}"
src=$(cd "$top_srcdir/src/core" && pwd)
work=$PWD/tests/search/litmus/relacy
. "$top_srcdir/tests/support/result.sh"

rm -rf "$work"
mkdir -p "$work"
echo '#include <relacy/relacy.hpp>' > "$work/probe.cpp"
if ! $CXX -std=c++11 -w -fsyntax-only "$work/probe.cpp" > "$work/log" 2>&1; then
  skip "there is no Relacy that $CXX can compile (Debian: relacy-dev)"
fi

# function NAME FILE - the text of a function, from its first line to its last.
function_of() {
  awk -v name="$1" '
    !inside && index($0, "static inline") == 1 && index($0, name "(") > 0 { inside = 1 }
    inside { print } inside && /^}/ { exit }' "$src/$2"
}

{
  function_of fs_word_available word.h | grep -v static_assert
  function_of fs_acquire_fast fast_path.h
  function_of fs_release_fast fast_path.h
} > "$work/word.inc"
awk '/^int64_t fs_lock\(/ { here = 1 } here && /word = atomic_load/ { on = 1 }
  on && /^}/ { exit } on' "$src/section.c" > "$work/enter.inc"
awk '/^void fs_grant_and_unlock\(/ { here = 1 } here && /atomic_store_explicit\(&s->word/ { on = 1 }
  on { print } on && /;$/ { exit }' "$src/section.c" > "$work/leave.inc"

# search DIRECTORY - its exit status is that of the search.
search() {
  # Relacy is from 2019; its warnings are its own.
  # shellcheck disable=SC2086
  $CXX -std=c++11 -O2 -w -I"$1" "$here/relacy.cpp" -o "$1/search" > "$1/log" 2>&1 || return 2
  limited "$1/search" > "$1/log" 2>&1
}

search "$work"
ended=$?
tail -n 1 "$work/log"
[ "$ended" -ne 1 ] || exit 1
[ "$ended" -eq 0 ] || exit 2

# What is changed: a file, and how.
while IFS='|' read -r file change what; do
  dir=$work/changed
  rm -rf "$dir"
  mkdir -p "$dir"
  cp "$work"/*.inc "$dir"
  sed "$change" "$work/$file" > "$dir/$file"
  if cmp -s "$work/$file" "$dir/$file"; then
    echo "COULD NOT RUN: $what: changes nothing"
    exit 2
  fi
  search "$dir"
  case $? in
    0) echo "SURVIVED: $what" && status=1 ;;
    1) echo "found: $what: $(sed -n 's/^FOUND: //p' "$dir/log")" ;;
    *) echo "COULD NOT RUN: $what: $(tail -n 1 "$dir/log")" && exit 2 ;;
  esac
done << 'END'
word.inc|/fs_acquire_fast/,/^}/s/order_acquire/order_relaxed/|the acquire of fs_acquire_fast
word.inc|/fs_release_fast/,/^}/s/order_acq_rel/order_relaxed/|the release of fs_release_fast
enter.inc|s/memory_order_acquire/memory_order_relaxed/|the acquire of fs_lock
leave.inc|s/memory_order_release/memory_order_relaxed/|the release of fs_grant_and_unlock
word.inc|/fs_acquire_fast/,/^}/s/(word & FS_SLOW) == 0 && //|fs_acquire_fast does not look at SLOW
word.inc|/fs_release_fast/,/^}/s/(word & FS_SLOW) == 0 && //|fs_release_fast does not look at SLOW
enter.inc|s/if ((word & FS_SLOW) == 0)/if (false)/|fs_lock does not set SLOW
leave.inc|s/slow ? FS_SLOW : 0/0/|SLOW is clear while a thread waits
END
exit "$status"

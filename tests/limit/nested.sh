#!/bin/sh
# SPDX-License-Identifier: MIT
# nested.sh - a command inside a command of the same name runs in its place, and does not wait for
# itself; and what only looks like one waits in line.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"
segment=$FAIRSEM_LIMIT_DIR/fairsem-limit-$(id -u).$name

for outer in '' --exec; do
  for inner in '' --exec; do
    # shellcheck disable=SC2086 # no word, or one
    gives 6 "inside${outer:+, outer $outer}${inner:+, inner $inner}" $outer "$name" 1 -- \
      "$limit" $inner -w 0 "$name" 1 -- sh -c 'exit 6'
  done
  # shellcheck disable=SC2086,SC2016
  gives 0 "below a shell${outer:+, outer $outer}" $outer "$name" 1 -- \
    sh -c '"$1" -w 0 "$2" 1 -- sh -c "exit 0" && exit 0' sh "$limit" "$name"
  # shellcheck disable=SC2086
  gives 0 "three deep${outer:+, outer $outer}" $outer "$name" 1 -- "$limit" -w 0 "$name" 1 -- \
    "$limit" -w 0 "$name" 1 -- true
  # shellcheck disable=SC2086
  gives 0 "it takes no more units${outer:+, outer $outer}" $outer -n 2 "$name" 3 -- \
    "$limit" "$name" 3 -- "$limit" --status "$name"
  grep -q 'limit 3, free 1, running 1, waiting 0' "$work/out" || fail "status: $(cat "$work/out")"
  # shellcheck disable=SC2086
  gives 125 "more than the outer one has${outer:+, outer $outer}" $outer "$name" 3 -- \
    "$limit" -n 2 "$name" 3 -- true
  says 'an outer command has 1 of the units, and this one asks for 2'
  gives 0 "all units are back" -w "$hang" -n 3 "$name" 3 -- true
done
gives 0 "two names, each inside the other one" "$name" 1 -- "$limit" -w 0 "$name-b" 1 -- \
  "$limit" -w 0 "$name" 1 -- "$limit" -w 0 "$name-b" 1 -- true
gives 125 "another limit inside" "$name" 1 -- "$limit" -w 0 "$name" 2 -- true
says 'the limit is 1, not 2'
gives 124 "a global name is another name" --global "$name" 1 -- "$limit" "$name" 1 -- \
  env -u FAIRSEM_LIMIT_HELD "$limit" -w 0 --global "$name" 1 -- true

# ---------------------------------------------------------------- what only looks like one
gives 124 "without the variable" "$name" 1 -- env -u FAIRSEM_LIMIT_HELD "$limit" -w 0 "$name" 1 -- true
hold
# looks_like ENTRIES WHAT - such a variable does not help while another process holds the unit.
looks_like() {
  FAIRSEM_LIMIT_HELD=$1 gives 124 "$2" -w 0 "$name" 1 -- touch "$work/two-at-a-time"
}
looks_like "$segment=$holder:1" "a holder that is no ancestor"
looks_like "$segment=$$:1" "an ancestor that holds nothing"
looks_like "$segment=1:1" "the first process"
looks_like "$segment=0:1" "no process"
looks_like "$segment=-1:1" "a negative process"
looks_like "$segment" "an entry without a process"
looks_like "$segment=" "an empty entry"
looks_like "$segment=$$:1 $segment=$holder:1 = == :" "several entries"
looks_like "$(printf '%020000d' 0)" "a long text"
[ ! -e "$work/two-at-a-time" ] || fail "two ran where one was allowed"

# An entry is from a time at which the process was another one: with our own process ID, which holds
# nothing.
# shellcheck disable=SC2016
sh -c 'FAIRSEM_LIMIT_HELD="$1=$$:1" exec "$2" -w 0 "$3" 1 -- true' sh "$segment" "$limit" "$name"
[ $? -eq 124 ] || fail "an entry with our own process ID"
let_go

# Left behind by a command that has ended: it waits, and then has a place of its own.
# shellcheck disable=SC2016
"$limit" "$name" 1 -- sh -c 'mkfifo "$1"; (read -r line < "$1"; "$2" "$3" 1 -- "$2" --status "$3") \
  > "$4" 2>&1 &' sh "$work/left" "$limit" "$name" "$work/result"
hold
echo > "$work/left"
await "the process that was left behind" shows 'waiting 1'
let_go
await "its end" grep -q 'free 0, running 1' "$work/result"
exit "$status"

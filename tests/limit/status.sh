#!/bin/sh
# SPDX-License-Identifier: MIT
# status.sh - what fairsem-limit --status says, as a table and as JSON.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"

# ---------------------------------------------------------------- JSON
gives 125 "neither a table nor JSON" --status=xml
gives 0 "JSON of a name that nobody uses" --status=json "$name"
[ "$(cat "$work/out")" = "{\"names\": [{\"name\": \"$name\", \"global\": false, \"limit\": 1, \"free\": 1, \"users\": []}]}" ] ||
  fail "JSON of a name that nobody uses: $(cat "$work/out")"
gives 125 "JSON of a name that does not exist" --status=json "$name-none"
[ "$(cat "$work/out")" = '{"names": []}' ] || fail "JSON without a name: $(cat "$work/out")"
"$limit" --global "$name" 5 -- true
if has python3; then
  hold
  "$limit" -p -3 -w 100000 "$name" 1 -- printf '%s' "$(printf '"\\\n\377\303\274')" > "$work/printed" &
  next=$!
  await "a waiter" shows 'waiting 1'
  gives 0 "JSON of all names" --status=json
  python3 -m json.tool < "$work/out" > "$work/json" || fail "it is no JSON"
  [ "$(wc -l < "$work/out")" -eq 1 ] || fail "it is not one line"
  python3 - "$work/out" "$name" "$holder" "$next" << '_EOF' || fail "JSON: $(cat "$work/out")"
import datetime, json, sys

path, name, holder, waiter = sys.argv[1:]
names = json.load(open(path, encoding="utf-8"))["names"]
own, everybody = sorted(names, key=lambda name: name["global"])
assert own["name"] == name == everybody["name"], "name"
assert own["limit"] == 1 and own["free"] == 0, "limit"
assert everybody["limit"] == 5 and everybody["free"] == 5 and everybody["users"] == [], "global"
runs, waits = own["users"]
assert runs["pid"] == runs["local_pid"] == int(holder), "pid"
assert waits["pid"] == waits["local_pid"] == int(waiter), "pid"
assert runs["place"] == 0 and waits["place"] == 1, "place"
assert waits["priority"] == -3 and waits["units"] == 1, "units, priority"
assert waits["command"] == ('printf %s "\\\n\ufffd\u00fc'), "command"
since = datetime.datetime.strptime(runs["since"] + "+0000", "%Y-%m-%dT%H:%M:%SZ%z").timestamp()
now = datetime.datetime.now().timestamp()
assert 0 <= runs["seconds"] < 100000 and abs(now - since) < 100000, "since"
_EOF
  # One document per line each second.
  "$limit" --watch --status=json "$name" > "$work/watched" &
  watcher=$!
  # shellcheck disable=SC2317 # await calls it
  has_two() { [ "$(wc -l < "$work/watched")" -ge 2 ]; }
  await "two documents" has_two
  kill "$watcher"
  head -n 2 "$work/watched" | while read -r line; do
    echo "$line" | python3 -m json.tool > "$work/json" || exit 1
  done || fail "--watch: a line is no document"
  let_go
  wait "$next"
else
  not_tried "JSON, without python3"
fi


# ---------------------------------------------------------------- another PID namespace
for own_pids in 'unshare --pid --fork' 'unshare --user --map-current-user --pid --fork' ''; do
  [ -z "$own_pids" ] || ! $own_pids true 2> /dev/null || break
done
if [ -n "$own_pids" ]; then
  rm -f "$work/gate" && mkfifo "$work/gate"
  # shellcheck disable=SC2016
  $own_pids sh -c '"$1" "$2" 1 -- sh -c "read -r line < \"\$1\"" inner "$3"; true' sh "$limit" \
    "$name" "$work/gate" &
  holder=$!
  await "a holder in another namespace" shows 'running 1'
  shows 'running  *2 .*(here [0-9]*) .*inner' || fail "a process of a namespace inside of ours"
  # shellcheck disable=SC2016
  $own_pids sh -c '"$1" --status "$2"; "$1" --status=json "$2"; true' sh "$limit" "$name" > "$work/out"
  grep -q 'running  *2 .*(in another PID namespace)$' "$work/out" || fail "a process outside: $(cat "$work/out")"
  grep -q '"pid": 2, "local_pid": 0, .*"command": null}' "$work/out" ||
    fail "a process outside, as JSON: $(cat "$work/out")"
  # A command there does not take process 2 of its own namespace for the holder.
  # shellcheck disable=SC2016
  $own_pids sh -c 'sh -c "FAIRSEM_LIMIT_HELD=$3=2:1 exec \"\$@\"" sh "$1" -w 0 "$2" 1 -- true' sh "$limit" \
    "$name" "$FAIRSEM_LIMIT_DIR/fairsem-limit-$(id -u).$name"
  [ $? -eq 124 ] || fail "a process with the same number in another namespace holds units"
  let_go
else
  echo "not here: another PID namespace"
fi
exit "$status"

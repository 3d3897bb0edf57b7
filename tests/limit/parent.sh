#!/bin/sh
# SPDX-License-Identifier: MIT
# parent.sh - fairsem-limit as the parent of its command, and as the command itself: who holds the
# unit, until when, and who gets which signal.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"

# ---------------------------------------------------------------- the parent
# SIGCHLD is ignored, and a parent must wait for its child.  (Some shells do not ignore it for a
# trap.)
ignored='^SigIgn:.*[13579bdf]....$'
if env --ignore-signal=CHLD grep -q "$ignored" /proc/self/status 2> /dev/null; then
  env --ignore-signal=CHLD "$limit" "$name" 1 -- grep -q "$ignored" /proc/self/status ||
    fail "the command does not ignore what fairsem-limit ignores"
else
  not_tried "SIGCHLD ignored, without env --ignore-signal"
fi
# shellcheck disable=SC2016
"$limit" "$name" 1 -- sh -c 'trap "exit 9" USR1; echo > "$1"
  while :; do sleep 0.05; done' sh "$work/ready" &
parent=$!
await "a command with a trap" test -s "$work/ready"
gives 124 "the command has the unit" -w 0 "$name" 1 -- true
kill -USR1 "$parent"
wait "$parent"
[ $? -eq 9 ] || fail "no signal arrives"
# shellcheck disable=SC2016
"$limit" "$name" 1 -- sh -c 'echo $$ > "$1.new"; mv "$1.new" "$1"; exec sleep 100000' sh \
  "$work/child" &
parent=$!
await "a command" test -s "$work/child"
kill -KILL "$parent"
wait "$parent" 2> /dev/null
# shellcheck disable=SC2317 # await calls it
gone() {
  ! kill -0 "$1" 2> /dev/null || grep -q '^State:.Z' "/proc/$1/status"
}
await "the command to end with its parent" gone "$(cat "$work/child")"
gives 0 "the unit of a parent that was killed is back" -w "$hang" "$name" 1 -- true

# A command that closes all descriptors, as ssh and daemons do, has its unit all the same.
# shellcheck disable=SC2016
closes='i=3; while [ $i -lt 256 ]; do eval "exec $i>&-"; i=$((i + 1)); done
  echo > "$2"; read -r line < "$1"'
rm -f "$work/gate" && mkfifo "$work/gate"
bash=$(command -v bash || echo sh)
"$limit" "$name" 1 -- "$bash" -c "$closes" sh "$work/gate" "$work/closed" &
holder=$!
await "a command that closes descriptors" test -s "$work/closed"
gives 124 "a command that closes descriptors keeps its unit" -w 0 "$name" 1 -- true
let_go
# It has no descriptors of fairsem-limit.
"$limit" "$name" 1 -- ls /proc/self/fd > "$work/out" 2> "$work/err"
ls /proc/self/fd > "$work/without" 2> "$work/err"
[ "$(wc -l < "$work/out")" -eq "$(wc -l < "$work/without")" ] ||
  fail "descriptors of fairsem-limit in the command: $(cat "$work/out")"
gives 0 "--fork is what happens anyway" --fork "$name" 1 -- true

# It tells at once, before it waits, that there is no such command.
hold
gives 127 "no such command, while another one runs" -w 0 "$name" 1 -- "$work/none"
says "$work/none: No such file"
PATH=/usr/bin:/bin gives 127 "no such command in PATH" -w 0 "$name" 1 -- no-such-command-anywhere
gives 127 "a command without a name" -w 0 "$name" 1 -- ''
echo true > "$work/text"
gives 126 "a file that cannot be executed" -w 0 "$name" 1 -- "$work/text"
says "$work/text: Permission denied"
gives 126 "a directory" -w 0 "$name" 1 -- "$work"
shows 'waiting 0' || fail "it waits for a command that cannot run"
mkdir "$work/first" "$work/second"
: > "$work/first/found-later"
printf '#!/bin/sh\nexit 5\n' > "$work/second/found-later"
chmod +x "$work/second/found-later"
PATH=$work/first gives 126 "only one that cannot be executed is in PATH" -w 0 "$name" 1 -- found-later
let_go
PATH=$work/first:$work/second:$PATH gives 5 "the first that can be executed" "$name" 1 -- found-later
(cd "$work/second" && PATH=:/none "$limit" "$name" 1 -- found-later)
[ $? -eq 5 ] || fail "an empty name in PATH is not the current directory"
printf 'exit 6\n' > "$work/second/plain"
chmod +x "$work/second/plain"
PATH=$work/second:$PATH gives 6 "a script without a first line" "$name" 1 -- plain

# ---------------------------------------------------------------- --exec
# shellcheck disable=SC2016 # for the shell inside
"$limit" --exec "$name" 1 -- sh -c 'echo $$' > "$work/pid" &
own=$!
wait "$own"
[ "$(cat "$work/pid")" = "$own" ] || fail "--exec: the command has another process ID"
gives 7 "--exec: the exit status" --exec "$name" 1 -- sh -c 'exit 7'
# shellcheck disable=SC2016
(exec "$limit" --exec "$name" 1 -- sh -c 'kill -TERM $$') 2> /dev/null
[ $? -eq 143 ] || fail "--exec: a signal that kills the command does not show"

# It has no descriptors that fairsem-limit has opened, except for the unit.
"$limit" --exec "$name" 1 -- ls -l /proc/self/fd > "$work/out" 2> "$work/err"
ls -l /proc/self/fd > "$work/without" 2> "$work/err"
[ "$(grep -c '/dev/null$' "$work/out")" -eq "$(grep -c '/dev/null$' "$work/without")" ] ||
  fail "--exec: descriptors of fairsem-limit in the command: $(cat "$work/out")"

rm -f "$work/gate" && mkfifo "$work/gate"
# shellcheck disable=SC2016
"$limit" --exec "$name" 1 -- sh -c 'exec 3> "$2" 4>&3 5>&3 6>&3 7>&3 8>&3 9>&3 3>&- 4>&- 5>&- 6>&-
  echo > "$2"; read -r line < "$1"' sh "$work/gate" "$work/taken" &
holder=$!
await "a script" test -s "$work/taken"
shows 'running 1' || fail "a script that opens descriptors loses its unit"
let_go

rm -f "$work/gate" && mkfifo "$work/gate"
# shellcheck disable=SC2016
"$limit" --exec "$name" 1 -- sh -c 'read -r line < "$1"' sh "$work/gate" &
holder=$!
await "a holder" shows 'running 1'
"$limit" --exec "$name" 1 -- touch "$work/next" &
next=$!
await "the next waiter" shows 'waiting 1'
kill -KILL "$holder"
wait "$next" || fail "--exec: the waiter behind a killed holder fails"
[ -e "$work/next" ] || fail "--exec: the waiter behind a killed holder did not run"
# ---------------------------------------------------------------- as the first process of a container
for own_pids in 'unshare --pid --fork --mount-proc' 'unshare --user --map-root-user --pid --fork --mount-proc' ''; do
  [ -z "$own_pids" ] || ! $own_pids true 2> /dev/null || break
done
if [ -n "$own_pids" ]; then
  # A process whose parent has died is its child then, and is a zombie until it is waited for.
  # shellcheck disable=SC2016
  $own_pids "$limit" "$name" 1 -- sh -c 'sh -c "true & echo \$! > \"\$1\"" sh "$1"
    while [ -e "/proc/$(cat "$1")" ]; do sleep 0.02; done' sh "$work/orphan" || fail "an orphan in a container"
else
  echo "not here: another PID namespace"
fi
exit "$status"

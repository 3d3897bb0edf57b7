#!/bin/sh
# SPDX-License-Identifier: MIT
# limit.sh - fairsem-limit runs at most LIMIT commands at a time, in order of arrival, and the units
# of a command that dies come back.
#
# Nothing here depends on the speed of the machine: the test waits until --status shows a waiter.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"

# ---------------------------------------------------------------- the command
gives 7 "the exit status is the command's" "$name" 1 -- sh -c 'exit 7'
gives 0 "arguments arrive as they are" "$name" 1 -- printf '%s|' 'a  b' '' '*' --status
[ "$(cat "$work/out")" = 'a  b||*|--status|' ] || fail "arguments: $(cat "$work/out")"
gives 0 "the -- may be missing" "$name" 1 true
gives 0 "options of the command need no --" "$name" 1 printf '%s|' --status
[ "$(cat "$work/out")" = '--status|' ] || fail "options of the command: $(cat "$work/out")"
gives 127 "no such command" "$name" 1 -- "$work/none"
gives 126 "a command that cannot be run" "$name" 1 -- "$work"
[ "$(echo text | "$limit" "$name" 1 -- cat)" = text ] || fail "standard input"
# shellcheck disable=SC2016 # for the shell inside
(exec "$limit" "$name" 1 -- sh -c 'kill -TERM $$') 2> /dev/null
[ $? -eq 143 ] || fail "a signal that kills the command does not show"

# ---------------------------------------------------------------- errors of its own
gives 125 "no arguments"
gives 125 "no command" "$name" 1 --
gives 125 "no number" "$name" one -- true
gives 125 "limit 0" "$name" 0 -- true
gives 125 "no such option" --none "$name" 1 -- true
gives 125 "no number of units" -n x "$name" 1 -- true
gives 125 "more units than the limit" -n 2 "$name" 1 -- true
says "2 units are more than the limit of $name, 1$"
gives 125 "no seconds" -w never "$name" 1 -- true
gives 125 "no unit of time" -w 5x "$name" 1 -- true
gives 125 "negative seconds" -w -1 "$name" 1 -- true
gives 125 "no mode" --global=9 "$name" 1 -- true
gives 125 "a mode without the owner" --global=066 "$name" 1 -- true
gives 125 "a name with a slash" a/b 1 -- true
says 'no slash'
gives 125 "an empty name" '' 1 -- true
gives 125 "a name with a newline" "$(printf 'a\nb')" 1 -- true
gives 125 "a name with a control character of UTF-8" "$(printf 'a\302\233b')" 1 -- true
gives 125 "a name that is too long" "$(printf '%0300d' 0)" 1 -- true
gives 125 "the status of a name that does not exist" --status "$name-none"
gives 125 "remove a name that does not exist" --remove "$name-none"
gives 125 "remove no name" --remove
gives 125 "watch without status" --watch "$name" 1 -- true
gives 0 "--version" --version
gives 0 "--help" --help
man=$top_srcdir/doc/man/fairsem-limit.1
sed -n 's/^ *\(-., \)*--\([a-z]*\).*/\2/p' "$work/out" | sort -u > "$work/words"
[ "$(wc -l < "$work/words")" -ge 11 ] || fail "--help lists too little"
while read -r word; do
  grep -q -e "Fl -$word" "$man" || fail "the manual page does not know --$word"
done < "$work/words"

# ---------------------------------------------------------------- at most so many
# The first two wait until all have come.
for i in 1 2 3 4 5 6 7 8; do
  # shellcheck disable=SC2016
  "$limit" "$name-b" 2 -- sh -c 'echo begin >> "$1"; until [ -e "$2" ]; do sleep 0.02; done
    echo end >> "$1"' sh "$work/log" "$work/all" &
done
# shellcheck disable=SC2317 # await calls it
all_have_come() { "$limit" --status "$name-b" | grep -q 'running 2, waiting 6'; }
await "two that run, and six that wait" all_have_come
: > "$work/all"
wait
awk '/begin/ { now++; all++ } /end/ { now-- } now > most { most = now }
  END { exit !(all == 8 && now == 0 && most <= 2) }' "$work/log" || fail "8 in pairs"

# ---------------------------------------------------------------- order
hold
for i in 1 2 3 4; do
  # The last one has a lower number, and is granted first.
  # shellcheck disable=SC2016
  "$limit" -p $((i == 4 ? -1 : 0)) "$name" 1 -- sh -c 'echo "$1" >> "$2"' sh "$i" "$work/order" &
  await "waiter $i" shows "waiting $i"
done
shows "running *$holder .* sh -c" || fail "the status does not show the running command"
shows "gate    *$" || fail "the status shows other than its arguments"
shows '4th ' || fail "the status does not show the last place"
gives 124 "time-out" -w 0 "$name" 1 -- touch "$work/too-late"
[ ! -s "$work/err" ] || fail "no wait, and a message: $(cat "$work/err")"
gives 124 "time-out after a moment" -w 0.001m "$name" 1 -- touch "$work/too-late"
# For a log: stderr is no terminal.
says "^fairsem-limit: $name: waited 0 s in vain; running: sh -c .* (process $holder); 4 still before it in line$"
gives 124 "time-out, quietly" -q -w 0.001m "$name" 1 -- true
[ ! -s "$work/err" ] || fail "--quiet, and a message: $(cat "$work/err")"
gives 124 "time-out behind one" -p -1 --wait=0.001m "$name" 1 -- true
says '; 1 still before it in line$'
[ ! -e "$work/too-late" ] || fail "it ran after the time-out"
let_go
wait
[ "$(tr '\n' ' ' < "$work/order")" = '4 1 2 3 ' ] || fail "order: $(cat "$work/order")"

# ---------------------------------------------------------------- units
rm -f "$work/gate" && mkfifo "$work/gate"
# shellcheck disable=SC2016
"$limit" -n 2 "$name" 3 -- sh -c 'read -r line < "$1"' sh "$work/gate" &
holder=$!
await "a holder of two" shows 'limit 3, free 1, running 1'
gives 0 "one of three units is free" "$name" 3 -- true
gives 124 "two are not" -w 0 -n 2 "$name" 3 -- true
let_go

# ---------------------------------------------------------------- the dead
hold
"$limit" "$name" 1 -- touch "$work/next" &
next=$!
await "the next waiter" shows 'waiting 1'
kill -KILL "$holder"
wait "$next" || fail "the waiter behind a killed holder fails"
wait "$holder" 2> /dev/null
[ -e "$work/next" ] || fail "the waiter behind a killed holder did not run"

hold
for i in 1 2; do
  "$limit" "$name" 1 -- touch "$work/dead.$i" &
  [ "$i" -ne 1 ] || next=$!
  await "waiter $i" shows "waiting $i"
done
kill -KILL "$next"
wait "$next" 2> /dev/null
await "the killed waiter to leave the queue" shows 'waiting 1'
let_go
wait
if [ -e "$work/dead.1" ] || [ ! -e "$work/dead.2" ]; then
  fail "a killed waiter ran, or held up the one behind it"
fi

hold
"$limit" "$name" 1 -- touch "$work/ended" 2> /dev/null &
next=$!
await "the next waiter" shows 'waiting 1'
kill -TERM "$next"
wait "$next" 2> /dev/null
[ $? -eq 143 ] || fail "a signal does not end the wait"
let_go
[ ! -e "$work/ended" ] || fail "it ran after the signal"

# As under nohup(1).
hold
(trap '' HUP && exec "$limit" "$name" 1 -- touch "$work/ignores") &
next=$!
await "the next waiter" shows 'waiting 1'
kill -HUP "$next"
for i in 1 2 3 4 5; do
  shows 'waiting 1' || fail "a signal that is ignored ends the wait"
done
let_go
wait "$next" || fail "a waiter that ignores a signal fails"
[ -e "$work/ignores" ] || fail "a waiter that ignores a signal did not run"

# The first process of a container: a signal that another process there sends does not end it.
for own_pids in 'unshare --pid --fork' 'unshare --user --map-current-user --pid --fork' ''; do
  [ -z "$own_pids" ] || ! $own_pids true 2> /dev/null || break
done
if [ -n "${FAIRSEM_TESTS_EMULATED-}" ]; then
  echo "not here: a first process, because the signal would go to the emulator"
elif [ -n "$own_pids" ]; then
  hold
  # shellcheck disable=SC2016
  $own_pids sh -c '(until "$1" --status "$2" | grep -q "waiting 1"; do sleep 0.02; done
    kill -TERM 1) & exec "$1" "$2" 1 -- touch "$3"' sh "$limit" "$name" "$work/ended" \
    2> "$work/err"
  [ $? -eq 143 ] || fail "a signal does not end the wait of a first process"
  let_go
  [ ! -e "$work/ended" ] || fail "a first process ran after the signal"
else
  echo "not here: a first process, without a process ID namespace"
fi

# ---------------------------------------------------------------- another limit, remove
gives 0 "another limit, while no command runs" "$name" 3 -- true
shows 'limit 3' || fail "the limit has not changed"
gives 0 "and back" "$name" 1 -- true
hold
gives 125 "another limit, while a command runs" "$name" 2 -- true
says 'the limit is 1, not 2'
gives 125 "remove, while a command runs" --remove "$name"
says 'commands run or wait'
"$limit" "$name" 1 -- touch "$work/moved" &
next=$!
await "the next waiter" shows 'waiting 1'
gives 0 "remove by force" --remove --force "$name"
let_go
wait "$next" || fail "a waiter fails when its name is removed"
[ -e "$work/moved" ] || fail "a waiter did not run when its name was removed"
gives 0 "the waiter has created the name again" --status "$name"
gives 0 "remove" --remove "$name"
gives 125 "it is gone" --status "$name"

# ---------------------------------------------------------------- damage, other users
segment=$FAIRSEM_LIMIT_DIR/fairsem-limit-$(id -u).$name
"$limit" "$name" 1 -- true
head -c 4096 /dev/zero | tr '\0' x > "$work/noise"
cat "$work/noise" > "$segment"
gives 125 "a damaged name" "$name" 1 -- true
says damaged
gives 0 "remove what is damaged" --remove --force "$name"
gives 0 "and begin again" "$name" 1 -- true
if chown 65534 "$segment" 2> /dev/null; then
  gives 125 "a name of ours that another user has created" "$name" 1 -- true
  rm -f "$segment"
else
  echo "not here: a name of another user, without the right to make one"
fi
(umask 077 && "$limit" --global "$name" 1 -- sh -c 'umask' > "$work/umask")
case $(cat "$work/umask") in *77) ;; *) fail "the command has another umask" ;; esac
case $(ls -l "$FAIRSEM_LIMIT_DIR/fairsem-limit.$name") in
  -rw-rw-rw-*) echo "ok: a global name is for all" ;;
  *) fail "a global name is not for all" ;;
esac
gives 0 "the status of all names" --status
grep -q "^$name (all users): limit 1, free 1" "$work/out" || fail "the list lacks a name"

# ---------------------------------------------------------------- a terminal
if has python3; then
  hold
  if python3 "$top_srcdir/tests/limit/terminal.py" "$limit" "$name"; then
    echo "ok: progress, Ctrl-C, Ctrl-S, Ctrl-Z and a hangup on a terminal"
  else
    fail "on a terminal"
  fi
  let_go
else
  not_tried "a terminal, without python3"
fi
exit "$status"

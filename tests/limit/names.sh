#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - where fairsem-limit has its names, and how they come and go.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"
dir=$FAIRSEM_LIMIT_DIR
segment=$dir/fairsem-limit-$(id -u).$name

# ---------------------------------------------------------------- directories
[ -f "$segment" ] || fail "FAIRSEM_LIMIT_DIR: no file in the directory"
mkdir "$dir/other"
gives 0 "--dir" --dir="$dir/other" "$name" 3 -- true
[ -f "$dir/other/${segment##*/}" ] || fail "--dir: no file in the directory"
gives 0 "slashes at the end do not count" --dir="$dir/other//" "$name" 3 -- true
gives 0 "the status there" --dir="$dir/other" --status
[ "$(cat "$work/out")" = "$name: limit 3, free 3, running 0, waiting 0" ] ||
  fail "--dir: the status lists other names"
shows 'limit 1' || fail "a name in one directory is one in the other"
gives 0 "remove it there" --dir="$dir/other" --remove "$name"
[ ! -e "$dir/other/${segment##*/}" ] || fail "--dir: it was not removed"
[ -e "$segment" ] || fail "--dir: another one was removed"
ln -s other "$dir/link"
gives 0 "a link to a directory" --dir="$dir/link" "$name" 1 -- true
[ -f "$dir/other/${segment##*/}" ] || fail "--dir: no file behind the link"
gives 125 "no such directory" --dir="$dir/none" "$name" 1 -- true
says "$dir/none: No such file or directory"
gives 125 "the status of no directory" --dir="$dir/none" --status
gives 125 "no directory" --dir="$segment" "$name" 1 -- true
gives 125 "a relative path" --dir=other "$name" 1 -- true
says 'begins with a slash'
gives 125 "a path with a newline" --dir="$(printf '%s/a\nb' "$dir")" "$name" 1 -- true
gives 125 "a file system without such files" --dir=/proc "$name" 1 -- true
[ "$(id -u)" -ne 0 ] || says 'the file system'
if [ -w /dev/shm ]; then
  (FAIRSEM_LIMIT_DIR='' "$limit" "$name" 1 -- true) || fail "in /dev/shm"
  [ -f "/dev/shm/${segment##*/}" ] || fail "no file in /dev/shm"
  (FAIRSEM_LIMIT_DIR='' "$limit" "$name" 1 -- "$limit" --dir=/dev/shm/ -w 0 "$name" 1 -- true) ||
    fail "a command inside another one, with the same directory in other words"
  gives 0 "--dir=/dev/shm is the default" --dir=/dev/shm/ --remove "$name"
  [ ! -e "/dev/shm/${segment##*/}" ] || fail "it was not removed from /dev/shm"
else
  echo "not here: /dev/shm, which cannot be written"
fi

# Two containers with one directory: one unit for both.
own_mounts='unshare --mount'
[ "$(id -u)" -eq 0 ] || own_mounts='unshare --user --map-root-user --mount'
mkdir "$dir/mount"
if $own_mounts mount --bind "$dir/other" "$dir/mount" 2> /dev/null; then
  rm -f "$work/gate" && mkfifo "$work/gate"
  # shellcheck disable=SC2016
  $own_mounts sh -c 'mount --bind "$1/other" "$1/mount" && exec "$2" --global --dir="$1/mount" \
    shared 1 -- sh -c "read -r line < \"\$1\"" sh "$3"' sh "$dir" "$limit" "$work/gate" &
  holder=$!
  # shellcheck disable=SC2317 # await calls it
  held() { "$limit" --global --dir="$dir/other" --status shared | grep -q 'running 1'; }
  await "a holder in another container" held
  gives 124 "it is held in another container" -w 0 --global --dir="$dir/other" shared 1 -- true
  let_go
  gives 0 "and then it is not" -w "$hang" --global --dir="$dir/other" shared 1 -- true

  # Room for seven names.  Those that nobody uses make room; then all are to stay.
  # shellcheck disable=SC2016
  $own_mounts sh -c 'mount -t tmpfs -o size=1m none "$1/mount" || exit 99
    for i in 1 2 3 4 5 6 7 8 9 10; do "$2" --dir="$1/mount" "unused$i" 1 -- true || exit 1; done
    for i in 1 2 3 4 5 6 7 8 9 10; do "$2" --dir="$1/mount" --keep "kept$i" 1 -- true || exit 2; done' \
    sh "$dir" "$limit" 2> "$work/err"
  [ $? -eq 2 ] || fail "a full directory: $(cat "$work/err")"
  says "^fairsem-limit: kept[89]: $dir/mount is full, and a name takes 130 kB there: see --status, --remove"
else
  echo "not here: two mounts of one directory"
fi

# ---------------------------------------------------------------- removed by others
# systemd-tmpfiles removes what it can lock; a command that is its own parent, or none, is in the way.
needs flock
for how in '' --exec; do
  # shellcheck disable=SC2016,SC2086 # for the shell inside; nothing, or one word
  gives 0 "the file of a name in use is locked${how:+, $how}" $how "$name" 1 -- \
    sh -c '! flock -n "$1" true' sh "$segment"
done
gives 0 "and not afterwards" "$name" 1 -- true
flock -n "$segment" true || fail "the file of a name that nobody uses is locked"
gives 0 "the name is removed in spite of that" "$name" 1 -- rm "$segment"
says "$segment: somebody has removed this name while the command ran"

# ---------------------------------------------------------------- another limit
"$limit" --remove "$name" 2> /dev/null
hold
"$limit" "$name" 1 -- touch "$work/second" &
next=$!
await "a waiter" shows 'waiting 1'
gives 0 "raise the limit while it is used" --set-limit=2 "$name"
wait "$next" || fail "a waiter fails when the limit is raised"
[ -e "$work/second" ] || fail "a waiter did not run when the limit was raised"
shows 'limit 2, free 1, running 1, waiting 0' || fail "the limit was not raised"
gives 0 "a command with the old limit" -w "$hang" "$name" 1 -- true
gives 0 "a command with the new limit" -w "$hang" "$name" 2 -- true
gives 125 "a command with a third limit" "$name" 3 -- true
gives 0 "all that the new limit allows" --set-limit 3 "$name"
gives 0 "two of three" -w 0 -n 2 "$name" 3 -- true
gives 124 "three of three, of which one is held" -w 0 -n 3 "$name" 3 -- true
gives 0 "lower the limit" --set-limit 1 "$name"
gives 124 "nothing is free" -w 0 "$name" 1 -- true
gives 125 "remove, while a command runs" --remove "$name"
let_go
gives 0 "a set limit holds while nobody uses the name" "$name" 1 -- true
gives 0 "set a limit while nobody uses the name" --set-limit 5 "$name"
gives 0 "and the old one is still known" "$name" 1 -- "$limit" --status "$name"
grep -q 'limit 5, free 4' "$work/out" || fail "the set limit was forgotten"
gives 0 "remove it" --remove "$name"
gives 0 "then the limit is that of the command" "$name" 1 -- "$limit" --status "$name"
grep -q 'limit 1, free 0' "$work/out" || fail "a limit from before the removal"
gives 0 "a name with the limit 3" "$name-b" 3 -- true
gives 0 "lower it" --set-limit 1 "$name-b"
gives 125 "a command for more than the new limit" -n 2 "$name-b" 3 -- true
says "2 units are more than the limit of $name-b, 1: --set-limit has changed it"
gives 125 "the limit of a name that does not exist" --set-limit 2 "$name-none"
gives 125 "limit 0" --set-limit 0 "$name"
gives 125 "no limit" --set-limit "$name"
gives 125 "no name" --set-limit 2
"$limit" --global "$name" 1 -- true
gives 0 "of a global name" --global --set-limit 4 --keep "$name"
"$limit" --global --status "$name" | grep -q 'limit 4' || fail "--global --set-limit"
case $(ls -l "$dir/fairsem-limit.$name") in *rw[tT]\ *) ;; *) fail "--set-limit --keep" ;; esac

# ---------------------------------------------------------------- names that nobody uses
own=$dir/fairsem-limit-$(id -u)
for old in old kept tomorrow held; do
  "$limit" "$old" 1 -- true || fail "a name"
done
gives 0 "--keep" --keep kept 1 -- true
gives 0 "a name that is kept is used again" kept 1 -- true
"$limit" --global old 1 -- true
rm -f "$work/gate" && mkfifo "$work/gate"
# shellcheck disable=SC2016
"$limit" held 1 -- sh -c 'read -r line < "$1"' sh "$work/gate" &
holder=$!
# shellcheck disable=SC2317 # await calls it
held() { "$limit" --status held | grep -q 'running 1'; }
await "a holder" held
touch -d '23 hours ago' "$own.$name"
touch -d 'tomorrow' "$own.tomorrow"
touch -d '25 hours ago' "$own.old" "$own.kept" "$own.held" "$dir/fairsem-limit.old" "$dir/other-program"
mkdir "$own.directory" && touch -d '25 hours ago' "$own.directory"
: > "$work/no-segment"
ln -s "$work/no-segment" "$own.link"
touch -h -d '25 hours ago' "$own.link"
"$limit" --exec new 1 -- true || fail "a command that finds old names"
[ ! -e "$own.old" ] || fail "a name that nobody has used for a day is still there"
[ ! -e "$dir/fairsem-limit.old" ] || fail "a global name that nobody has used for a day is still there"
for stays in "$own.$name" "$own.kept" "$own.tomorrow" "$own.held" "$own.directory" "$own.link" \
  "$dir/other-program" "$own.new"; do
  [ -e "$stays" ] || fail "it has removed ${stays##*/}"
done
rmdir "$own.directory"
rm -f "$own.link"
let_go

# The command that has ended has used the name; this is also what the parent removes in passing.
"$limit" old 1 -- true
touch -d '25 hours ago' "$own.old"
"$limit" new 1 -- true
await "the old name to go" test ! -e "$own.old"
[ -e "$own.held" ] || fail "the end of a command is no use of its name"
"$limit" old 1 -- true
touch -d '25 hours ago' "$own.old"
"$limit" --status > "$work/out"
await "the old name to go" test ! -e "$own.old"
gives 0 "remove a name that is kept" --remove kept
[ ! -e "$own.kept" ] || fail "it is still there"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - where fairsem-limit has its names, and how they come and go.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/api/limit/common.sh"
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
says 'the file system'
if [ -w /dev/shm ]; then
  (FAIRSEM_LIMIT_DIR='' "$limit" "$name" 1 -- true) || fail "in /dev/shm"
  [ -f "/dev/shm/${segment##*/}" ] || fail "no file in /dev/shm"
  gives 0 "--dir=/dev/shm is the default" --dir=/dev/shm/ --remove "$name"
  [ ! -e "/dev/shm/${segment##*/}" ] || fail "it was not removed from /dev/shm"
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
  gives 0 "and then it is not" -w 30 --global --dir="$dir/other" shared 1 -- true
else
  echo "not tried: two mounts of one directory"
fi

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

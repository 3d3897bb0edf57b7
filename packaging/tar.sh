#!/bin/sh
# SPDX-License-Identifier: MIT
# tar.sh - write a directory as a reproducible tar archive to standard output; called by make dist.
#
#   tar.sh DIRECTORY
#
# All files get SOURCE_DATE_EPOCH, or, if that is not set, the newest date in NEWS: that of the release, or,
# while the newest entry is unreleased, of the previous one.
# This needs GNU tar; another tar writes an archive with the same content and other bytes.
set -eu
export LC_ALL=C

tar=${TAR-tar}
case $($tar --version 2> /dev/null) in
  *GNU*) ;;
  *)
    echo "tar.sh: not GNU tar: the archive will not be reproducible" >&2
    exec $tar chof - "$1"
    ;;
esac
day=$(sed -n 's/^[0-9][0-9.]*  *\([0-9]*-[0-9]*-[0-9]*\)$/\1/p' "$1/NEWS" | head -n 1)
if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
  date=@$SOURCE_DATE_EPOCH
elif [ -n "$day" ]; then
  date="$day 12:00:00 UTC"
else
  echo "tar.sh: no date in NEWS" >&2
  exit 1
fi
exec $tar --create --format=ustar --sort=name --mtime="$date" --owner=0 --group=0 \
  --numeric-owner --mode=u+rw,go=rX,a-s --file=- "$1"

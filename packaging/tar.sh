#!/bin/sh
# SPDX-License-Identifier: MIT
# tar.sh - write a directory as a reproducible tar archive to standard output; called by make dist.
#
#   tar.sh DIRECTORY
#
# All files get the time SOURCE_DATE_EPOCH.  If that is not set, they get the newest date in NEWS: the date of
# this release, or of the previous release while the newest entry is unreleased.
# Reproducible archives need GNU tar; another tar writes the same files in another form.
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

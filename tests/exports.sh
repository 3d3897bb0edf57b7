#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh - the shared library exports what the header declares, and nothing else.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
for tool in nm readelf; do
  if ! command -v "$tool" > /dev/null 2>&1; then
    echo "skipped: there is no $tool"
    exit 77
  fi
done
work=$(mktemp -d "$top_builddir/tests/exports.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

# same WHAT FILE OTHER_WHAT FILE - both lists have the same lines.
same() {
  if [ ! -s "$2" ]; then
    echo "FAILED: found no functions in $1"
    status=1
  elif diff "$2" "$4" > "$work/diff"; then
    echo "ok: $1 and $3 name the same $(wc -l < "$2") functions"
  else
    echo "FAILED: $1 (<) and $3 (>) differ"
    cat "$work/diff"
    status=1
  fi
}

# A declaration may be longer than its line, its name is on the first.
sed -n 's/^FAIRSEM_API .*[ *]\(fairsem_[a-z0-9_]*\)(.*/\1/p' \
  "$top_srcdir/include/fairsem.h" "$top_srcdir/include/fairsem/posix.h" | sort > "$work/header"
sed -n 's/^ *\(fairsem_[a-z0-9_]*\);.*/\1/p' "$top_srcdir/src/fairsem.map" | sort > "$work/map"
same "the headers" "$work/header" fairsem.map "$work/map"

# A program that links the archive meets every name in it that is not static.  Names with
# two underscores, or DW., belong to the compiler (sanitizers and gcov make some).
archive=$top_builddir/.libs/libcore.a
[ -f "$archive" ] || archive=$top_builddir/.libs/libfairsem.a
if [ -f "$archive" ]; then
  nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' |
    grep -v -e '^fairsem_' -e '^fs_' -e '^__' -e '^DW\.' > "$work/foreign"
  if [ -s "$work/foreign" ]; then
    echo "FAILED: names in the archive that are neither fairsem_* nor fs_*:"
    cat "$work/foreign"
    status=1
  else
    echo "ok: the archive defines nothing but fairsem_* and fs_*"
  fi
else
  echo "FAILED: there is no archive $archive"
  status=1
fi

shared=$(sed -n "s/^dlname='\(.*\)'/\1/p" "$top_builddir/libfairsem.la")
if [ -z "$shared" ]; then
  echo "skipped: the shared library, which was not built (--disable-shared)"
  [ "$status" -eq 0 ] && exit 77
  exit "$status"
fi
shared=$top_builddir/.libs/$shared

# Names without their version, and without the entries for the versions themselves.
nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  sort > "$work/shared"
same "the headers" "$work/header" "${shared##*/}" "$work/shared"

# A waiter is inside the library: unloading it would take the code from under its feet.
if readelf -d "$shared" | grep -q 'FLAGS.*NODELETE'; then
  echo "ok: dlclose does not unload it (NODELETE)"
else
  echo "FAILED: the shared library is not marked NODELETE"
  status=1
fi
exit "$status"

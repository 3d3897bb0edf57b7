#!/bin/sh
# SPDX-License-Identifier: MIT
# check_dist.sh - check that make dist makes the same archive in another directory, at another time, for another
# user; called by make check-dist.
#
# The second archive is made from the unpacked first archive, so the first archive is complete.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
make=${MAKE:-make}
work=$(mktemp -d "$top_builddir/check-dist.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# run COMMAND... - show the output of the command only if it fails, and then exit.
run() {
  "$@" > "$work/log" 2>&1 && return
  cat "$work/log"
  echo "FAILED: $*"
  exit 1
}

version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")
name=fairsem-$version
mkdir "$work/first" "$work/second"
run "$top_srcdir/packaging/amalgamation.sh" "$work/first/amalgamation"
(umask 022 && run "$make" -C "$top_builddir" dist distdir="$name") || exit 1
mv "$top_builddir/$name".tar.* "$work/first" || exit 1

cd "$work/second" || exit 99
gzip -dc "$work/first/$name.tar.gz" | tar xf - || exit 1
# Give all files another date, and another order in their directories.
find "$name" -exec touch -t 200101010101 {} +
cp -R "$name" copy && rm -r "$name" && mv copy "$name"
mkdir build
(
  cd build && umask 077
  TZ=Pacific/Auckland LC_ALL=C.UTF-8
  export TZ LC_ALL
  run "../$name/configure" --disable-tests && run "$make" dist &&
    run "$make" amalgamation
) || exit 1

status=0
for kind in gz xz; do
  first=$work/first/$name.tar.$kind second=build/$name.tar.$kind
  if [ ! -f "$first" ] || [ ! -f "$second" ]; then
    echo "FAILED: there is no $name.tar.$kind"
    status=1
  elif cmp "$first" "$second"; then
    echo "ok: $name.tar.$kind is the same twice, $(wc -c < "$first") bytes"
  else
    echo "FAILED: $name.tar.$kind differs"
    # Show the first differences between the lists of contents.
    tar tvf "$first" > list1 && tar tvf "$second" > list2 && diff list1 list2 | head -n 10
    status=1
  fi
done
if diff -r "$work/first/amalgamation" build/amalgamation; then
  echo "ok: make amalgamation makes the same twice"
else
  echo "FAILED: fairsem.c differs, above, or the headers beside it"
  status=1
fi
exit "$status"

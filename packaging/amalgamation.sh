#!/bin/sh
# SPDX-License-Identifier: MIT
# amalgamation.sh - write the library as one file, fairsem.c, with the public headers and a meson.build;
# called by make amalgamation and by packaging/cmake.
#
#   amalgamation.sh DIRECTORY
#
# The output is reproducible.  The list of sources is read from the makefiles.
set -eu
export LC_ALL=C

if [ "$#" -ne 1 ]; then
  echo "usage: amalgamation.sh DIRECTORY" >&2
  exit 2
fi
top=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top/configure.ac")
# Take the sources of both branches of each condition: fairsem.c decides when it is compiled.
sources=$(cat "$top"/src/tools/local.mk "$top"/src/system/local.mk "$top"/src/awake/local.mk \
  "$top"/src/core/local.mk "$top"/src/shared/local.mk "$top"/src/posix/local.mk | awk '
  /^libcore_la_SOURCES/ { inside = 1 }
  inside { for (i = 1; i <= NF; i++) if ($i ~ /\.c$/) print $i }
  !/\\$/ { inside = 0 }')

mkdir -p "$1/fairsem"
trap 'rm -f "$1/fairsem.c.new"' EXIT
# shellcheck disable=SC2086 # a list
awk -v root="$top" -v places="src src/core src/posix include" -v version="$version" \
  -f "$top/packaging/amalgamation.awk" packaging/amalgamation.h $sources > "$1/fairsem.c.new"
mv -f "$1/fairsem.c.new" "$1/fairsem.c"
sed "s/@VERSION@/$version/" "$top/packaging/meson.build" > "$1/meson.build"
for header in "$top"/include/*.h* "$top"/include/fairsem/*.h*; do
  to=$1/${header#"$top"/include/}
  rm -f "$to"
  cat "$header" > "$to"
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# release_files.sh - make the files of a release: the archives, with an archive of the library as one file;
# their checksums; and the recipe for RPM.
#
#   make release-files URL=https://...      the URL at which the files will be
#
# The files go to release/ in the build directory.  With --try the version may be unreleased.
set -eu
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
unset MAKEFLAGS MFLAGS MAKELEVEL
try=no
[ "${1-}" != --try ] || { try=yes; shift; }
url=${1:-}
to=${2:-$top_builddir/release}
case $url in
  https://*[!/]) ;;
  *)
    echo "usage: make release-files URL=https://... (without a slash at the end)" >&2
    exit 2
    ;;
esac
version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")
name=fairsem-$version
entry=$(grep -m 1 '^[0-9]' "$top_srcdir/NEWS")
case $try:$entry in
  yes:* | no:"$version  "[0-9]*) ;;
  *)
    echo "the newest entry of NEWS is '$entry', not '$version  DATE': see doc/releasing.md" >&2
    exit 1
    ;;
esac
# The newest date in NEWS, as in tar.sh.
day=$(sed -n 's/^[0-9][0-9.]*  *\([0-9]*-[0-9]*-[0-9]*\)$/\1/p' "$top_srcdir/NEWS" | head -n 1)

"${MAKE:-make}" -C "$top_builddir" dist distdir="$name" > /dev/null
rm -rf "$to"
mkdir -p "$to"
mv "$top_builddir/$name".tar.* "$to"
cd "$to"
one=$name-amalgamation
"$top_srcdir/packaging/amalgamation.sh" "$one"
cp "$top_srcdir/LICENSE" "$top_srcdir/NEWS" "$one"
"$top_srcdir/packaging/tar.sh" "$one" > "$one.tar"
gzip -9n "$one.tar"
rm -rf "$one"
sha256sum fairsem-*.tar.* > SHA256SUMS
sha512sum fairsem-*.tar.* > SHA512SUMS

# Replace the names between at signs in the recipe.
sed -e "s|@URL@|$url|g" -e "s|@VERSION@|$version|g" \
  -e "s|@RPM_DATE@|$(date -u -d "$day" '+%a %b %d %Y')|g" \
  "$top_srcdir/packaging/rpm/fairsem.spec" > fairsem.spec
if grep -n '@[A-Z0-9_]*@' fairsem.spec; then
  echo "packaging/rpm/fairsem.spec: not filled in, above" >&2
  exit 1
fi
ls -l

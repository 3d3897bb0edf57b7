#!/bin/sh
# SPDX-License-Identifier: MIT
# check_packages.sh - build the packages of distributions, twice, where the tools are installed, and run
# their linters; called by make check-packages.
#
# The packages are built from the archive of make dist, as packagers build them.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CFLAGS CC CXX
work=$(mktemp -d "$top_builddir/check-packages.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
status=0 skipped=0
version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")
name=fairsem-$version

has() {
  command -v "$1" > /dev/null 2>&1 && return
  echo "skipped: $2: there is no $1"
  skipped=$((skipped + 1))
  return 1
}

# passes WHAT COMMAND... - report whether the command succeeds; show its output only if it fails.
passes() {
  what=$1
  shift
  if "$@" > "$work/log" 2>&1; then
    echo "ok: $what"
  else
    tail -n 60 "$work/log"
    echo "FAILED: $what"
    status=1
    return 1
  fi
}

passes "make release-files" "$top_srcdir/packaging/release_files.sh" --try https://example.org/fairsem \
  "$work/release" || exit 1

# ---------------------------------------------------------------- Debian
# build_deb DIRECTORY - build the packages there, without the tests, which make check has run.
build_deb() {
  mkdir -p "$1" && cd "$1" && tar xzf "$work/release/$name.tar.gz" && cd "$name" &&
    cp -R packaging/debian . &&
    DEB_BUILD_OPTIONS="nocheck parallel=2" dpkg-buildpackage -us -uc
}

no_tags() {
  lintian --pedantic -EvI --no-tag-display-limit ./*.changes > tags 2>&1 || { cat tags; return 1; }
  # Fail at tags of any kind, except those that are masked or overridden.
  ! grep -E '^[EWIPXC]: ' tags
}

# Run a test as if the packages were installed: in a namespace whose /usr is an overlay.
package_test() {
  # shellcheck disable=SC2016 # for the shell inside
  unshare --mount sh -euc '
    mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/tmp"
    mount -t overlay overlay -o "lowerdir=/usr,upperdir=$1/upper,workdir=$1/work" /usr
    for deb in "$2"/*.deb; do dpkg -x "$deb" /; done
    AUTOPKGTEST_TMP=$1/tmp exec sh "$2/$3/packaging/debian/tests/$4"
  ' sh "$work/installed" "$work/deb/one" "$name" "$1"
}

# All tests of packaging/debian/tests, as Debian would run them.
package_tests() {
  mkdir "$work/installed"
  if ! unshare --mount mount -t tmpfs tmpfs "$work/installed" 2> "$work/log"; then
    cat "$work/log"
    echo "skipped: tests of the packages for Debian: only root can install them in a namespace"
    skipped=$((skipped + 1))
    return
  fi
  tests=$(sed -n 's/^Tests: //p' "$top_srcdir/packaging/debian/tests/control")
  for each in $tests; do
    passes "Debian's test of what is installed: $each" package_test "$each"
  done
}

if has dpkg-buildpackage "packages for Debian" && has dh "packages for Debian" &&
  passes "dpkg-buildpackage" build_deb "$work/deb/one"; then
  if has lintian "lintian"; then
    cd "$work/deb/one" && passes "lintian --pedantic -EvI" no_tags
  fi
  package_tests
  # Build again in another directory, with another umask, in another time zone.
  if (umask 077 && export TZ=Pacific/Auckland &&
    passes "the same in another directory" build_deb "$work/deb/two/directories/deeper"); then
    for deb in "$work"/deb/one/*.deb; do
      if cmp "$deb" "$work/deb/two/directories/deeper/${deb##*/}"; then
        echo "ok: ${deb##*/} is reproducible"
      else
        echo "FAILED: ${deb##*/} is not reproducible"
        status=1
      fi
    done
  else
    status=1
  fi
fi

# ---------------------------------------------------------------- RPM
build_rpm() {
  mkdir -p "$work/rpm/SOURCES" && cp "$work/release/$name.tar.xz" "$work/rpm/SOURCES" &&
    rpmbuild --nodeps --nocheck --define "_topdir $work/rpm" -ba \
      "$work/release/fairsem.spec"
}

if has rpmbuild "packages for Fedora and others"; then
  passes "rpmbuild" build_rpm
  if has rpmlint "rpmlint"; then
    passes "rpmlint" rpmlint -c "$top_srcdir/packaging/rpm/rpmlint.toml" \
      "$work/release/fairsem.spec"
  fi
fi

[ "$status" -eq 0 ] || { echo "not all packages are right, see above"; exit 1; }
if [ "$skipped" -gt 0 ]; then
  echo "$skipped steps skipped"
  exit 77
fi
echo "Debian, RPM"

#!/bin/sh
# SPDX-License-Identifier: MIT
# release_check.sh - may this tree be released?  Prints a table; called by make release-check.
#
#   make release-check                     everything, about half an hour
#   make release-check STEPS="same_version abi"
#
# Run it in a build directory of a git checkout.  What a tool is missing for counts as open: the
# release should wait for it, or somebody should know why not.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
make=${MAKE:-make}
work=$(mktemp -d "$top_builddir/release-check.XXXXXX") || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
failed=0 open=0

version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")

git_here() {
  git -C "$top_srcdir" "$@"
}

# ---------------------------------------------------------------- steps
# Each says something on its last line, and returns 0, 77 if it could not be done, or another number.
clean_tree() {
  changes=$(git_here status --porcelain) || return 1
  [ -z "$changes" ] || { printf '%s\n' "$changes" "there are changes that are not committed"; return 1; }
  echo "$(git_here rev-parse --short HEAD), nothing uncommitted"
}

tag_is_free() {
  if git_here rev-parse -q --verify "refs/tags/v$version" > /dev/null; then
    echo "the tag v$version exists: this version is released already"
    return 1
  fi
  echo "there is no v$version yet"
}

news_has_a_date() {
  entry=$(grep -m 1 '^[0-9]' "$top_srcdir/NEWS")
  printf '%s\n' "$entry" | grep -qE "^$version  [0-9]{4}-[0-9]{2}-[0-9]{2}\$" ||
    { echo "the newest entry of NEWS is '$entry'"; return 1; }
  day=${entry##* }
  [ "$(date -d "$day" +%Y-%m-%d 2> /dev/null || echo "$day")" = "$day" ] ||
    { echo "there is no day $day"; return 1; }
  echo "NEWS: $entry"
}

# The tests that compare what stands in several places.
same_version() {
  "$make" -C "$top_builddir" check TESTS="tests/release/package/consistency.sh tests/release/package/links.sh" ||
    { cat "$top_builddir"/tests/release/package/consistency.log "$top_builddir"/tests/release/package/links.log
      return 1; }
  # CMake's and pkg-config's files are made by configure.
  for file in fairsem.pc packaging/cmake/fairsem-config-version.cmake; do
    grep -q -e "^Version: $version\$" -e "PACKAGE_VERSION \"$version\"" "$top_builddir/$file" ||
      { echo "$file is of another version: run configure again"; return 1; }
  done
  echo "$version everywhere, all links lead somewhere"
}

abi() {
  "$top_srcdir/packaging/abi/check.sh"
}

abi_is_recorded() {
  for machine in x86_64-linux-gnu aarch64-linux-gnu; do
    if [ ! -f "$top_srcdir/packaging/abi/$version/$machine.abi" ]; then
      echo "packaging/abi/$version/$machine.abi is missing: make check-abi ABI=--record there"
      return 77
    fi
  done
  echo "packaging/abi/$version"
}

distcheck() {
  "$make" -C "$top_builddir" -j"$jobs" distcheck && echo "make distcheck"
}

reproducible() {
  "$top_srcdir/packaging/check_dist.sh"
}

# The packages need an address that somebody reads.
maintainer_is_known() {
  if git_here grep -l "@example[.]org" -- packaging ':!packaging/release_check.sh'; then
    echo "the maintainer's address in the files above is an example"
    return 77
  fi
  echo "the packages name a maintainer"
}

one_file() {
  "$top_srcdir/tests/release/package/amalgamation.sh" tests
}

flags() {
  "$top_srcdir/packaging/check_flags.sh"
}

packages() {
  "$top_srcdir/packaging/check_packages.sh"
}

# ---------------------------------------------------------------- main
: "${STEPS:=clean_tree tag_is_free news_has_a_date same_version maintainer_is_known abi
  abi_is_recorded reproducible one_file packages flags distcheck}"
for step in $STEPS; do
  echo "-- $step"
  began=$(date +%s)
  # In a shell of its own: a step may exit.
  ($step) > "$work/log" 2>&1 < /dev/null
  case $? in
    0) result=ok ;;
    77) result=open open=$((open + 1)) ;;
    *)
      result=FAILED failed=$((failed + 1))
      tail -n 60 "$work/log"
      ;;
  esac
  printf '%-16s %-6s %4d s  %s\n' "$step" "$result" "$(($(date +%s) - began))" \
    "$(tail -n 1 "$work/log" | cut -c 1-100)" >> "$work/table"
done

printf '\nfairsem %s\n' "$version"
cat "$work/table"
printf '%d failed, %d open\n' "$failed" "$open"
[ "$failed" -eq 0 ] && [ "$open" -eq 0 ]

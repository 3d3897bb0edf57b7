#!/bin/sh
# SPDX-License-Identifier: MIT
# release_check.sh - check whether this tree can be released: a row for each check that is not in `make
# check` or `make verify`; called by make release-check.
#
#   make release-check                        everything, about two hours
#   make release-check ROWS="same_version abi"
#
# Run it in a build directory of a git checkout.  A check that cannot run is a failure: without a good reason,
# the release must wait until the check can run.
# shellcheck disable=SC2317,SC2154 # rows call the steps; $logs, of rows.sh
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}" "${MAKE:=make}"
. "$top_srcdir/tests/support/rows.sh"
rows_of release-check
export FAIRSEM_TRY_ALL=yes
make=$MAKE
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")

git_here() {
  git -C "$top_srcdir" "$@"
}

# ---------------------------------------------------------------- steps
# A step prints "ok: ..." and returns 0.  If it cannot run, it prints "skipped: ..." and returns 77.  Any other
# status is a failure.
clean_tree() {
  changes=$(git_here status --porcelain) || return 1
  [ -z "$changes" ] || { printf '%s\n' "$changes" "there are changes that are not committed"; return 1; }
  echo "ok: $(git_here rev-parse --short HEAD), nothing uncommitted"
}

tag_is_free() {
  if git_here rev-parse -q --verify "refs/tags/v$version" > /dev/null; then
    echo "the tag v$version exists: this version is released already"
    return 1
  fi
  echo "ok: there is no v$version yet"
}

news_has_a_date() {
  entry=$(grep -m 1 '^[0-9]' "$top_srcdir/NEWS")
  printf '%s\n' "$entry" | grep -qE "^$version  [0-9]{4}-[0-9]{2}-[0-9]{2}\$" ||
    { echo "the newest entry of NEWS is '$entry', not '$version  DATE': see doc/releasing.md"; return 1; }
  day=${entry##* }
  [ "$(date -d "$day" +%Y-%m-%d 2> /dev/null || echo "$day")" = "$day" ] ||
    { echo "there is no day $day"; return 1; }
  echo "ok: NEWS: $entry"
}

# This step looks only at files that configure writes.  consistency.sh and test_documents.py, in make check,
# compare the places in the source that name the version.
same_version() {
  # configure writes the files of CMake and pkg-config.
  for file in fairsem.pc packaging/cmake/fairsem-config-version.cmake; do
    grep -q -e "^Version: $version\$" -e "PACKAGE_VERSION \"$version\"" "$top_builddir/$file" ||
      { echo "$file is of another version: run configure again"; return 1; }
  done
  echo "ok: $version everywhere, all links lead somewhere"
}

abi_is_recorded() {
  for machine in x86_64-linux-gnu aarch64-linux-gnu; do
    if [ ! -f "$top_srcdir/packaging/abi/$version/$machine.abi.gz" ]; then
      echo "skipped: packaging/abi/$version/$machine.abi.gz is missing: make check-abi ABI=--record there"
      return 77
    fi
  done
  echo "ok: packaging/abi/$version"
}

distcheck() {
  "$make" -C "$top_builddir" -j"$jobs" distcheck && echo "ok: make distcheck"
}

reproducible() {
  "$top_srcdir/packaging/check_dist.sh"
}

# The packages need the mail address of a person.
maintainer_is_known() {
  if git_here grep -l "@example[.]org" -- packaging ':!packaging/release_check.sh'; then
    echo "skipped: the maintainer's address in the files above is an example"
    return 77
  fi
  echo "ok: the packages name a maintainer"
}

packages() {
  "$top_srcdir/packaging/check_packages.sh"
}

# ---------------------------------------------------------------- main
row clean_tree '' 5 clean_tree
row tag_is_free '' 5 tag_is_free
row news_has_a_date '' 5 news_has_a_date
row same_version '' 5 same_version
row maintainer '' 5 maintainer_is_known
row abi '' 30 tests tests/release/package/abi.sh
row abi_is_recorded '' 5 abi_is_recorded
row reproducible '' 120 reproducible
row one_file '' 120 tests tests/release/package/amalgamation.sh
row packages '' 600 packages
row site '' 60 tests tests/release/man/test_site.py
row flags '' 1200 "$make" -C "$top_builddir" check-flags
row distcheck '' 600 distcheck
row ports '' 3600 "$make" -C "$top_builddir" check-ports
row orders '' 3600 "$make" -C "$top_builddir" check-mutants MUTANTS=orders RESULTS="$logs/orders.results"
row explore_more '' 660 "$make" -C "$top_builddir" explore-more SECONDS=600
row fuzz '' 660 "$make" -C "$top_builddir" fuzz SECONDS=600
row soak '' 780 "$make" -C "$top_builddir" soak HOURS=0.2
row bench '' 660 "$make" -C "$top_builddir" bench
row ideas '' 1800 "$make" -C "$top_builddir" check-mutants MUTANTS=ideas DEEP=yes RESULTS="$logs/ideas.results"
row mutants '' 20000 "$make" -C "$top_builddir" check-mutants N=2000 SEED="$SEED" RESULTS="$logs/mutants.results"
end_of_rows

#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - compare the binary interface of the library with the last interface on record.
#
#   make check-abi                 fails if a program that was linked before might not run
#   make check-abi ABI=--record    records the interface as the interface of this version
#
# packaging/abi/VERSION/MACHINE.abi.gz is the output of abidw for the functions and types of the public headers.
# See doc/abi.md for the rules.
set -u
export LC_ALL=C

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}" "${CC:=cc}"
records=${ABI_RECORDS:-$top_srcdir/packaging/abi}

skip() {
  echo "skipped: $*"
  exit 77
}
for tool in abidw abidiff readelf; do
  command -v "$tool" > /dev/null 2>&1 || skip "there is no $tool (package abigail-tools)"
done
library=${ABI_LIBRARY:-}
if [ -z "$library" ]; then
  name=$(sed -n "s/^dlname='\(.*\)'/\1/p" "$top_builddir/libfairsem.la")
  [ -n "$name" ] || skip "the shared library was not built (--disable-shared)"
  library=$top_builddir/.libs/$name
fi
readelf -S "$library" | grep -q '\.debug_info' ||
  skip "the library has no debugging information (CFLAGS without -g)"
# shellcheck disable=SC2086 # a compiler can be several words
machine=$($CC ${CFLAGS-} -print-multiarch 2> /dev/null)
# shellcheck disable=SC2086
[ -n "$machine" ] || machine=$($CC -dumpmachine)
version=$(sed -n 's/^AC_INIT(\[fairsem\], \[\([^]]*\)\].*/\1/p' "$top_srcdir/configure.ac")

# Print the interface, without types that are not in the headers and without directories of this machine.  (If
# abidiff is told to leave these types out, it fails to read the record.)
describe() {
  abidw --suppressions "$top_srcdir/packaging/abi/ignored.suppr" --headers-dir "$top_srcdir/include" \
    --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
    --short-locs --no-show-locs --no-elf-needed "$library"
}

if [ "${1-}" = --record ]; then
  record=$records/$version/$machine.abi.gz
  mkdir -p "${record%/*}" && describe > "$record.new" && gzip -9n < "$record.new" > "$record" || exit 1
  rm "$record.new"
  echo "recorded: $record"
  exit
fi

# The highest version that has a record for this machine; versions are compared as numbers.
last=$(cd "$records" && for file in [0-9]*/"$machine.abi.gz"; do
  [ ! -f "$file" ] || echo "${file%%/*}"
done | sort -t. -k1,1n -k2,2n -k3,3n | tail -n 1)
[ -n "$last" ] || skip "no interface for $machine is on record"
work=$(mktemp -d "${TMPDIR:-/tmp}/fairsem-abi.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
record=$work/record.abi now=$work/now.abi
gzip -dc "$records/$last/$machine.abi.gz" > "$record" && describe > "$now" || exit 1

# differs OPTION... - run abidiff: returns 0 if there is no difference, 1 to 3 for an error, 4 or more otherwise.
differs() {
  abidiff "$@" "$record" "$now"
}

# beyond_reserved - print the lines of a report, but not those about new members that replace reserved members
# in a struct of the same size.  The lines about any other change have another form.
beyond_reserved() {
  awk '
    after > 0 { after--; if (/array type (size|subrange)|type name changed|and offset changed/) next }
    /type of .* reserved_\[[0-9]+\]. changed:$/ { after = 4; next }
    /^ *[0-9]+ data member (insertion|change)s?:$/ || /^ *type size hasn.t changed$/ { next }
    /^ *.[a-z0-9_ *]+ [a-z0-9_]+., at offset [0-9]+ \(in bits\)$/ { next }
    /has some indirect sub-type changes:$/ || /^ *parameter [0-9]+ of type .* has sub-type changes:$/ { next }
    /^ *in (pointed to|unqualified underlying) type .*:$/ || /^ *underlying type .* changed:$/ { next }
    /^ *in typedef .*:$/ { next }
    /^(Functions|Variables) changes summary:/ || /^[0-9]+ functions? with some indirect/ { next }
    NF > 0 { print }'
}

# The full report is for people.  The result depends on the report without additions.
report=$(differs)
status=$?
kept=$(differs --no-added-syms)
kept_status=$?
if [ $((status & 3)) -ne 0 ] || [ $((kept_status & 3)) -ne 0 ]; then
  printf '%s\n%s\nFAILED: abidiff could not compare them\n' "$report" "$kept"
  exit 1
fi
if [ "$status" -eq 0 ]; then
  echo "ok: the interface is that of $last"
elif [ "$kept_status" -eq 0 ] || [ -z "$(printf '%s\n' "$kept" | beyond_reserved)" ]; then
  printf '%s\n' "$report"
  cat <<_EOF
ok: programs that were linked with $last go on running; something was added.
  A release then needs ABI_CURRENT + 1, ABI_REVISION = 0, ABI_AGE + 1 (configure.ac), and a block of
  its own in src/fairsem.map, if $last was released.
_EOF
else
  printf '%s\n' "$report"
  cat <<_EOF
FAILED: programs that were linked with $last might not run with this library.
  If that is not wanted, undo it: add a function instead of changing one, use reserved members.
  If it is, and $last was released: ABI_CURRENT + 1, ABI_REVISION = ABI_AGE = 0 (configure.ac), a new
  soname and, from 1.0 on, a new major version.  Before the release of $last: make check-abi
  ABI=--record, and say why in the commit.  doc/abi.md has the rules.
_EOF
  exit 1
fi

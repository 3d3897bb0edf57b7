#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh - check that the library is binary compatible with the last recorded version, and that
# packaging/abi/check.sh detects incompatible changes.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
case ${CFLAGS-} in
  *-fsanitize=*) not_here "with a sanitizer the library has other functions"; exit 77 ;;
esac

# check RECORDS - run packaging/abi/check.sh with these records; its output goes to $work/out.
check() {
  ABI_RECORDS=$1 "$top_srcdir/packaging/abi/check.sh" > "$work/out" 2>&1
}

check "$top_srcdir/packaging/abi"
result=$?
cat "$work/out"
# check.sh has printed what is missing.
[ "$result" -ne 77 ] || skip "the comparison of the binary interface"
[ "$result" -eq 0 ] || exit "$result"

# expect STATUS TEXT WHAT - expect that a check with the changed record ends with STATUS and prints TEXT.
expect() {
  gzip < "$doctored" > "$work/records/100.0.0/${recorded##*/}"
  check "$work/records"
  result=$?
  if [ "$result" -eq "$1" ] && grep -q -e "$2" "$work/out" && ! cmp -s "$record" "$doctored"; then
    echo "ok: $3 is noticed"
  else
    fail "$3: status $result"
  fi
}

# Record the interface of this library, to change the record.  The check uses the record of the highest version.
mkdir -p "$work/records"
ABI_RECORDS=$work/records "$top_srcdir/packaging/abi/check.sh" --record > "$work/out" || exit 1
recorded=$(find "$work/records" -name '*.abi.gz')
record=$work/record doctored=$work/doctored
gzip -dc "$recorded" > "$record" && mkdir "$work/records/100.0.0" || exit 1

sed "/class-decl name='fairsem_attr' /s/size-in-bits='[0-9]*'/size-in-bits='1024'/" \
  "$record" > "$doctored"
expect 1 FAILED "a struct of another size"

sed 's/fairsem_version/fairsem_former/g' "$record" > "$doctored"
expect 1 fairsem_former "a function that has vanished"

sed -e "/elf-symbol name='fairsem_version'/d" \
  -e "/function-decl name='fairsem_version'/,/\/function-decl/d" "$record" > "$doctored"
expect 0 'ABI_AGE + 1' "a function that was added"
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh - build one of the programs of tests/search/fuzz, without a build directory.
#
#   build.sh SRCDIR OUT [MAIN]     MAIN is replay.c (the default) or fuzz_target.c
#
# SRCDIR is src/ or a changed copy of it, with a seeded fault.
# CC, CFLAGS and INCLUDE (a changed copy of include/) can be set; and LINK, a command that links in
# place of CC with CFLAGS, and LIBS.
set -eu

[ $# -eq 2 ] || [ $# -eq 3 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
src=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)

wrap=
# A name has no blanks.
# shellcheck disable=SC2013
for name in $(sed -n 's/^WRAPPED([^,]*, \([a-z_]*\),.*/\1/p' "$here/machine.c"); do
  wrap="$wrap -Wl,--wrap=$name -Wl,--wrap=__${name}64"     # wide_time.h: the other name
done
# shellcheck disable=SC2013
for name in $(sed -n 's/^int  __wrap_\(fairsem_[a-z_]*\)(.*/\1/p' "$here/several.c"); do
  wrap="$wrap -Wl,--wrap=$name -Wl,--wrap=${name}_time64"  # FAIRSEM_TIME64_: the other name
done
# machine.c replaces awake.c.
sources="$(echo "$src"/core/*.c "$src"/system/*.c "$src"/tools/*.c)"
objects=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$objects"' EXIT
: "${CC:=cc}" "${CFLAGS:=-O1 -g}"
# shellcheck disable=SC2086 # lists; a compiler can be several words
for file in $sources "$here"/several.c "$here"/bytes.c "$here"/checks.c "$here"/machine.c \
  "$here"/model.c "$here"/others.c "$here"/steps.c "$here"/threads.c \
  "$here"/how.c "$here"/words.c "$here"/world.c "$here"/../spec/spec.c \
  "$here"/../../scenarios/script.c "$here/${3:-replay.c}"; do
  $CC -std=c11 -D_POSIX_C_SOURCE=200809L $CFLAGS -fexceptions -fasynchronous-unwind-tables \
    -I"$src" -I"$src/core" -I"${INCLUDE:-$here/../../../include}" -I"$here" -c "$file" \
    -o "$objects/$(basename "$file" .c).o"
done
# shellcheck disable=SC2086
${LINK:-$CC $CFLAGS} "$objects"/*.o $wrap ${LIBS-} -o "$out" -pthread

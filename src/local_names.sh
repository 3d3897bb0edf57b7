#!/bin/sh
# SPDX-License-Identifier: MIT
# local_names.sh - in a static library only the public names are visible; called by make.
#
#   LD= OBJCOPY= AR= RANLIB= local_names.sh ARCHIVE COMMAND...
#
# The command links the library.  If that has made the archive, its objects become one, in
# which what they need of each other (fs_*) is found, and these names are then made local: a
# program can have an fs_dequeue of its own.  Only names of ours are touched: those that the
# compiler makes, such as __x86.get_pc_thunk.bx, may have to be the same in all objects.
#
# The sections of a link-time optimizer are removed: the names in them would remain, and another version
# of the compiler could not read them.
set -eu

archive=$1
shift
"$@"
[ -f "$archive" ] || exit 0
whole=$(dirname "$archive")/fairsem.o
trap 'rm -f "$whole" "$archive.new"' EXIT
# Each of them may be several words.
# shellcheck disable=SC2086
{
  $LD -r -o "$whole" --whole-archive "$archive"
  $OBJCOPY --wildcard --localize-symbol='fs_*' --strip-symbol='__gnu_lto_*' \
    --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' \
    --remove-section='.rel*.gnu.debuglto_*' --remove-section=.llvm.lto "$whole"
  rm -f "$archive.new"
  $AR cr "$archive.new" "$whole"
  $RANLIB "$archive.new"
}
mv -f "$archive.new" "$archive"

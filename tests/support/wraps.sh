#!/bin/sh
# SPDX-License-Identifier: MIT
# wraps.sh NAME - the calls that the linker sends to the test NAME first, as its options.
#
# For those who build the tests without Automake.  They are listed where `make check` builds the
# test, in the local.mk of its folder, perhaps as another variable that several tests share.
set -eu

awk -v name="^tests_[a-z]*_$1_LDFLAGS$" '
  !open { variable = $1 }
  { value[variable] = value[variable] " " $0; open = /\\$/ }
  END {
    for (variable in value)
      if (variable ~ name)
        words = value[variable]
    for (other in value)
      if (index(words, "$(" other ")") > 0)
        words = words value[other]
    print words
  }' "$(dirname "$0")"/../*/local.mk | { grep -o -e '-Wl,--wrap=[a-z_]*' || true; }

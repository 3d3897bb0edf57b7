#!/bin/sh
# SPDX-License-Identifier: MIT
# wraps.sh NAME - prints the --wrap options of the linker that the test NAME needs.
#
# It serves builds without Automake.  The options are in the local.mk of the test's folder, perhaps
# in a variable that several tests share.
set -eu

awk -v name="^tests_[a-z_]*_$1_LDFLAGS$" '
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
  }' "$(dirname "$0")"/../*/local.mk "$(dirname "$0")"/../*/*/local.mk |
  { grep -o -e '-Wl,--wrap=[a-z0-9_]*' || true; }

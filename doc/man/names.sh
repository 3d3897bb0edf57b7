#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh PAGE... - the names that each manual page has in its NAME section: a line for each
# name, "name section page description", with tabs between.
#
# The links between pages, the site of `make html` and the tests all take the names from here.
set -eu

for page in "$@"; do
  awk -v page="${page##*/}" '
    BEGIN { section = page; sub(/.*\./, "", section) }
    /^\.Sh / { inside = $2 == "NAME"; next }
    inside && $1 == ".Nm" { name[++count] = $2 }
    inside && $1 == ".Nd" {
      sub(/^\.Nd /, "")
      for (i = 1; i <= count; i++) printf "%s\t%s\t%s\t%s\n", name[i], section, page, $0
      exit
    }' "$page"
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# plain_links.sh - in installed documents, links to what is not installed become plain text; called
# by make install.
#
#   plain_links.sh DIRECTORY
#
# The documents lead into the sources, too, which is what they are for in a checkout.
set -eu

cd "$1"
find . -name '*.md' | while read -r file; do
  awk -v dir="${file%/*}" '
    # Other machines, and headings of this document, are not looked at.
    function leads_nowhere(target) {
      sub(/#.*/, "", target)
      return target != "" && target !~ /^[a-z]+:/ && system("test -e \"" dir "/" target "\"") != 0
    }
    {
      done = ""
      while (match($0, /\[[^][]*\]\([^() ]*\)/)) {
        link = substr($0, RSTART, RLENGTH)
        text = target = link
        sub(/\]\(.*/, "", text)
        sub(/.*\]\(/, "", target)
        if (leads_nowhere(substr(target, 1, length(target) - 1)))
          link = substr(text, 2)
        done = done substr($0, 1, RSTART - 1) link
        $0 = substr($0, RSTART + RLENGTH)
      }
      print done $0
    }' "$file" > "$file.new"
  cat "$file.new" > "$file"     # keeps its mode
  rm "$file.new"
done

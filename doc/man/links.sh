#!/bin/sh
# SPDX-License-Identifier: MIT
# links.sh install|uninstall DIR PAGE... - below DIR, which has man3 and so on, each further name
# of a page is a page of one line, which sends man(1) to the page.  It is a file, not a symbolic
# link: it survives compression, copying and `make distcheck`, and man-db and mandoc follow it.
set -eu

action=$1 dir=$2
shift 2
sh "$(dirname "$0")/names.sh" "$@" | while IFS='	' read -r name section page _; do
  link=$dir/man$section/$name.$section
  if [ "$name.$section" = "$page" ]; then
    continue
  fi
  case $action in
    install) echo ".so man$section/$page" > "$link" && chmod 644 "$link" ;;
    uninstall) rm -f "$link" ;;
    *) exit 2 ;;
  esac
done

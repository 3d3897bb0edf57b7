# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# help.sh - for the quick.sh of an explorer, behind ../../support/script.sh.

# help_is_complete PROGRAM MAIN - does `PROGRAM --help` name each option in MAIN (its main.c) and command.c?
help_is_complete() {
  "$1" --help > "$work/help" || fail "$1 --help: exit status $?"
  sed -n 's/.*strcmp(option, "\(--[a-z-]*\)").*/\1/p' "$2" "$top_srcdir/tests/search/engine/command.c" > "$work/options"
  [ "$(wc -l < "$work/options")" -gt 9 ] || fail "options of $2: found only $(tr '\n' ' ' < "$work/options")"
  while read -r option; do
    grep -q -e "^  $option " "$work/help" || fail "$1 --help does not name $option"
  done < "$work/options"
}

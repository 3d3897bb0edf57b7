# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# result.sh - the three results of a search; sourced by the scripts that search.
#
#   0            NOT FOUND
#   1            FOUND, and what was found has been printed
#   77           skipped: something is missing here, and the script says what
#   all others   COULD NOT RUN: an unknown name, a program that is missing or was killed, no time
#
# The programs and the scripts of the searches use these exit statuses; the scripts exit with 2 if
# they could not run.  A search that could not run has found nothing because it has not searched:
# the result is neither of the first two.

# result WHAT STATUS - keep the worst exit status in `status`; say so if WHAT could not run.
result() {
  case $2 in
    0) ;;
    1) [ "$status" -ne 0 ] || status=1 ;;
    *)
      echo "COULD NOT RUN: $1: exit status $2"
      status=2
      ;;
  esac
}
status=0

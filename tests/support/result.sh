# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# result.sh - exit statuses and limits of time of scripts; sourced by script.sh and by the scripts of the
# searches.
#
#   0            passed; of a search: NOT FOUND
#   1            failed; of a search: FOUND, and what was found has been printed
#   77           skipped: something is missing here, and the script says what
#   all others   COULD NOT RUN: an unknown name, a program that is missing or was killed, no time
#
# The programs and the scripts of the searches use these exit statuses; the scripts exit with 2 if
# they could not run.  A search that could not run has not searched, so its result is neither FOUND nor
# NOT FOUND.
#
# With FAIRSEM_TRY_ALL=yes a missing program is a failure: on a machine with everything installed, no test may
# be left out silently.  "not here: ..." stays a line of the log: this kind of machine can never do that test.

# result WHAT STATUS - keep the worst exit status in `status`; print a line if WHAT could not run.
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

# fail WHAT - report a failure.  script.sh replaces it by one that shows more.
fail() {
  echo "FAILED: $*"
  status=1
}

# not_tried WHAT - report a part of the script that was left out because something is not installed or built.
not_tried() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    fail "not tried: $*"
  else
    echo "not tried: $*"
  fi
}

# skip WHY - exit, because the whole script needs something that is not installed or built.
skip() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    echo "FAILED: skipped: $*"
    exit 1
  fi
  echo "skipped: $*"
  exit 77
}

# not_here WHAT - report a part that this kind of machine, system, compiler or build can never do.
not_here() {
  echo "not here: $*"
}

# has COMMAND - can the command be run?  It may have several words.
has() {
  command -v "${1%% *}" > /dev/null 2>&1
}

# can_run COMPILER FLAG... - does a program that is compiled with these flags build and run?
can_run() {
  has "$1" || return 1
  probe=$(mktemp -d) && echo 'int main(void) { return 0; }' > "$probe/probe.c" &&
    "$@" "$probe/probe.c" -o "$probe/probe" > /dev/null 2>&1 && "$probe/probe" > /dev/null 2>&1
  can=$?
  rm -rf "$probe"
  return "$can"
}

# hang_s - print the number of seconds after which a program counts as hanging: 300 times
# CK_TIMEOUT_MULTIPLIER, as in Check's programs.  The factor may be a fraction.  This is not a test of speed.
hang_s() {
  awk -v times="${CK_TIMEOUT_MULTIPLIER:-1}" 'BEGIN {
    seconds = int(300 * times)
    print seconds < 300 * times ? seconds + 1 : seconds
  }'
}

# await COMMAND... - run it again and again until it succeeds.  Fails after hang_s.
await() {
  give_up=$(($(date +%s) + $(hang_s)))
  until "$@"; do
    [ "$(date +%s)" -lt "$give_up" ] || return 1
    sleep 0.05
  done
}

# limited COMMAND... - run it for hang_s at most.  The exit status is 124 if it hung.
limited() {
  if has timeout; then
    timeout -k 10 "$(hang_s)" "$@"
  else
    "$@"
  fi
}

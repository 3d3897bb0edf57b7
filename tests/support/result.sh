# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# result.sh - exit statuses and limits of time of scripts; sourced by script.sh and by the scripts of the
# searches.
#
#   0            a test: passed; a search: NOT FOUND
#   1            a test: failed; a search: FOUND, and the finding has been printed
#   77           skipped: something is missing on this machine, and the script says what
#   all others   COULD NOT RUN: an unknown name, a program that is missing or was killed, no time
#
# The programs of the searches use these exit statuses, too.  A script that could not run exits with 2.  A
# search that could not run has not searched, so its result is neither FOUND nor NOT FOUND.
#
# With FAIRSEM_TRY_ALL=yes a missing program is a failure: on a machine with everything installed, no test may
# be left out silently.  "not here: ..." is never a failure: this kind of machine can never run that test.

# result WHAT STATUS - note an exit status: `status` is the worst so far.  Print a line if WHAT could not run.
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

# fail WHAT - report a failure.  script.sh replaces this function by one that shows more.
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

# can_run COMPILER FLAG... - can a program be compiled with these flags, and does it run?
can_run() {
  has "$1" || return 1
  probe=$(mktemp -d) && echo 'int main(void) { return 0; }' > "$probe/probe.c" &&
    "$@" "$probe/probe.c" -o "$probe/probe" > /dev/null 2>&1 && "$probe/probe" > /dev/null 2>&1
  can=$?
  rm -rf "$probe"
  return "$can"
}

# hang_s - print the number of seconds after which a program counts as hanging: 300 times CK_TIMEOUT_MULTIPLIER,
# as in Check programs.  The factor may be a fraction.  The limit is not a test of speed.
hang_s() {
  awk -v times="${CK_TIMEOUT_MULTIPLIER:-1}" 'BEGIN {
    seconds = int(300 * times)
    print seconds < 300 * times ? seconds + 1 : seconds
  }'
}

# await COMMAND... - run the command again and again until it succeeds.  Returns 1 after hang_s seconds.
await() {
  give_up=$(($(date +%s) + $(hang_s)))
  until "$@"; do
    [ "$(date +%s)" -lt "$give_up" ] || return 1
    sleep 0.05
  done
}

# limited COMMAND... - run the command for hang_s seconds at most.  The exit status is 124 if it hung.
limited() {
  if has timeout; then
    timeout -k 10 "$(hang_s)" "$@"
  else
    "$@"
  fi
}

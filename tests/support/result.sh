# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# result.sh - how a script may end, and how long it may take; script.sh reads this file, and so do the
# scripts that search.
#
#   0            passed; of a search: NOT FOUND
#   1            failed; of a search: FOUND, and what was found has been printed
#   77           skipped: something is missing here, and the script says what
#   all others   COULD NOT RUN: an unknown name, a program that is missing or was killed, no time
#
# The programs and the scripts of the searches use these exit statuses; the scripts exit with 2 if
# they could not run.  A search that could not run has found nothing because it has not searched:
# the result is neither of the first two.
#
# With FAIRSEM_TRY_ALL=yes, what is missing is a failure: where everything has been installed, nothing
# shall be left out without a word.  What this kind of machine can never do stays a line "not here: ...".

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

# fail WHAT - script.sh has one that shows more.
fail() {
  echo "FAILED: $*"
  status=1
}

# not_tried WHAT - a part of a script, for want of something that can be installed or built.
not_tried() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    fail "not tried: $*"
  else
    echo "not tried: $*"
  fi
}

# skip WHY - the same for all of a script.
skip() {
  if [ "${FAIRSEM_TRY_ALL-}" = yes ]; then
    echo "FAILED: skipped: $*"
    exit 1
  fi
  echo "skipped: $*"
  exit 77
}

# not_here WHAT - this kind of machine, system, compiler or build cannot do it, whatever is installed.
not_here() {
  echo "not here: $*"
}

# has COMMAND - can it be run?  It can be several words.
has() {
  command -v "${1%% *}" > /dev/null 2>&1
}

# can_run COMPILER FLAG... - does a program that is made with these flags build, and run?
can_run() {
  has "$1" || return 1
  probe=$(mktemp -d) && echo 'int main(void) { return 0; }' > "$probe/probe.c" &&
    "$@" "$probe/probe.c" -o "$probe/probe" > /dev/null 2>&1 && "$probe/probe" > /dev/null 2>&1
  can=$?
  rm -rf "$probe"
  return "$can"
}

# hang_s - print after how many seconds a program is taken for one that hangs.  It is no measure of
# speed: 300 s times CK_TIMEOUT_MULTIPLIER, which Check's programs use, too, and which may be a fraction.
hang_s() {
  awk -v times="${CK_TIMEOUT_MULTIPLIER:-1}" 'BEGIN {
    seconds = int(300 * times)
    print seconds < 300 * times ? seconds + 1 : seconds
  }'
}

# await COMMAND... - run it again and again until it succeeds.  False after so long that it never will.
await() {
  give_up=$(($(date +%s) + $(hang_s)))
  until "$@"; do
    [ "$(date +%s)" -lt "$give_up" ] || return 1
    sleep 0.05
  done
}

# limited COMMAND... - run it, but not for ever.  Exit status 124: it hung.
limited() {
  if has timeout; then
    timeout -k 10 "$(hang_s)" "$@"
  else
    "$@"
  fi
}

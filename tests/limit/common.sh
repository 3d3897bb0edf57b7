# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# common.sh - what the tests of fairsem-limit share; they read script.sh first.
# shellcheck disable=SC2034,SC2154 # of the scripts that read this

# The whole script hangs, or it does not: nothing in it has a limit of time of its own.
if [ -z "${is_limited-}" ]; then
  rm -rf "$work"
  is_limited=yes top_srcdir=$top_srcdir top_builddir=$top_builddir
  export is_limited top_srcdir top_builddir
  exec timeout -k 10 "$(hang_s)" sh "$0" "$@"
fi
unset is_limited
limit=$top_builddir/fairsem-limit
if [ ! -x "$limit" ]; then
  skip "fairsem-limit was not built"
fi
name=test-$$
# A directory of our own, so that no other test is in the way.  In sandboxes /dev/shm may be read-only.
FAIRSEM_LIMIT_DIR=$(mktemp -d /dev/shm/fairsem-limit-test.XXXXXX 2> /dev/null) ||
  FAIRSEM_LIMIT_DIR=$(mktemp -d "$work/names.XXXXXX") || exit 99
export FAIRSEM_LIMIT_DIR
chmod 1777 "$FAIRSEM_LIMIT_DIR"
trap 'echo "FAILED: it hangs, or somebody has ended it"; exit 99' HUP INT TERM
trap 'jobs -p > "$work/jobs"; kill $(cat "$work/jobs") 2> /dev/null
  FAIRSEM_LIMIT_DIR="" "$limit" --remove --force "$name" 2> /dev/null
  rm -rf "$FAIRSEM_LIMIT_DIR" "$work"' EXIT

built=$(cd "$top_builddir" && pwd)
hang=$(hang_s)
PYTHONPATH=$top_srcdir/tests/cluster:$top_srcdir/tests/support PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# gives STATUS WHAT ARGUMENT... - fairsem-limit ends with this status.
gives() {
  expected=$1 what=$2
  shift 2
  "$limit" "$@" > "$work/out" 2> "$work/err" < /dev/null
  result=$?
  if [ "$result" -eq "$expected" ]; then
    echo "ok: $what"
  else
    fail "$what: exit status $result, not $expected"
  fi
}

# says TEXT - the last message has it.
says() {
  grep -q -e "$1" "$work/err" || fail "the message does not say: $1"
}

# await WHAT COMMAND... - return when the command succeeds; the test fails if it never does.
await() {
  what=$1 tries=0
  shift
  until "$@" > "$work/awaited" 2>&1; do
    tries=$((tries + 1))
    # Before the script is ended, so that there is a message.
    if [ "$tries" -gt $((hang * 40)) ]; then
      cat "$work/awaited"
      fail "waited in vain: $what"
      return 1
    fi
    sleep 0.02
  done
}

# shows PATTERN - the status has it.
shows() {
  "$limit" --status "$name" 2>&1 | tee "$work/status" | grep -q "$1"
  found=$?
  [ "$found" -eq 0 ] || cat "$work/status"
  return "$found"
}

# Control characters for a terminal; the status must not print them.
obeyed=$(printf '\033\302\233')

# hold - start a command that runs until `let_go`; its process ID is in $holder.  It has no long paths:
# the status shows the beginning of a command.
hold() {
  rm -f "$work/gate"
  mkfifo "$work/gate"
  # shellcheck disable=SC2016 # for the shell inside
  (cd "$work" && PATH=$built:$PATH exec fairsem-limit "$name" 1 -- sh -c 'read -r line < "$1"' sh \
    gate "$obeyed") &
  holder=$!
  await "a holder" shows 'running 1'
}

let_go() {
  echo > "$work/gate"
  wait "$holder"
}

if ! "$limit" "$name" 1 -- true 2> "$work/err"; then
  grep -q 'the file system' "$work/err" && skip "no file system for segments"
  cat "$work/err"
  exit 1
fi

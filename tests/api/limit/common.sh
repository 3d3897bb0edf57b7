# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# common.sh - what the tests of fairsem-limit share; they read script.sh first.
# shellcheck disable=SC2034,SC2154 # of the scripts that read this
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
trap 'exit 99' HUP INT TERM
trap 'jobs -p > "$work/jobs"; kill $(cat "$work/jobs") 2> /dev/null
  FAIRSEM_LIMIT_DIR="" "$limit" --remove --force "$name" 2> /dev/null
  rm -rf "$FAIRSEM_LIMIT_DIR" "$work"' EXIT

most_tries=3000
[ -z "${STOP_EARLY-}" ] || most_tries=1000

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

# await WHAT COMMAND... - return when the command succeeds; the test fails if that takes a minute,
# or with STOP_EARLY a third of that.
await() {
  what=$1 tries=0
  shift
  until "$@" > "$work/awaited" 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt "$most_tries" ]; then
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

# hold - start a command that runs until `let_go`; its process ID is in $holder.
hold() {
  rm -f "$work/gate"
  mkfifo "$work/gate"
  # shellcheck disable=SC2016 # for the shell inside
  "$limit" "$name" 1 -- sh -c 'read -r line < "$1"' sh "$work/gate" "$obeyed" &
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

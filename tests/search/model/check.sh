#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - verify the model with spin: each scene must hold, each seeded fault must be found.
#
#   check.sh              both at once; takes minutes and up to 2 GB
#   check.sh scenes       only the scenes
#   check.sh faults       only the faults
#   check.sh trail FLAG.. verify one scene and print the steps to the fault in it
#
# With PART=K/N it takes one scene and one fault in N, from the K-th on.
#
# A scene is a line of -D flags, which the model explains.  The exit status is 1 if a scene does not hold or a fault
# is not found, 2 if a search could not run or was not complete, and 77 if there is no spin.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}" "${CC:=cc}"
readonly memory_mb=2000
held=0 found=0
. "$top_srcdir/tests/support/result.sh"
. "$top_srcdir/tests/support/part.sh"

command -v spin > /dev/null 2>&1 || skip "there is no spin"
mkdir -p "$top_builddir/model" && work=$(mktemp -d "$top_builddir/model/run.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
top_srcdir=$(cd "$top_srcdir" && pwd)
model=$top_srcdir/tests/search/model/cluster.pml
cd "$work" || exit 99

fail() {
  echo "FAILED: $*"
  result "$*" 1
}

# verifier OPTIMIZE FLAGS - make ./pan for a scene.
verifier() {
  # shellcheck disable=SC2086 # a list of flags
  spin -a $2 "$model" > log 2>&1 || { cat log && return 1; }
  $CC -w "$1" -DCOLLAPSE -DMEMLIM=$memory_mb -DSAFETY -DNOCLAIM -o pan pan.c > log 2>&1 ||
    { cat log && return 1; }
}

# search - run ./pan; its output goes to ./out.
search() {
  ./pan -m4000000 > out 2>&1
}

# seen_all - did the search find no errors, and was it complete?
seen_all() {
  grep -q 'errors: 0$' out &&
    ! grep -qE 'max search depth too small|out of memory|Search not completed|aborted' out
}

complaints() {
  grep -E '^(pan:|error:|Warning:)' out
}

# not_complete WHAT - report that ./pan has neither found an error nor searched all states.
not_complete() {
  result "$1: the search is not complete" 2
  tail -n 5 out
}

# verdict - print the failure in one word: the name of an oracle, or deadlock.
verdict() {
  if grep -q '^pan:1: invalid end state' out; then
    echo deadlock
  else
    sed -n 's/^pan:1: assertion violated .*!(\([A-Z0-9_]*\))) (at .*/\1/p' out
  fi
}

# row NAME - print a line of the table, from ./out.
row() {
  awk -v name="$1" '
    /depth reached/ { depth = $6 + 0 }
    /states, stored/ { states = $1 }
    /total actual memory/ { mb = $1 }
    /^pan: elapsed time/ { seconds = $4 }
    END { printf "%-50s %10d %8d %7.1f %6d\n", name, states, depth, seconds, mb }
  ' out
}

# scene NAME FLAGS - verify a scene.
scene() {
  in_part || return 0
  verifier -O1 "$2" || { result "$1: not a verifier" 2 && return; }
  search
  row "$1"
  if seen_all; then
    held=$((held + 1))
  elif [ -n "$(verdict)" ]; then
    fail "$1 ($2): $(verdict)" && complaints
  else
    not_complete "$1 ($2)"
  fi
}

scenes() {
  printf '%-50s %10s %8s %7s %6s\n' scene states depth seconds MB
  while IFS='|' read -r name flags; do
    scene "$name" "$flags"
  done << END
clients, two of whose answers are lost|-DHOLDS_LONG -DLOSSES=2 -DNEED0=2
one dies, an answer is lost, a better priority|-DHOLDS_LONG -DLOSSES=1 -DDEATHS=1 -DPRIO2=0
two die, a watch breaks, a big request|-DHOLDS_LONG -DDEATHS=2 -DBREAKS=1 -DNEED1=2
a wait times out, a watch breaks, an answer is lost|-DDEADLINES=1 -DLOSSES=1 -DBREAKS=1 -DPRIO1=0 -DUNITS=1
another limit is asked for, one dies|-DHOLDS_LONG -DLIMIT2=1 -DDEATHS=1 -DLOSSES=1
the limit is set twice, an answer is lost|-DHOLDS_LONG -DLOWERS=2 -DLOSSES=1 -DCLIENTS=2
the limit is set, an answer is lost, a big request|-DHOLDS_LONG -DLOWERS=1 -DLOSSES=1 -DCLIENTS=2 -DNEED1=2
the limit is set, another limit is asked for|-DHOLDS_LONG -DLOWERS=1 -DLIMIT2=1
a key is deleted, a watch breaks|-DREMOVES=1 -DBREAKS=1
a token ends, an answer is lost, a wait times out|-DHOLDS_LONG -DREFUSALS=1 -DLOSSES=1 -DDEADLINES=1 -DUNITS=1
questions are given up, one dies|-DHOLDS_LONG -DTIMEOUTS=2 -DLOSSES=1 -DDEATHS=1 -DUNITS=1
a command inside another, one dies|-DUNITS=1 -DNESTED -DLOSSES=1 -DDEATHS=1
a clock that is late, a leader of old|-DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
END
  [ $((held + status)) -gt 0 ] || result "no scene in part $PART" 2
  echo "ok: $held searches hold"
}

# fault NAME EXPECTED FLAGS - seed the fault; the expected oracle must find it.
fault() {
  in_part || return 0
  verifier -O0 "-DBUG=$1 $3" || { result "$1: not a verifier" 2 && return; }
  search
  got=$(verdict)
  printf '%-20s %-12s %s\n' "$1" "${got:-not found}" "$3"
  if [ "$got" = "$2" ]; then
    found=$((found + 1))
  elif [ -z "$got" ] && ! seen_all; then
    not_complete "fault $1 with $3"
  else
    fail "fault $1 with $3: expected $2" && complaints
  fi
}

faults() {
  printf '\n%-20s %-12s %s\n' "seeded fault" "found by" scene
  while read -r name expected flags; do
    fault "$name" "$expected" "$flags"
  done << END
OWN_UNCHECKED PLACE -DUNITS=1 -DREMOVES=1
BETTER_UNCHECKED ORDER -DUNITS=1 -DPRIO2=0
EARLIER_UNCHECKED ORDER -DNEED0=2
RUNNING_UNCHECKED LIMIT -DUNITS=1
LIMIT_UNCHECKED LIMIT -DLOWERS=1
READ_TOO_NEW LIMIT -DUNITS=1
JOINS_TWICE deadlock -DUNITS=1 -DLOSSES=1
JOINS_RUNNING KEPT -DHOLDS_LONG -DLOSSES=1
LIMIT_OF_RUNNING LIMIT -DLIMIT2=1
LIMIT_OF_WAITING deadlock -DLIMIT2=1 -DNEED1=2
DEAD_FOR_EVER deadlock -DUNITS=1 -DDEATHS=1
ASSUMES_FAILED deadlock -DUNITS=1 -DLOSSES=1
FENCE_OF_READ FENCE -DLOSSES=1
REVOKES_FIRST LIMIT -DUNITS=1
WATCHES_LATE deadlock -DUNITS=1
RESUMES_BLINDLY deadlock -DUNITS=1 -DBREAKS=1
ASSUMES_HEAD STUCK -DHOLDS_LONG -DNEED0=2 -DDEADLINES=1
BETTER_NOT_SEEN STUCK -DHOLDS_LONG -DPRIO2=0 -DDEADLINES=1
ALL_WATCH_RUNNING STUCK -DHOLDS_LONG -DNEED0=2
FROM_ANSWER LIMIT -DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
BEGIN_RENEWS LIMIT -DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
STOPS_AT_THE_END LIMIT -DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
TERM_UNCHECKED LIMIT -DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
OUTLIVES_PARENT LIMIT -DUNITS=1 -DDEATHS=1
TOKEN_IS_A_NO KEPT -DREFUSALS=1
OUTER_OF_ENGINE deadlock -DUNITS=1 -DNESTED -DLOSSES=1
GIVES_UP_AWAKE deadlock -DUNITS=1 -DTIMEOUTS=1
LIMIT_NOT_WATCHED deadlock -DUNITS=1 -DLOWERS=1
REPLACES_LIMIT LIMIT -DLIMIT2=1 -DLOWERS=1
JOIN_GIVEN_UP deadlock -DUNITS=1 -DLOSSES=1 -DTIMEOUTS=1
END
  [ $((found + status)) -gt 0 ] || result "no fault in part $PART" 2
  echo "ok: $found seeded faults found"
}

trail() {
  verifier -O0 "$*" || { result "$*: not a verifier" 2 && return; }
  search
  if seen_all; then
    echo "found no fault in it"
  elif [ -z "$(verdict)" ]; then
    not_complete "$*"
  else
    verdict
    # shellcheck disable=SC2068 # a list of flags
    spin -t -k "${model##*/}.trail" -p -g $@ "$model" > steps 2>&1
    grep -v '^ *$' steps
    status=1
  fi
}

# both - run scenes and faults in parallel, in directories of their own.
both() {
  sh "$top_srcdir/tests/search/model/check.sh" faults > faults.out 2>&1 &
  faults=$!
  trap 'kill "$faults" 2> /dev/null; exit 99' HUP INT TERM
  scenes
  wait "$faults"
  result "the faults" $?
  cat faults.out
}

case ${1:-all} in
  all) both ;;
  scenes) scenes ;;
  faults) faults ;;
  trail) shift && trail "$@" ;;
  *) echo "usage: check.sh [scenes | faults | trail FLAG...]" >&2 && exit 2 ;;
esac
exit "$status"

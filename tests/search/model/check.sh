#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - verify the model with spin: every scene must hold, every seeded fault must be found.
#
#   check.sh              both at once; it takes about eight minutes and at most 2 GB
#   check.sh scenes       only the scenes
#   check.sh faults       only the faults
#   check.sh trail FLAG.. verify one scene and print the steps to the fault in it
#   check.sh names        only whether src/ still has the functions that the model names
#
# With PART=K/N it takes one scene in N, and one fault, from the K-th on.
#
# A scene is a line of -D flags; fairsem.pml explains them.  Exit status 1: a scene does not hold, or
# a fault is not found; 2: a search could not run, or was not complete; 77: there is no spin.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}" "${CC:=cc}"
readonly memory_mb=2000
held=0 found=0
. "$top_srcdir/tests/support/result.sh"
. "$top_srcdir/tests/support/part.sh"

[ "${1:-}" = names ] || command -v spin > /dev/null 2>&1 || {
  skip "there is no spin"
}
mkdir -p "$top_builddir/model" && work=$(mktemp -d "$top_builddir/model/run.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
top_srcdir=$(cd "$top_srcdir" && pwd)
model=$top_srcdir/tests/search/model/fairsem.pml
cd "$work" || exit 99

fail() {
  echo "FAILED: $*"
  result "$*" 1
}

# The inlines have the names of the functions that they stand for, and the comments above them say
# `file: function, function`.  If that is not in that file any more, the model is out of date.
names() {
  models=$(dirname "$model")
  {
    grep -hoE '^inline (fs|fairsem)_[a-z_]*' "$models"/*.pml | sed 's/inline /*.[ch] /'
    grep -hoE '[a-z_/]+\.[ch]: [a-z_]+(, [a-z_]+)*' "$models"/*.pml | tr -d ,: |
      while read -r file functions; do
        # shellcheck disable=SC2086 # a list
        printf "$file %s\n" $functions
      done
  } > named
  while read -r file name; do
    # shellcheck disable=SC2086 # a pattern
    cat "$top_srcdir"/src/$file "$top_srcdir"/src/core/$file "$top_srcdir"/src/shared/$file 2> /dev/null |
      grep -qE "\\b$name\\(" || echo "$file: $name"
  done < named > log
  [ -s named ] || fail "the model names no functions"
  if [ -s log ]; then
    fail "in the model, but not in src/: $(tr '\n' ' ' < log)"
  else
    echo "ok: src/ has the $(wc -l < named) functions that the model names"
  fi
}

# verifier OPTIMIZE FLAGS safety|liveness - make ./pan for the scene.
verifier() {
  # shellcheck disable=SC2086 # a list of flags
  spin -a $2 "$model" > log 2>&1 || { cat log && return 1; }
  search="-DSAFETY -DNOCLAIM"
  [ "$3" = safety ] || search=-DNFAIR=3
  # shellcheck disable=SC2086
  $CC -w "$1" -DCOLLAPSE -DMEMLIM=$memory_mb $search -o pan pan.c > log 2>&1 ||
    { cat log && return 1; }
}

# search safety|FORMULA [OPTION] - run ./pan; its output is in ./out.
search() {
  if [ "$1" = safety ]; then
    ./pan -m4000000 > out 2>&1
  else
    # shellcheck disable=SC2086 # one option or none
    ./pan -m4000000 -a -f -N "$1" ${2:-} > out 2>&1
  fi
}

# True if there are no errors and the search was complete.
seen_all() {
  grep -q 'errors: 0$' out &&
    ! grep -qE 'max search depth too small|out of memory|Search not completed|aborted' out
}

complaints() {
  grep -E '^(pan:|error:|Warning:)' out
}

# not_complete WHAT - ./pan has neither found an error nor searched all.
not_complete() {
  result "$1: the search is not complete" 2
  tail -n 5 out
}

# Print what went wrong in one word: the name of an oracle, deadlock, or starved.
verdict() {
  if grep -q '^pan:1: acceptance cycle' out; then
    echo starved
  elif grep -q '^pan:1: invalid end state' out; then
    echo deadlock
  else
    sed -n 's/^pan:1: assertion violated .*!(\([A-Z0-9_]*\))) (at .*/\1/p' out
  fi
}

# row NAME SEARCH - one line of the table, from ./out.
row() {
  awk -v name="$1" -v search="$2" '
    /depth reached/ { depth = $6 + 0 }
    /states, stored/ { states = $1 }
    /total actual memory/ { mb = $1 }
    /^pan: elapsed time/ { seconds = $4 }
    END { printf "%-44s %-8s %10d %8d %7.1f %6d\n", name, search, states, depth, seconds, mb }
  ' out
}

# scene NAME SEARCHES FLAGS OPTIMIZE
scene() {
  in_part || return 0
  kind=safety
  [ "$2" = safety ] || kind=liveness
  verifier "$4" "$3" $kind || { result "$1: not a verifier" 2 && return; }
  for formula in $2; do
    search "$formula"
    row "$1" "$formula"
    if seen_all; then
      held=$((held + 1))
    elif [ -n "$(verdict)" ]; then
      fail "$1 ($3), $formula: $(verdict)" && complaints
    else
      not_complete "$1 ($3), $formula"
    fi
  done
}

# An optimized build takes ten seconds, so only long searches have one.
scenes() {
  printf '%-44s %-8s %10s %8s %7s %6s\n' scene search states depth seconds MB
  while IFS='|' read -r name searches flags optimize; do
    scene "$name" "$searches" "$flags" "${optimize:--O0}"
  done << END
two rounds and a big request|safety|-DROUNDS=2 -DNEED0=2
the same, asleep on words|safety|-DROUNDS=2 -DNEED0=2 -DON_WORD
deadlines, spurious wake-ups|safety|-DFOR_EVER -DNEED0=2 -DDEADLINES=3 -DSPURIOUS
priorities, a try, a deadline|safety|-DFOR_EVER -DNEED0=2 -DPRIORITY2=-1 -DTRIES=2 -DDEADLINES=1
token, pthread_cancel, a deadline|safety|-DNEED0=2 -DTOKENS=3 -DDEADLINES=2 -DCANCELED_IN_PARK=5
the same, asleep on words|safety|-DNEED0=2 -DTOKENS=3 -DDEADLINES=2 -DCANCELED_IN_PARK=5 -DON_WORD
an owner goes into debt|safety|-DNEED0=2 -DCONSUMES -DDEADLINES=1
destroyed and freed after the last acquire|safety|-DDESTROY -DUNITS=3
bypass: two rounds and a big request|safety|-DBYPASS -DROUNDS=2 -DNEED0=2
bypass: asleep on words, deadlines|safety|-DBYPASS -DROUNDS=2 -DNEED0=2 -DON_WORD -DDEADLINES=1
bypass: nobody passes after the bound|safety|-DBYPASS -DBOUND -DFOR_EVER -DUNITS=1 -DTRIES=4 -DSPURIOUS
bypass: priorities, a deadline|safety|-DBYPASS -DFOR_EVER -DNEED0=2 -DPRIORITY2=-1 -DDEADLINES=1
bypass: token, pthread_cancel, a deadline|safety|-DBYPASS -DNEED0=2 -DTOKENS=3 -DDEADLINES=2 -DCANCELED_IN_PARK=5
bypass: an owner goes into debt|safety|-DBYPASS -DNEED0=2 -DCONSUMES -DDEADLINES=1
bypass: destroyed and freed|safety|-DBYPASS -DDESTROY -DUNITS=3|-O2
age: a big request of the worst priority|safety|-DAGING -DROUNDS=2 -DNEED0=2 -DPRIORITY0=1
age: three priorities, a try, a deadline|safety|-DAGING -DFOR_EVER -DPRIORITY0=1 -DPRIORITY2=-1 -DUNITS=1 -DTRIES=2 -DDEADLINES=1
age: the worst priority is granted|leaves0|-DAGING -DFOR_EVER -DPRIORITY0=1 -DUNITS=1|-O2
granted, without deadlines|leaves0 leaves1 leaves2|-DFOR_EVER -DNEED0=2
bypass: granted after the bound|leaves0 leaves1 leaves2|-DBYPASS -DBOUND -DFOR_EVER -DNEED0=2|-O2
granted or leaves|leaves0 leaves1 leaves2|-DFOR_EVER -DNEED0=2 -DDEADLINES=2 -DFAIR_MUTEX
END
  # The semaphore between processes that die.
  model=$top_srcdir/tests/search/model/repair.pml
  while IFS='|' read -r name flags; do
    scene "$name" safety "$flags" -O1
  done << END
processes, two of which die, at any step|
the same, a big request, deadlines|-DHOLDS_LONG -DUNITS=2 -DNEED0=2 -DDEADLINES=2
one dies, a wait times out|-DDEATHS=1 -DDEADLINES=1
one dies, another takes its entry|-DDEATHS=1 -DBIRTHS=1
two die, another takes an entry|-DHOLDS_LONG -DBIRTHS=1
two rounds, one dies, a wait times out|-DHOLDS_LONG -DROUNDS=2 -DDEATHS=1 -DDEADLINES=1
all keep watch|-DHOLDS_LONG -DWATCH=2 -DDEADLINES=1
END
  # The limit between machines, whose engine is etcd.
  model=$top_srcdir/tests/search/model/cluster.pml
  while IFS='|' read -r name flags; do
    scene "$name" safety "$flags" -O1
  done << END
clients, two of whose answers are lost|-DHOLDS_LONG -DLOSSES=2 -DNEED0=2
one dies, an answer is lost, a better priority|-DHOLDS_LONG -DLOSSES=1 -DDEATHS=1 -DPRIO2=0
two die, a watch breaks, a big request|-DHOLDS_LONG -DDEATHS=2 -DBREAKS=1 -DNEED1=2
a wait times out, a watch breaks, an answer is lost|-DDEADLINES=1 -DLOSSES=1 -DBREAKS=1 -DPRIO1=0 -DUNITS=1
another limit is asked for, one dies|-DHOLDS_LONG -DLIMIT2=1 -DDEATHS=1 -DLOSSES=1
the limit is lowered, an answer is lost|-DHOLDS_LONG -DLOWERS=1 -DLOSSES=1
a key is deleted, a watch breaks|-DREMOVES=1 -DBREAKS=1
a token ends, an answer is lost, a wait times out|-DHOLDS_LONG -DREFUSALS=1 -DLOSSES=1 -DDEADLINES=1 -DUNITS=1
questions are given up, one dies|-DHOLDS_LONG -DTIMEOUTS=2 -DLOSSES=1 -DDEATHS=1 -DUNITS=1
a command inside another, one dies|-DUNITS=1 -DNESTED -DLOSSES=1 -DDEATHS=1
a clock that is late, a leader of old|-DUNITS=1 -DCLIENTS=2 -DCLOCKS=1
END
  [ $((held + status)) -gt 0 ] || result "no scene in part $PART" 2
  echo "$held searches hold"
}

# fault NAME EXPECTED FLAGS - seed the fault; the expected oracle must find it.
fault() {
  in_part || return 0
  kind=safety option=
  if [ "$2" = starved ]; then
    kind=leaves0 option=-A      # the assertions would fail first
  fi
  verifier -O0 "-DBUG=$1 $3" "$kind" || { result "$1: not a verifier" 2 && return; }
  search "$kind" "$option"
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
BARGING I6 -DUNITS=1
TRY_PASSES I6 -DNEED0=2 -DTRIES=4
LIFO_QUEUE I6 -DUNITS=1
AGE_IGNORED starved -DAGING -DFOR_EVER -DPRIORITY0=1 -DUNITS=1
NEWCOMERS_PASS_OLD I6 -DAGING -DROUNDS=2 -DPRIORITY0=1 -DUNITS=1
PRIORITY_IGNORED I6 -DUNITS=1 -DPRIORITY2=-1
SMALL_FIRST I6 -DNEED0=2
SMALL_FIRST starved -DFOR_EVER -DNEED0=2
NO_CASCADE I2 -DNEED0=2 -DDEADLINES=1
GRANTS_ONE I2 -DNEED0=2
GRANT_BEFORE_DEBIT I5 -DNEED0=2
SLOW_DROPPED I3 -DUNITS=1
SLOW_NOT_SET I3 -DUNITS=1
EXPIRED_AND_GRANTED TRUTH -DUNITS=1 -DDEADLINES=1
ABANDONS_UNITS TRUTH -DUNITS=1 -DCANCELED_IN_PARK=1
ABANDON_MAKES_UNITS I1 -DUNITS=1 -DCANCELED_IN_PARK=1
COMPLETED_BY_STORE deadlock -DUNITS=1
COMPLETED_BY_STORE starved -DFOR_EVER -DUNITS=1
TOUCHES_GRANTED I8 -DUNITS=1
WAKE_FORGOTTEN deadlock -DUNITS=1
SLEEPS_BLINDLY deadlock -DUNITS=1 -DON_WORD
WAKE_IS_GRANT I8 -DUNITS=1 -DSPURIOUS
NOT_DETACHED I8 -DUNITS=1 -DTOKENS=1
CANCEL_SKIPS_COMING TOKENS_WORD -DUNITS=1 -DTOKENS=1
TOUCHES_UNLOCKED I8 -DDESTROY -DUNITS=3
GRANTS_IN_BATCHES I8 -DDESTROY -DUNITS=3
DESTROYS_AT_ONCE I8 -DDESTROY -DUNITS=3
OPEN_KEPT I3 -DUNITS=1 -DBYPASS
OPENS_SILENTLY I2 -DUNITS=1 -DBYPASS
WOKEN_BUT_ASLEEP I2 -DUNITS=1 -DBYPASS
NO_CLAIM I2 -DUNITS=1 -DBYPASS
OPENS_TO_AWAKE I2 -DUNITS=1 -DBYPASS
BOUND_FORGOTTEN I6 -DUNITS=1 -DBYPASS -DBOUND
UNFAIR_MUTEX starved -DFOR_EVER -DNEED0=2 -DDEADLINES=2
END
  model=$top_srcdir/tests/search/model/repair.pml
  while read -r name expected flags; do
    fault "$name" "$expected" "$flags"
  done << END
NOT_REPAIRED I1 -DDEATHS=1
ENTRY_FREED_FIRST R2
COUNTS_NO_GRANTS I1
COUNT_TRUSTED I1 -DDEATHS=1
QUEUE_TRUSTED deadlock
LOCK_OF_LIVING ALONE
LOCK_OF_ENTRY deadlock -DDEATHS=1 -DBIRTHS=1
NEVER_LOOKS deadlock -DDEATHS=1
NEVER_LATE deadlock
HEAD_OVERLOOKED I2 -DHOLDS_LONG -DDEATHS=1 -DUNITS=2 -DNEED1=2
LEAVER_OVERLOOKED deadlock -DDEATHS=1 -DDEADLINES=1
NOT_CONFIRMED R3 -DDEATHS=1 -DBIRTHS=1
WATCH_NOT_TOLD deadlock -DDEATHS=1 -DDEADLINES=1
REPAIR_TELLS_NONE deadlock -DHOLDS_LONG -DDEATHS=3 -DBIRTHS=1
WAKE_ONLY_ONCE deadlock -DDEATHS=1 -DUNITS=2 -DNEED0=2
UNSETTLED_FIRST deadlock -DDEATHS=0 -DDEADLINES=1
SETTLED_LAST R2 -DDEATHS=0 -DDEADLINES=2 -DROUNDS=2
SETTLER_FORGOTTEN R2 -DHOLDS_LONG -DDEATHS=1 -DDEADLINES=1 -DROUNDS=2
GRANTED_BY_STORE deadlock -DDEATHS=0 -DDEADLINES=1
LEFT_AS_FREE I1 -DDEATHS=0 -DDEADLINES=1
BARGING ORDER -DDEATHS=0 -DUNITS=2 -DNEED0=2
END
  model=$top_srcdir/tests/search/model/cluster.pml
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
OUTLIVES_GUARD LIMIT -DUNITS=1 -DDEATHS=1
TOKEN_IS_A_NO KEPT -DREFUSALS=1
OUTER_OF_ENGINE deadlock -DUNITS=1 -DNESTED -DLOSSES=1
GIVES_UP_AWAKE deadlock -DUNITS=1 -DTIMEOUTS=1
JOIN_GIVEN_UP deadlock -DUNITS=1 -DLOSSES=1 -DTIMEOUTS=1
END
  [ $((found + status)) -gt 0 ] || result "no fault in part $PART" 2
  echo "$found seeded faults found"
}

trail() {
  verifier -O0 "$*" safety || { result "$*: not a verifier" 2 && return; }
  search safety
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

# The faults run in their own process and directory: they take as long as the scenes.
both() {
  names
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
  names) names ;;
  trail) shift && trail "$@" ;;
  *) echo "usage: check.sh [scenes | faults | names | trail FLAG...]" >&2 && exit 2 ;;
esac
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [MUTANT...] - seeded faults, and which test finds each: make check-mutants.
#
# A mutant is a paragraph in one of the tables beside this script:
#
#   mutant NAME
#   breaks ...        what, and which invariant
#   by SUITE          tried first; an order, not the verdict
#   @ FILE            hunks, see apply.awk
#
# The script applies it to a copy of the sources and runs the suites, cheapest first, until one
# fails.  Then the unchanged sources must pass every suite that has found a mutant.
# It fails if a mutant survives, does not apply or does not compile, except those in canaries.txt
# that must.  It runs two mutants at a time, or JOBS; on a busy machine set LIMIT and PATIENCE.
# With PART=K/N it runs one mutant in N, from the K-th on.
# It works in the build directory, which must be configured.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}" "${JOBS:=2}"
: "${MAKE:=make}" "${CC:=cc}"
here=$top_srcdir/tests/mutants
export CC
# The makes below must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL

mkdir -p "$top_builddir/tests/mutants" || exit 99
work=$(cd "$top_builddir" && mktemp -d "$PWD/tests/mutants/work.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
pids=
# shellcheck disable=SC2086 # a list
trap 'kill $pids; exit 99' HUP INT TERM

# Seconds that a suite may take, except the explorer, which does not hang; a test that hangs
# ends after 120 times the other number.  (Not what Check is told elsewhere: many hang here.)
: "${LIMIT:=60}" "${PATIENCE:=0.2}"
CK_TIMEOUT_MULTIPLIER=$PATIENCE
export CK_TIMEOUT_MULTIPLIER
export TSAN_OPTIONS=halt_on_error=1

# Every suite, cheapest first.
suites='fuzz
explore
t_waitq
t_units
t_guard
t_priority
t_ticket
t_ticket_races
t_ticket_wait
t_notify
t_notify_race
t_callbacks
t_resize_races
t_dump
t_results
t_close
t_drain
t_bypass
t_stat
t_debt
t_misuse
t_cancel
t_fork
t_fork_callbacks
t_fork_inside
t_capacity
t_deadline
t_token
t_with
t_late_wakers
t_sleep
t_token_races
t_fault_clock
t_awake
t_lessons
t_spin
t_signals
t_fault_resources
t_lifetime
t_arrival_order
order
t_stress
t_mixed_stress
t_interrupt
tsan t_ordering
tsan t_ticket
tsan t_capacity
tsan t_bypass
tsan t_late_wakers
tsan t_sleep
tsan t_stress
tsan t_mixed_stress
explore --bound 2
dies
dies --bound 2
t_shared_results
t_shared_order
t_shared_open
t_shared_death
t_shared_cut'

seconds() {
  date +%s.%N
}

elapsed() {
  echo "$1 $(seconds)" | awk '{ printf "%.1f", $2 - $1 }'
}

# ---------------------------------------------------------------- trees
# tree NAME FLAGS - make a build tree, and a copy of it for each further worker.
tree() {
  cp -Rp "$work/source" "$work/$1.1" && cd "$work/$1.1" &&
    ./configure -q --enable-tests --disable-shared CC="$CC" CFLAGS="-g -O1 $2" LDFLAGS="$2" &&
    "$MAKE" -s libcore.la tests/support/libchecked.la tests/support/libtests.la || exit 1
  for worker in $(seq 2 "$JOBS"); do
    cp -Rp "$work/$1.1" "$work/$1.$worker" || exit 1
  done
}

prepare() {
  (cd "$top_builddir" && "$MAKE" -s distdir distdir="$work/source") || return 1
  chmod -R u+w "$work/source"
  (tree plain '' && "$MAKE" -s tests/fuzz/replay && mkdir -p tests/explore) &
  plain=$!
  (tree tsan -fsanitize=thread) || { wait "$plain"; return 1; }
  wait "$plain" || return 1
  "$work/source/tests/explore/build.sh" "$work/source/src" "$work/explorer" &&
    "$work/source/tests/explore-shared/build.sh" "$work/source/src" "$work/dies"
}

# sync TREE - copy this worker's sources to it, only those that differ, so that make sees a change.
sync() {
  (cd "$work/mutant.$worker/src" && find . -type f) > "$out.files" || return 1
  while read -r file; do
    cmp -s "$work/mutant.$worker/src/$file" "$1/src/$file" ||
      cp "$work/mutant.$worker/src/$file" "$1/src/$file" || return 1
  done < "$out.files"
}

# ---------------------------------------------------------------- suites
# build TREE PROGRAM
build() {
  sync "$1" && "$MAKE" -s -C "$1" "$2" > "$out.build" 2>&1
}

# run PROGRAM ARGUMENT... - its output is in $out.
run() {
  timeout -k 5 "$LIMIT" "$@" > "$out" 2>&1
}

# program NAME - print the path of this test in a tree.
program() {
  (cd "$work/source" && for file in tests/*/"$1.c"; do echo "${file%.c}"; done)
}

# suite WORDS... - passes (0), fails (1), or cannot be built (2).
suite() {
  case $1 in
    explore)
      shift
      EXPLORER=$work/explorer "$work/source/tests/explore/build.sh" "$work/mutant.$worker/src" \
        "$work/explore.$worker" > "$out.build" 2>&1 || return 2
      case ${1:-} in
        --*) ;;
        *) set -- --bound 1 "$@" ;;
      esac
      timeout -k 5 900 "$work/explore.$worker" "$@" > "$out" 2>&1
      ;;
    dies)
      shift
      EXPLORER=$work/dies "$work/source/tests/explore-shared/build.sh" "$work/mutant.$worker/src" \
        "$work/dies.$worker" > "$out.build" 2>&1 || return 2
      [ $# -gt 0 ] || set -- --quick --bound 1 --deaths 1
      timeout -k 5 900 "$work/dies.$worker" "$@" > "$out" 2>&1
      ;;
    fuzz)
      build "$work/plain.$worker" tests/fuzz/replay || return 2
      run "$work/plain.$worker/tests/fuzz/replay" "$work/source/tests/fuzz/corpus.txt"
      ;;
    tsan)
      build "$work/tsan.$worker" "$(program "$2")" || return 2
      run "$work/tsan.$worker/$(program "$2")"
      ;;
    *)
      build "$work/plain.$worker" "$(program "$1")" || return 2
      run "$work/plain.$worker/$(program "$1")"
      ;;
  esac
  status=$?
  [ "$status" -ne 0 ] || return 0
  # 126 and 127: the program could not be run.
  [ "$status" -lt 126 ] || [ "$status" -gt 127 ] || return 2
  return 1
}

# found_by WORDS... - print the suite, and the test in it that failed.
found_by() {
  case $1 in
    explore|dies) set -- "$1" "$(awk '/FAILED/ { sub(":", "", $1); print $1; exit }' "$out")" ;;
    fuzz) ;;
    *) set -- "$@" "$(sed -n 's/^[^:]*:[0-9]*:[FE]:[^:]*:\([^:]*\):.*/\1/p' "$out" | head -n 1)" ;;
  esac
  case $status in
    124|137) echo "$* (hangs)" ;;
    *) echo "$*" ;;
  esac
}

# ---------------------------------------------------------------- mutants
# field TABLE MUTANT KEYWORD
field() {
  awk -v mutant="$2" -v keyword="$3" '/^mutant / { here = $2 == mutant }
    here && $1 == keyword { sub(/^[a-z]+ /, ""); print; exit }' "$1"
}

# examine TABLE MUTANT - set verdict, and found: what has caught it.
examine() {
  rm -rf "$work/mutant.$worker"
  mkdir "$work/mutant.$worker"
  cp -R "$work/source/src" "$work/mutant.$worker/"
  verdict='does not apply' found=''
  found=$(awk -v mutant="$2" -v root="$work/mutant.$worker" -f "$here/apply.awk" "$1") || return
  by=$(field "$1" "$2" by)
  order=$(echo "$by" && echo "$suites" | grep -Fvx -e "$by")
  [ -z "$expected" ] || order=$by
  verdict=survives found=''
  while read -r words; do
    started=$(seconds)
    # shellcheck disable=SC2086 # a suite is words
    suite $words < /dev/null
    case $? in
      1)
        verdict=caught
        # shellcheck disable=SC2086
        found="$(elapsed "$started") s  $(found_by $words)"
        echo "$words" >> "$work/used"
        return
        ;;
      2)
        verdict='does not compile'
        found=$(tail -n 20 "$out.build")
        return
        ;;
    esac
  done << END
$order
END
}

# claim NAME - false if another worker has it.
claim() {
  mkdir "$work/claimed.$1" 2> /dev/null
}

mutants() {
  while read -r name table; do
    claim "$name" || continue
    expected=$(field "$table" "$name" expect)
    examine "$table" "$name"
    if [ "$verdict" != "${expected:-caught}" ]; then
      echo "$name" >> "$work/wrong"
      verdict="$verdict: WRONG"
    fi
    printf '%-40s %s%s\n' "$name" "$verdict" "${found:+  $found}" | tee -a "$work/table"
  done < "$work/list"
}

# The unchanged sources.
control() {
  rm -rf "$work/mutant.$worker"
  mkdir "$work/mutant.$worker"
  cp -R "$work/source/src" "$work/mutant.$worker/"
  sort -u "$work/used" > "$work/used.$worker"
  while read -r words; do
    claim "control.$(echo "$words" | tr -c 'a-z0-9\n' -)" || continue
    # shellcheck disable=SC2086
    suite $words < /dev/null || {
      echo "control: the unchanged sources fail in $words: WRONG"
      echo control >> "$work/wrong"
      tail -n 20 "$out"
    }
  done < "$work/used.$worker"
}

# in_parallel FUNCTION
in_parallel() {
  pids=
  for worker in $(seq "$JOBS"); do
    out=$work/out.$worker
    "$1" &
    pids="$pids $!"
  done
  # shellcheck disable=SC2086 # a list
  wait $pids
}

# ---------------------------------------------------------------- main
begun=$(seconds)
prepare > "$work/prepare.log" 2>&1 || { cat "$work/prepare.log"; echo "cannot build"; exit 99; }
awk '/^mutant / { print $2, FILENAME }' "$here"/*.txt > "$work/all"
touch "$work/used" "$work/wrong" "$work/table"
if [ $# -eq 0 ]; then
  awk -v part="${PART:-1/1}" 'BEGIN { split(part, of, "/") }
    NR % of[2] == of[1] % of[2]' "$work/all" > "$work/list"
else
  for name; do
    grep -e "^$name " "$work/all" || { echo "run.sh: no mutant is called $name" >&2; exit 2; }
  done > "$work/list"
fi
in_parallel mutants
in_parallel control
sort "$work/table" > "$top_builddir/tests/mutants/table"
echo
echo "$(grep -c '  *caught  ' "$work/table") mutants caught, $(wc -l < "$work/list") tried," \
  "$(wc -l < "$work/wrong") verdicts wrong, $(elapsed "$begun") s"
[ ! -s "$work/wrong" ]

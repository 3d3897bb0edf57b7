#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [MUTANT...] - seeded faults, and which test finds each: make check-mutants.
#
# A mutant is a paragraph in one of the tables beside this script:
#
#   mutant NAME
#   breaks ...        what, and which invariant
#   by SUITE          tried first; the table says if another suite has found it
#   @ FILE            hunks, see apply.awk
#
# The script applies it to a copy of the sources and runs the suites, cheapest first, until one
# fails.  Then the unchanged sources must pass every suite that has found a mutant.
# It fails if a mutant survives (exit status 1), does not apply, does not compile, or if a suite
# cannot be run (2).  In canaries.txt the verdict is the one that the mutant expects, of each suite
# that it names.  It runs two mutants at a time, or JOBS; on a busy machine set LIMIT and PATIENCE.
# With PART=K/N it runs one mutant in N, from the K-th on.
# It works in the build directory, which must be configured.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}" "${JOBS:=2}"
: "${MAKE:=make}" "${CC:=cc}"
here=$top_srcdir/tests/search/mutants
export CC
. "$top_srcdir/tests/support/part.sh"
# The makes below must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL

mkdir -p "$top_builddir/tests/search/mutants" || exit 99
work=$(cd "$top_builddir" && mktemp -d "$PWD/tests/search/mutants/work.XXXXXX") || exit 99
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
t_aging
t_all
t_guard
t_priority
t_ticket
t_ticket_races
t_ticket_wait
t_notify
t_notify_race
t_callbacks
t_callback_waits
t_resize_races
t_dump
t_results
t_close
t_drain
t_bypass
t_bypass_bound
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
explore --bound 2'

# Those that a mutant elsewhere can fail: in src/shared/; in src/posix/, first of the functions that the
# library has, too, and then of the interposer; in limit/; in src/cluster/.
shared_suites='dies
t_shared_results
t_shared_set_units
t_shared_order
t_shared_lock
t_shared_awake
t_shared_open
t_shared_posix_open
t_shared_death
t_shared_damage
t_shared_cut
t_shared_stopped
t_shared_apart
dies --bound 2'
posix_suites='t_posix_results
t_posix_zeroed
t_posix_order
t_posix_cancel
t_posix_fork
t_posix_lifetime
t_posix_signals
interpose'
limit_suites='t_limit_texts
limit
limit names
limit nested
limit parent
limit status'
cluster_suites='t_cluster_results
t_cluster_answers
t_cluster_request
cluster faults
cluster real
cluster secure
limit cluster'

seconds() {
  date +%s.%N
}

elapsed() {
  echo "$1 $(seconds)" | awk '{ printf "%.1f", $2 - $1 }'
}

# The flags by which a program ends where it leaves an array, also the last one of a structure,
# which AddressSanitizer does not see.  They need no library.
bounds='-fsanitize=bounds-strict -fsanitize-undefined-trap-on-error'
# shellcheck disable=SC2086 # a list
"$CC" $bounds -fsyntax-only -x c /dev/null 2> /dev/null ||
  bounds='-fsanitize=array-bounds -fsanitize-trap=array-bounds'

# ---------------------------------------------------------------- trees
# tree NAME LIBRARIES FLAGS - make a build tree, and a copy of it for each further worker.
tree() {
  cp -Rp "$work/source" "$work/$1.1" && cd "$work/$1.1" &&
    ./configure -q --enable-tests "$2" CC="$CC" CFLAGS="-g -O1 $3" LDFLAGS="$3" &&
    "$MAKE" -s libcore.la tests/support/libchecked.la tests/support/libtests.la || exit 1
  for worker in $(seq 2 "$JOBS"); do
    cp -Rp "$work/$1.1" "$work/$1.$worker" || exit 1
  done
}

prepare() {
  (cd "$top_builddir" && "$MAKE" -s distdir distdir="$work/source") || return 1
  chmod -R u+w "$work/source"
  # The module of fairsem-run is a shared library.
  (tree plain --disable-static "$bounds" && "$MAKE" -s tests/search/fuzz/replay &&
    mkdir -p tests/search/core) &
  plain=$!
  (tree tsan --disable-shared -fsanitize=thread) || { wait "$plain"; return 1; }
  wait "$plain" || return 1
  "$work/source/tests/search/core/build.sh" "$work/source/src" "$work/explorer" &&
    "$work/source/tests/search/shared/build.sh" "$work/source/src" "$work/dies"
}

# unchanged - give this worker the sources that a mutant may change, as they are.
unchanged() {
  rm -rf "$work/mutant.$worker"
  mkdir "$work/mutant.$worker"
  (cd "$work/source" && cp -R src "$work/mutant.$worker/")
}

# sync TREE - copy this worker's sources to it, only those that differ, so that make sees a change.
sync() {
  (cd "$work/mutant.$worker" && find . -type f) > "$out.files" || return 1
  while read -r file; do
    cmp -s "$work/mutant.$worker/$file" "$1/$file" ||
      cp "$work/mutant.$worker/$file" "$1/$file" || return 1
  done < "$out.files"
}

# ---------------------------------------------------------------- suites
# build TREE TARGET...
build() {
  sync "$1" || return 1
  in=$1
  shift
  "$MAKE" -s -C "$in" "$@" > "$out.build" 2>&1
}

# run PROGRAM ARGUMENT... - its output is in $out.
run() {
  timeout -k 5 "$LIMIT" "$@" > "$out" 2>&1
}

# program NAME - print the path of this test in a tree, if there is one.
program() {
  (cd "$work/source" && for file in tests/*/*/"$1.c"; do [ ! -f "$file" ] || echo "${file%.c}"; done)
}

# test_in TREE NAME - build and run a test program.
test_in() {
  path=$(program "$2")
  [ -n "$path" ] || { echo "there is no test $2" > "$out"; return 127; }
  build "$1" "$path" || return 2
  run "$1/$path"
}

# script PATH ARGUMENT... - run this script of the tests on the programs in the plain tree.  It has
# many parts, and so more time.
script() {
  path=$work/source/$1
  shift
  timeout -k 5 $((3 * LIMIT)) env top_srcdir="$work/plain.$worker" \
    top_builddir="$work/plain.$worker" STOP_EARLY=yes sh "$path" "$@" > "$out" 2>&1
}

# suite WORDS... - passes (0), fails (1), cannot be built (2), or cannot be run (3).
suite() {
  kind=$1
  : > "$out"
  case $1 in
    explore)
      shift
      EXPLORER=$work/explorer "$work/source/tests/search/core/build.sh" "$work/mutant.$worker/src" \
        "$work/explore.$worker" > "$out.build" 2>&1 || return 2
      case ${1:-} in
        --*) ;;
        *) set -- --bound 1 "$@" ;;
      esac
      timeout -k 5 900 "$work/explore.$worker" "$@" > "$out" 2>&1
      ;;
    dies)
      shift
      EXPLORER=$work/dies "$work/source/tests/search/shared/build.sh" "$work/mutant.$worker/src" \
        "$work/dies.$worker" > "$out.build" 2>&1 || return 2
      [ $# -gt 0 ] || set -- --first --quick --bound 1 --deaths 1
      timeout -k 5 900 "$work/dies.$worker" "$@" > "$out" 2>&1
      ;;
    fuzz)
      build "$work/plain.$worker" tests/search/fuzz/replay || return 2
      run "$work/plain.$worker/tests/search/fuzz/replay" "$work/source/tests/search/fuzz/corpus.txt"
      ;;
    interpose)
      build "$work/plain.$worker" fairsem-interpose.la fairsem-run tests/api/preload/interposed \
        tests/api/preload/stepped tests/api/preload/met || return 2
      script tests/api/preload/interpose.sh
      ;;
    limit)
      # shellcheck disable=SC2086 # one target, or none
      build "$work/plain.$worker" fairsem-limit $cluster || return 2
      script "tests/api/limit/${2:-limit}.sh"
      ;;
    cluster)
      build "$work/plain.$worker" tests/api/cluster/cluster_user || return 2
      shift
      path=tests/api/cluster/$1.sh
      shift
      script "$path" "$@"     # scenarios, or all
      ;;
    tsan) test_in "$work/tsan.$worker" "$2" ;;
    *) test_in "$work/plain.$worker" "$1" ;;
  esac
  status=$?
  # A search reports what it has found, even if that is a crash or a hang of the library; if it ends
  # in another way, it has not searched (tests/support/result.sh).  In a test program the library may
  # crash or hang, which is a failure of the test; the unchanged sources must not, see control().
  case $kind:$status in
    *:0) return 0 ;;
    explore:1|dies:1|fuzz:1) grep -qE ': FAILED: |^FOUND: ' "$out" || return 3 ;;
    explore:*|dies:*|fuzz:*) return 3 ;;
    *:2) return 2 ;;
    *:77|*:99|*:126|*:127) return 3 ;;
  esac
  return 1
}

# found_by WORDS... - print the suite, and the test in it that failed.
found_by() {
  case $1 in
    explore|dies) set -- "$1" "$(awk '/FAILED/ { sub(":", "", $1); print $1; exit }' "$out")" ;;
    fuzz) ;;
    interpose|limit) set -- "$1:" "$(sed -n 's/^FAILED: //p' "$out" | head -n 1)" ;;
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
    here && $1 == keyword { sub(/^[a-z]+ /, ""); print }' "$1"
}

# examine TABLE MUTANT - set verdict, and found: what has caught it.
examine() {
  unchanged
  verdict='does not apply' found=''
  found=$(awk -v mutant="$2" -v root="$work/mutant.$worker" -f "$here/apply.awk" "$1") || return
  by=$(field "$1" "$2" by)
  case $found in
    src/shared/*) order=$shared_suites ;;
    src/posix/*) order=$posix_suites ;;
    src/preload/*) order=interpose ;;
    src/limit/*) order=$limit_suites ;;
    src/cluster/*) order=$cluster_suites ;;
    *) order=$suites ;;
  esac
  # A race that its suite did not meet is tried again, when no other suite has met it either.
  order=$(echo "$by" && echo "$order" | grep -Fvx -e "$by"; echo "$by"; echo "$by"; echo "$by")
  [ -z "$expected" ] || order=$by
  verdict=survives found=''
  while read -r words; do
    started=$(seconds)
    # shellcheck disable=SC2086 # a suite is words
    suite $words < /dev/null
    case $? in
      0)
        verdict=survives found=${expected:+$words}
        ;;
      1)
        verdict=caught
        # shellcheck disable=SC2086
        found="$(elapsed "$started") s  $(found_by $words)"
        # A suite that no longer finds its mutant should not go unnoticed.
        [ -n "$expected" ] || [ "$words" = "${by:-$words}" ] || found="$found, NOT by $by"
        echo "$words" >> "$work/used"
        ;;
      2)
        verdict='does not compile'
        found=$(tail -n 20 "$out.build")
        ;;
      *)
        verdict='cannot be run'
        found="$words: exit status $status: $(tail -n 1 "$out")"
        ;;
    esac
    # Until a suite finds the mutant, or is wrong about a canary.
    [ "$verdict" = "${expected:-survives}" ] || return
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
    echo "$name" >> "$work/done"
    printf '%-40s %s%s\n' "$name" "$verdict" "${found:+  $found}" | tee -a "$work/table"
  done < "$work/list"
}

# The unchanged sources.
control() {
  unchanged
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
cluster=
[ ! -f "$top_builddir/libfairsem-cluster.la" ] || cluster=libfairsem-cluster.la
awk '/^mutant / { print $2, FILENAME }' "$here"/*.txt > "$work/all"
if [ -z "$cluster" ] || ! command -v etcd > /dev/null || ! command -v etcdctl > /dev/null; then
  echo "not tried: cluster.txt and limit_cluster.txt, because there is no etcd, or" \
    "libfairsem-cluster was not built"
  grep -v 'cluster\.txt$' "$work/all" > "$work/some" && mv "$work/some" "$work/all"
fi
touch "$work/used" "$work/wrong" "$work/table" "$work/done"
if [ $# -eq 0 ]; then
  only_part < "$work/all" > "$work/list"
else
  for name; do
    grep -e "^$name " "$work/all" || { echo "run.sh: no mutant is called $name" >&2; exit 2; }
  done > "$work/list"
fi
[ -s "$work/list" ] || { echo "run.sh: nothing to try" >&2; exit 2; }
prepare > "$work/prepare.log" 2>&1 || { cat "$work/prepare.log"; echo "cannot build"; exit 99; }
in_parallel mutants
in_parallel control
sort "$work/table" > "$top_builddir/tests/search/mutants/table"
echo
echo "$(grep -c '  *caught  ' "$work/table") mutants caught, $(wc -l < "$work/list") tried," \
  "$(wc -l < "$work/wrong") verdicts wrong, $(grep -c ", NOT by " "$work/table") not by their suite," \
  "$(elapsed "$begun") s"
# A worker that has ended early is not a success.
[ "$(wc -l < "$work/done")" -eq "$(sort -u "$work/list" | wc -l)" ] || exit 2
! grep -qE ' (does not apply|does not compile|cannot be run): WRONG' "$work/table" || exit 2
[ ! -s "$work/wrong" ]

#!/bin/sh
# SPDX-License-Identifier: MIT
# canaries.sh - make check-canaries: can each search distinguish FOUND, NOT FOUND and COULD NOT RUN?
#
# Each script of a search runs on sources with a fault that it must find, on sources with a harmless change
# (tests/search/mutants/canaries.txt), and with something that it cannot run.  The exit statuses are those of
# tests/support/result.sh.  Run this in the build directory, which must be configured.  Other searches contain
# their own canaries: see the table in doc/verification.md.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
top_srcdir=$(cd "$top_srcdir" && pwd) && top_builddir=$(cd "$top_builddir" && pwd) || exit 99
work=$(mktemp -d "$top_builddir/tests/canaries.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
failed=0 skipped=0 passed=0
. "$top_srcdir/tests/support/result.sh"

# expect STATUS WORDS WHAT COMMAND... - check that the command ends with STATUS and prints a line with the WORDS.
expect() {
  wanted=$1 words=$2 what=$3
  shift 3
  "$@" > "$work/out" 2>&1
  got=$?
  if [ "$got" -eq 77 ] && [ "${FAIRSEM_TRY_ALL-}" != yes ]; then
    echo "skipped: $what: $(grep skipped "$work/out")"
    skipped=$((skipped + 1))
  elif [ "$got" -eq "$wanted" ] && grep -qE -e "$words" "$work/out"; then
    echo "ok: $what: $wanted"
    passed=$((passed + 1))
  else
    echo "FAILED: $what: exit status $got, or no '$words'; $wanted was expected"
    tail -n 40 "$work/out"
    failed=$((failed + 1))
  fi
}

# tree NAME MUTANT - make a copy of the sources with this canary.
tree() {
  mkdir "$work/$1" && cp -R "$top_srcdir/include" "$top_srcdir/src" "$top_srcdir/tests" "$work/$1" &&
    python3 "$top_srcdir/tests/search/mutants/generate.py" canary "$2" "$work/$1"
}

# in_tree NAME SCRIPT ARGUMENT... - run the script on the copy NAME, in a directory of its own.
in_tree() {
  of=$work/$1 script=$2
  shift 2
  mkdir -p "$of/build" && (cd "$of/build" && top_srcdir=$of sh "$of/tests/$script" "$@")
}

# three NAME SCRIPT NOTHING FAULT WORDS ARGUMENT... - run the script with the scenario hand-off on the trees
# NOTHING and FAULT, and then with a scenario that does not exist.
three() {
  name=$1 script=$2 nothing=$3 fault=$4 words=$5
  shift 5
  expect 0 . "$name, nothing to find" in_tree "$nothing" "$script" "$@" hand-off
  expect 1 "$words" "$name, a fault" in_tree "$fault" "$script" "$@" hand-off
  expect 2 'COULD NOT RUN' "$name, no such scenario" in_tree "$nothing" "$script" "$@" no-such-scenario
}

explorers() {
  {
    tree nothing an-order-that-nothing-needs && tree fault found-by-each-search &&
      tree missing an-order-that-is-missing &&
      tree shared-nothing a-change-that-breaks-nothing-between-processes &&
      tree shared-fault found-between-processes
  } > "$work/out" || { cat "$work/out" && exit 99; }
  # Build the explorer's own objects once; they are the same for all trees.
  mkdir "$work/explorer" "$work/dies"
  "$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$work/explorer/explore" > "$work/out" 2>&1
  case $? in
    0) ;;
    77) echo "skipped: the explorers: $(tail -n 1 "$work/out")" && skipped=$((skipped + 1)) && return ;;
    *) cat "$work/out" && exit 99 ;;
  esac
  export EXPLORER="$work/explorer/explore"
  three check-explore search/core/all.sh nothing fault 'FAILED: ' 1 20
  three check-explore-weak search/core/weak.sh nothing missing 'FAILED: ' 20
  expect 1 'FAILED: ' "explore-more, a fault" in_tree fault search/core/more.sh 1 1
  expect 0 ' 0 failed' "explore-more, nothing to find" in_tree nothing search/core/more.sh 1 1
  expect 2 'COULD NOT RUN' "explore-more, no number" in_tree nothing search/core/more.sh 1 no-number

  EXPLORER=
  "$top_srcdir/tests/search/shared/build.sh" "$top_srcdir/src" "$work/dies/dies" || exit 99
  EXPLORER=$work/dies/dies
  three check-explore-shared search/shared/all.sh shared-nothing shared-fault 'FAILED: '
}

model() {
  check=$top_srcdir/tests/search/model/check.sh
  expect 0 'no fault' "check-model, nothing to find" sh "$check" trail -DUNITS=1
  expect 1 'ORDER' "check-model, a fault" sh "$check" trail -DBUG=BETTER_UNCHECKED -DUNITS=1 -DPRIO2=0
  expect 2 'COULD NOT RUN' "check-model, no such fault" sh "$check" trail -DBUG=NO_SUCH_FAULT
}

# The baseline is the present count at first, and then one instruction for each operation.
cost() {
  script=$top_srcdir/bench/cost.sh
  export COST_BASELINE="$work/baseline"
  expect 0 . "check-cost, a baseline" sh "$script" --refresh
  expect 0 'ok: pair' "check-cost, nothing to find" sh "$script"
  [ -f "$COST_BASELINE" ] || return
  sed -i 's/^\([a-z-]*\) [0-9.]*$/\1 1/' "$COST_BASELINE"
  expect 1 'FAILED: pair' "check-cost, a fault" sh "$script"
  mkdir "$work/bin" && ln -s /bin/false "$work/bin/valgrind"
  expect 2 'COULD NOT RUN' "check-cost, no count" env PATH="$work/bin:$PATH" sh "$script"
}

# a_row LINES STATUS - run a table with one row, which prints these lines and ends with STATUS.
# shellcheck disable=SC2016,SC2034 # for the shell inside; for rows.sh
a_row() {
  (
    top_builddir=$work/rows MAKE=make
    . "$top_srcdir/tests/support/rows.sh"
    rows_of trial
    top_srcdir=$work/rows
    row one '' 1 sh -c 'printf "$1"; exit "$2"' sh "$1" "$2"
    end_of_rows
  )
}

# rows - check the result that rows.sh gives a row, without ROWS and with the row's name in ROWS.
rows() {
  mkdir -p "$work/rows/tests" && echo 'one the moon' > "$work/rows/tests/not_here.txt" || exit 99
  unset ROWS ONLY
  while IFS='|' read -r result by_name which says code; do
    status=0
    case $result in ok) ;; *) status=1 ;; esac
    expect "$status" "^one +$result " "a row, $which" a_row "$says" "$code"
    status=0
    case $by_name in ok) ;; *) status=1 ;; esac
    ROWS=one expect "$status" "^one +$by_name " "a row by its name, $which" a_row "$says" "$code"
  done << '_EOF'
ok|ok|which checked something|ok: this\n|0
FAILED|FAILED|which found something|ok: this\n|1
FAILED|FAILED|which said nothing||0
not tried|FAILED|which was skipped|skipped: no tool\n|77
not tried|FAILED|which was skipped inside a target|skipped: no tool\n|0
ok|FAILED|a part of which was skipped|ok: this\n-- a_test: skipped: no tool\n|0
ok|FAILED|a part of which is not here|ok: this\nnot here: the sun\n|0
ok|ok|a part of which is not here, as is known|ok: this\n-- a_test: not here: the moon\n|0
_EOF
}

case $# in
  0) set -- rows explorers model cost ;;
esac
for searches; do
  case $searches in
    rows | explorers | model | cost) "$searches" ;;
    *) echo "canaries.sh [rows | explorers | model | cost]..." >&2 && exit 2 ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

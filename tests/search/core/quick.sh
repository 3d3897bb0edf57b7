#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh - the library's sources under every schedule with one preemption, in some seconds.
#
# `make check-explore` has two preemptions, and more generated scenarios.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/search/engine/help.sh"

# all.sh uses the same place, so that the explorer is built once for each version of the sources.
explorer=$top_builddir/tests/search/core/explore
mkdir -p "${explorer%/*}"
"$top_srcdir/tests/search/core/build.sh" "$top_srcdir/src" "$explorer" || exit
help_is_complete "$explorer" "$top_srcdir/tests/search/core/main.c"

# explore ARGUMENT... - run it, with a copy of its output in $work/out.
explore() {
  "$explorer" "$@" > "$work/out"
  result "explore $*" $?
  cat "$work/out"
  [ "$status" -eq 0 ] || exit "$status"
}

explore --bound 1 --coverage
cp "$work/out" "$work/merged"
# A ticket that moves between queues, and a callback that is pending during a claim, need three preemptions.
explore --bound 3 returned-in-one-queue-or-another returned-beside-a-claim
explore --bound 1 --runs 300 --generate 1-200

# Weak memory: the memory model itself, and some scenarios with a stale load.
explore --litmus
explore --bound 0 --stale 1
some='hand-off weights timeout-or-grant token-or-grant ticket-or-return destroy-after-acquire
  signal-or-grant bypass-destroy claimed-by-another'
# shellcheck disable=SC2086 # a list
explore --bound 1 --stale 1 $some
# Results that depend on two stale loads.
explore --bound 1 --stale 2 try-while-capacity-shrinks would-while-capacity-shrinks
echo

# Merging omits runs from known states.  It must not hide a history.
some='hand-off weights two-timeouts token-of-two-waits claim-against-return canceled-or-granted
  capacity-shrinks debt parker-is-inherited signal-or-grant'
# shellcheck disable=SC2086 # a list
explore --bound 1 --all-runs $some
awk 'NR > 1 { print $1, $4 }' "$work/out" | sort > "$work/all.histories"
awk 'NR > 1 { print $1, $4 }' "$work/merged" | sort | join - "$work/all.histories" |
  awk '{ print $1, $2 }' > "$work/merged.histories"
echo
if [ -s "$work/all.histories" ] && diff "$work/merged.histories" "$work/all.histories"; then
  echo "ok: merging hides no history of $(wc -l < "$work/all.histories") scenarios"
else
  echo "FAILED: histories with merging (<) and without (>)"
  exit 1
fi
exit "$status"

#!/bin/sh
# SPDX-License-Identifier: MIT
# cost.sh - compare the instructions of each operation with those in baseline.txt.
#
#   make check-cost                 fails if a count is more than 3 % above the baseline
#   make check-cost COST=--refresh  write a new baseline.txt, which goes into the repository
#
# The baseline is valid for one compiler, C library and build; under other conditions nothing is compared.  Refresh
# the baseline if the conditions have changed or a change is worth its cost, and say so in the commit message.
# The exit status is 1 if a count is too high, and 2 if nothing could be counted.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
cost=$top_builddir/bench/cost
baseline=${COST_BASELINE:-$top_srcdir/bench/baseline.txt}
PERCENT=3

. "$top_srcdir/tests/support/result.sh"
[ -x "$cost" ] || skip "bench/cost was not built (make check-cost builds it)"
command -v valgrind > /dev/null 2>&1 || skip "there is no valgrind"
work=$(mktemp -d "$top_builddir/bench/cost.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

# Under valgrind, calls go through wrappers (src/tools/annotate_valgrind.c), which cost users nothing.
if nm "$cost" 2> /dev/null | grep -q ' _vgw'; then
  "${OBJCOPY:-objcopy}" --wildcard --strip-symbol='_vgw*' "$cost" "$work/cost" ||
    skip "objcopy cannot remove the wrappers for valgrind from bench/cost"
  cost=$work/cost
fi

cannot() {
  echo "COULD NOT RUN: $*" >&2
  exit 2
}

# In a process with the right to real-time priorities, the library's mutexes inherit priority, which costs more
# instructions in glibc.  Most processes do not have that right, so count without it.
ordinary=
if [ "$(id -u)" = 0 ]; then
  command -v setpriv > /dev/null 2>&1 || skip "root has the right to real-time priorities, and there is no setpriv"
  ordinary='setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice'
fi

# count OPERATION - print the instructions of one operation.  LD_BIND_NOW keeps the binding of functions out.
count() {
  # shellcheck disable=SC2086 # words
  LD_BIND_NOW=1 $ordinary valgrind --tool=callgrind --callgrind-out-file="$work/out" \
    --collect-atstart=no --toggle-collect='count_*' "$cost" "$1" > "$work/log" 2>&1 || {
    cat "$work/log" >&2
    return 1
  }
  awk -v n="$operations" '/^(summary|totals):/ { all = $2 }
    END { printf "%.1f\n", all / n; exit !(all > 0) }' "$work/out"
}

# compare FILE - compare the counts with those in FILE; fails if a count is too high, or not in FILE.
compare() {
  awk -v percent="$PERCENT" '
    NR == FNR { if ($1 != "conditions") was[$1] = $2; next }
    {
      above = was[$1] > 0 ? 100 * ($2 / was[$1] - 1) : 100
      bad = above > percent
      printf "%s: %-9s %8.1f instructions, baseline %8.1f, %+.1f %%\n",
        bad ? "FAILED" : "ok", $1, $2, was[$1], above
      failed = failed || bad
    }
    END { exit failed }' "$1" "$work/now"
}

conditions=$("$cost" conditions) || cannot "$cost conditions"
operations=$("$cost" operations) || cannot "$cost operations"
conditions="conditions $conditions; ${CFLAGS-}"
if [ "${1-}" != --refresh ] && [ "$(grep '^conditions ' "$baseline")" != "$conditions" ]; then
  echo "the baseline is for: $(sed -n 's/^conditions //p' "$baseline")"
  echo "this is:             ${conditions#conditions }"
  skip "the conditions are not those of the baseline"
fi
for operation in pair hand-off ticket; do
  counted=$(count "$operation") || cannot "$cost $operation under valgrind"
  echo "$operation $counted"
done > "$work/now"

if [ "${1-}" = --refresh ]; then
  {
    echo "# Instructions for each operation, as callgrind counts them: see cost.sh."
    echo "$conditions"
    cat "$work/now"
  } > "$baseline" && cat "$baseline"
  exit
fi

# Check the comparison itself: it must be able to fail and to succeed.
sed 's/ .*/ 1/' "$work/now" > "$work/canary"
! compare "$work/canary" > "$work/log" ||
  cannot "the counts do not exceed a baseline of one instruction"
compare "$work/now" > "$work/log" || cannot "the counts exceed themselves"
compare "$baseline"

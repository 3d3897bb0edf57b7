#!/bin/sh
# SPDX-License-Identifier: MIT
# cost.sh - the instructions of an operation, compared with those of baseline.txt.
#
#   make check-cost                 more than 3 % above the baseline fails
#   make check-cost COST=--refresh  write a new baseline.txt, which goes into the repository
#
# Refresh it where a change is worth what it costs, and say in the commit message why; and
# for another compiler, C library or build, because it holds for one of each only: elsewhere
# nothing is compared.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
cost=$top_builddir/bench/cost
baseline=${COST_BASELINE:-$top_srcdir/bench/baseline.txt}
PERCENT=3

skip() {
  echo "skipped: $*"
  exit 77
}
[ -x "$cost" ] || skip "bench/cost was not built (make check-cost builds it)"
command -v valgrind > /dev/null 2>&1 || skip "there is no valgrind"
work=$(mktemp -d "$top_builddir/bench/cost.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

# Valgrind's calls go by wrappers (src/annotate_valgrind.c), which are no cost of the library.
if nm "$cost" 2> /dev/null | grep -q ' _vgw'; then
  "${OBJCOPY:-objcopy}" --wildcard --strip-symbol='_vgw*' "$cost" "$work/cost" ||
    skip "objcopy does not take the wrappers for valgrind out of bench/cost"
  cost=$work/cost
fi

# count OPERATION - instructions for each.  All functions are bound before: LD_BIND_NOW.
count() {
  LD_BIND_NOW=1 valgrind --tool=callgrind --callgrind-out-file="$work/out" \
    --collect-atstart=no --toggle-collect='count_*' "$cost" "$1" > "$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 99
  }
  awk -v n="$operations" '/^(summary|totals):/ { all = $2 } END { printf "%.1f\n", all / n }' \
    "$work/out"
}

# compare FILE - the counts with those of FILE; false if one is too high, or there is none.
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

conditions="conditions $("$cost" conditions); ${CFLAGS-}"
operations=$("$cost" operations)
if [ "${1-}" != --refresh ] && [ "$(grep '^conditions ' "$baseline")" != "$conditions" ]; then
  echo "the baseline is for: $(sed -n 's/^conditions //p' "$baseline")"
  echo "this is:             ${conditions#conditions }"
  skip "other conditions than those of the baseline"
fi
for operation in pair hand-off ticket; do
  echo "$operation $(count "$operation")" || exit 99
done > "$work/now"

if [ "${1-}" = --refresh ]; then
  {
    echo "# Instructions for each operation, as callgrind counts them: see cost.sh."
    echo "$conditions"
    cat "$work/now"
  } > "$baseline" && cat "$baseline"
  exit
fi

# A comparison that cannot fail would say nothing.
sed 's/ .*/ 1/' "$work/now" > "$work/canary"
if compare "$work/canary" > "$work/log"; then
  echo "FAILED: a baseline of one instruction was not exceeded"
  exit 99
fi
compare "$baseline"

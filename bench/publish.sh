#!/bin/sh
# SPDX-License-Identifier: MIT
# publish.sh - put the figures of the last `make bench` into README.md, and the pictures of the same
# run into doc/.
#
#     bench/publish.sh [SOURCE]
#
# `make bench-publish` measures first.  SOURCE is the directory with README.md and doc/.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$PWD}"
source=${1:-$top_srcdir}
report=$top_builddir/bench/report
readme=$source/README.md

die() {
  echo "bench: $*" >&2
  exit 1
}

for file in medians.tsv victim.tsv goals.tsv victim.svg throughput.svg dropin/medians.tsv; do
  [ -s "$report/$file" ] || die "there is no $report/$file: all of \`make bench\` must have run"
done
! grep -q 'not judged' "$report/goals.tsv" || die "the run was too brief to be published"
# shellcheck disable=SC2016 # not for the shell
grep -q '^| | fairsem | `sem_t` |$' "$readme" || die "$readme has no table to replace"

# Both figures of a row have the same unit; the better one is bold.
awk -F '\t' '
  function rounded(value,    digits) {
    digits = value < 0.995 ? 2 : value < 9.95 ? 1 : 0
    return sprintf("%." digits "f", value)
  }
  function duration(ns, most) {
    if (most < 1000)
      return sprintf("%.1f ns", ns)
    return most < 1e6 ? rounded(ns / 1e3) " us" : rounded(ns / 1e6) " ms"
  }
  function rate(value, most,    scale, text) {
    if (most >= 1e6)
      return rounded(value / 1e6) " million"
    for (scale = 1; value / scale >= 100; scale *= 10)
      ;
    text = sprintf("%.0f", value / scale) * scale ""
    return length(text) > 3 ? substr(text, 1, length(text) - 3) "," substr(text, length(text) - 2) \
      : text
  }
  function row(what, ours, theirs, is_rate,    most, a, b) {
    if (ours == "" || theirs == "") {
      print "bench: no figure for: " what > "/dev/stderr"
      failed = 1
      return
    }
    most = ours + 0 > theirs + 0 ? ours : theirs
    a = is_rate ? rate(ours, most) : duration(ours, most)
    b = is_rate ? rate(theirs, most) : duration(theirs, most)
    if (is_rate ? ours + 0 > theirs + 0 : ours + 0 < theirs + 0)
      a = "**" a "**"
    else
      b = "**" b "**"
    print "| " what " | " a " | " b " |"
  }
  function of(what, setting, is_rate) {
    row(what, median[setting, "fairsem"], median[setting, "sem_t"], is_rate)
  }
  FILENAME ~ /victim/ { if ($2 > longest[$1] + 0) longest[$1] = $2; next }
  { median[$1 "/" $2, $3] = $4 ~ /^thousand/ ? 1000 * $5 : $5 }
  END {
    print "| | fairsem | `sem_t` |\n|---|---|---|"
    row("longest wait of a thread beside a hog that holds the unit for 0.2 ms at a time", \
      longest["fairsem"], longest["sem_t"])
    of("acquire and release, nobody waits", "uncontended/acquire-1")
    of("hand-off between two threads on one core", "handoff/same-core")
    of("hand-off between two threads on two cores", "handoff/two-cores")
    of("16 threads, one unit held for no time, holds per second", \
      "contended/hold-0ns-threads-16-units-1", 1)
    of("16 threads, one unit held for 2 us, holds per second", "ring/16-threads", 1)
    of("64 threads, one unit held for 10 us, holds per second", \
      "contended/hold-10000ns-threads-64-units-1", 1)
    row("`sem_wait` and `sem_post` in a program under `fairsem-run`", \
      median["dropin/uncontended", "the program\047s"], \
      median["dropin/uncontended", "libc\047s own"])
    exit failed
  }' "$report/victim.tsv" "$report/medians.tsv" "$report/dropin/medians.tsv" \
  > "$report/readme.md" || exit 1

awk -v table="$report/readme.md" '
  /^\| \| fairsem \| `sem_t` \|$/ {
    while ((getline line < table) > 0)
      print line
    inside = 1
  }
  !/^\|/ { inside = 0 }
  !inside' "$readme" > "$report/README.md" || exit 1
cat "$report/README.md" > "$readme" || die "cannot write $readme"
# A picture is one line: nobody reads its text.
for file in victim.svg throughput.svg; do
  paste -s -d ' ' "$report/$file" > "$source/doc/$file" || die "cannot write to $source/doc"
done
echo "bench: README.md and doc/ have the figures and pictures of this run, measured on"
echo "    $(cat "$report/machine.txt")"
echo "bench: say so above the table, and write the figures of $report/report.md into doc/cost.md"

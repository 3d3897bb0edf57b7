# SPDX-License-Identifier: MIT
# panels.gp - something against the number of threads, a panel for each length of the hold.
# picture, from report.sh, is throughput or longest.
load plots . "/style.gp"

if (picture eq "throughput") {
  value = 5
  label = "holds per second"
  heading = "All threads want the only unit all the time: how often it is taken"
  set ytics ("1,000" 1e3, "2,000" 2e3, "5,000" 5e3, "10,000" 1e4, "20,000" 2e4, "50,000" 5e4, \
    "100,000" 1e5, "200,000" 2e5, "500,000" 5e5, "1 million" 1e6, "2 million" 2e6, \
    "5 million" 5e6, "10 million" 1e7, "20 million" 2e7, "50 million" 5e7)
} else {
  value = 8
  label = "longest wait"
  heading = "All threads want the only unit all the time: the longest wait of any of them"
  eval "set ytics " . durations
  set mytics 10
}

set terminal svg size 1100,680 dynamic noenhanced \
  font "DejaVu Sans,Helvetica,sans-serif,12" background "#ffffff"
holds = "0 100 1000 10000 100000"
names = "'not held' 'held 0.1 µs' 'held 1 µs' 'held 10 µs' 'held 100 µs'"

set logscale x 2
set logscale y
set xtics (2, 4, 16, 64)
set xrange [1.7:75]
unset key

# Each panel is as high as its curves need: those that are compared are one above the other.  A
# value of 0 (nobody had a turn, nobody waited) has no place on a logarithmic axis; if there are no
# others, the panel goes from 1 to 10.
extreme(hold, sign, none) = real(system(sprintf("awk -F'\t'" \
  . " '$1 == 1 && $2 == %s && $%d > 0 && (m == \"\" || %s(m - $%d) > 0) { m = $%d }" \
  . " END { print m == \"\" ? %s : m }' '%s/contended.tsv'", \
  hold, value, sign, value, value, none, data)))

set lmargin 17
set multiplot layout 2, 3 title heading
do for [h = 1:5] {
  set title word(names, h)
  set xlabel "threads"
  set ylabel (h == 1 || h == 4 ? label : " ")
  set yrange [extreme(word(holds, h), "+", "2") / 2 : extreme(word(holds, h), "-", "5") * 2]
  plot for [i = 1:words(peers)] rows("contended.tsv", \
      sprintf('$1 == 1 && $2 == %s && $4 == "%s"', word(holds, h), peer(i))) \
    using 3:(column(value)) with linespoints linestyle i notitle
}

# The last panel has the names of the peers that took part.
unset title
unset xlabel
unset ylabel
unset tics
unset border
unset grid
unset logscale
set key inside center spacing 1.3 samplen 5 width 2
set xrange [0:1]
set yrange [0:1]
took_part(i) = int(system(sprintf("awk -F'\\t' '$4 == \"%s\"' '%s/contended.tsv' | wc -l", \
  peer(i), data))) > 0
plot for [i = 1:words(peers)] (took_part(i) ? 2 : NaN) with linespoints linestyle i \
  title (took_part(i) ? peer(i) : "")
unset multiplot

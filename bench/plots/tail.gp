# SPDX-License-Identifier: MIT
# tail.gp - the share of the waits that are longer than a time; a curve ends at the longest wait.
# picture, from report.sh, is victim or waits.
load plots . "/style.gp"

heading = picture eq "victim" ? "A hog holds the only unit 0.2 ms at a time and takes it again at" \
  . " once:\nhow long does the other thread wait?" \
  : "16 threads want the only unit all the time and hold it for 10 µs: waits"
set title heading
set logscale xy
eval "set xtics " . durations
set xlabel "wait"
set ylabel "share of the waits that are at least as long"
set ytics ("100 %%" 1, "10 %%" 0.1, "1 %%" 0.01, "0.1 %%" 1e-3, "0.01 %%" 1e-4, "0.001 %%" 1e-5)
set mytics 10
set yrange [*:1.1]
set xrange [10:100<*]

# A wait of 0 has no place on a logarithmic axis: it is at its edge.
plot for [i = 1:words(peers)] rows(picture . ".tsv", sprintf('$1 == "%s"', peer(i))) \
  using ($2 < 10 ? 10 : $2):3 with lines linestyle i title peer(i)

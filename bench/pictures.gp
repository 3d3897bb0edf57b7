# SPDX-License-Identifier: MIT
# pictures.gp - the two pictures of bench.py, which sets the variables: picture, data, and blocks or lows and
# highs.  The lines of the peers differ even in black and white.
set encoding utf8
set datafile separator "\t"
set border 3 linewidth 1
set tics nomirror out
set grid linewidth 0.6 linecolor "#d8d8d8"
set style line 1 linewidth 3 linecolor "#000000" dashtype solid pointtype 7 pointsize 0.7
set style line 2 linewidth 2 linecolor "#7a3db8" dashtype 4 pointtype 13 pointsize 0.9
set style line 3 linewidth 3 linecolor "#d62728" dashtype solid pointtype 2 pointsize 0.8

if (picture eq "victim") {
  set terminal svg size 900,520 dynamic noenhanced font "DejaVu Sans,Helvetica,sans-serif,13" \
    background "#ffffff"
  set title "A hog holds the only unit 0.2 ms at a time and takes it again at once:\n" \
    . "how long does the other thread wait?"
  set key outside right center spacing 1.3 samplen 4
  set logscale xy
  set xlabel "wait"
  set xtics ('10 ns' 1e1, '100 ns' 1e2, '1 µs' 1e3, '10 µs' 1e4, '100 µs' 1e5, '1 ms' 1e6, \
    '10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10)
  set xrange [10:100<*]
  set ylabel "share of the waits that are at least as long"
  set ytics ("100 %%" 1, "10 %%" 0.1, "1 %%" 0.01, "0.1 %%" 1e-3, "0.01 %%" 1e-4, "0.001 %%" 1e-5)
  set mytics 10
  set yrange [*:1.1]
  # A curve ends at the longest wait.
  plot for [i = 1:blocks] data index i - 1 using 1:2 with lines linestyle i title columnheader(1)
  exit
}

set terminal svg size 1100,680 dynamic noenhanced \
  font "DejaVu Sans,Helvetica,sans-serif,12" background "#ffffff"
names = "'not held' 'held 0.1 µs' 'held 1 µs' 'held 10 µs' 'held 100 µs'"
set logscale x 2
set logscale y
set xtics (2, 4, 16, 64)
set xrange [1.7:75]
set ytics ("1,000" 1e3, "2,000" 2e3, "5,000" 5e3, "10,000" 1e4, "20,000" 2e4, "50,000" 5e4, \
  "100,000" 1e5, "200,000" 2e5, "500,000" 5e5, "1 million" 1e6, "2 million" 2e6, \
  "5 million" 5e6, "10 million" 1e7, "20 million" 2e7, "50 million" 5e7)
unset key
set lmargin 17
set multiplot layout 2, 3 title "All threads want the only unit all the time: how often it is taken"
do for [h = 1:5] {
  set title word(names, h)
  set xlabel "threads"
  set ylabel (h == 1 || h == 4 ? "holds per second" : " ")
  set yrange [real(word(lows, h)):real(word(highs, h))]
  plot for [i = 1:3] data index h - 1 using 1:(column(i + 1)) with linespoints linestyle i \
    title columnheader(i + 1)
}
# The last panel has the names of the peers.
unset title
unset xlabel
unset ylabel
unset tics
unset border
unset grid
unset logscale
set key inside center spacing 1.3 samplen 5 width 2
set xrange [0:1]
set yrange [-2:-1]
plot for [i = 1:3] data index 0 using 1:(column(i + 1)) with linespoints linestyle i \
  title columnheader(i + 1)
unset multiplot

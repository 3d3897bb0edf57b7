# SPDX-License-Identifier: MIT
# lines.gp - what the length of the queue costs.
load plots . "/style.gp"

set title "What the length of the queue costs: medians and quartiles"
set logscale x
set xlabel "tickets in the queue"
set xtics ("10" 10, "100" 100, "1,000" 1000, "10,000" 10000, "100,000" 100000)
set xrange [7:150000]
set ylabel "ns"
set yrange [0:*]
set key inside bottom center vertical # nothing costs nothing: free

row(setting) = rows("lines.tsv", sprintf('$1 == "%s"', setting))
plot row("take-return") using 2:3:4:5 with yerrorbars linestyle 1 notitle, \
  "" using 2:3 with linespoints linestyle 1 title "a ticket joins the queue and leaves it", \
  row("grant-claim-take") using 2:3:4:5 with yerrorbars linestyle 6 notitle, \
  "" using 2:3 with linespoints linestyle 6 title "the head is granted and joins again"

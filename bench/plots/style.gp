# SPDX-License-Identifier: MIT
# style.gp - what all pictures share: each peer has one look, also in black and white.
#
# gnuplot -e tells the scripts where the numbers are (data) and where the scripts are (plots).

set encoding utf8
set terminal svg size 900,520 dynamic noenhanced font "DejaVu Sans,Helvetica,sans-serif,13" \
  background "#ffffff"
set border 3 linewidth 1
set tics nomirror out
set grid linewidth 0.6 linecolor "#d8d8d8"
set key outside right center spacing 1.3 samplen 4

peers = "'fairsem' 'fairsem bounded' 'sem_t' 'textbook FIFO'" \
  . " 'System V' 'C++20' 'ring of futexes' 'Java fair' 'Go Weighted' 'tokio'"
set style line 1 linewidth 3 linecolor "#000000" dashtype solid pointtype 7 pointsize 0.7
set style line 2 linewidth 2 linecolor "#7a3db8" dashtype 4 pointtype 13 pointsize 0.9
set style line 3 linewidth 3 linecolor "#d62728" dashtype solid pointtype 2 pointsize 0.8
set style line 4 linewidth 2 linecolor "#2ca02c" dashtype 3 pointtype 4 pointsize 0.7
set style line 5 linewidth 2 linecolor "#e08a00" dashtype 5 pointtype 8 pointsize 0.8
set style line 6 linewidth 2 linecolor "#c2599d" dashtype 4 pointtype 1 pointsize 0.8
set style line 7 linewidth 2 linecolor "#808080" dashtype solid pointtype 10 pointsize 0.8
set style line 8 linewidth 2 linecolor "#8c564b" dashtype 3 pointtype 12 pointsize 0.9
set style line 9 linewidth 2 linecolor "#17a2b8" dashtype 2 pointtype 3 pointsize 0.8
set style line 10 linewidth 2 linecolor "#606000" dashtype 5 pointtype 5 pointsize 0.6

set datafile separator "\t"
peer(i) = word(peers, i)

# The rows of a file whose first columns are these, without them: field 1, 2, ... stay.
rows(file, condition) = sprintf("< awk -F'\\t' '%s' '%s/%s'", condition, data, file)

# Durations on a logarithmic axis.
durations = "('10 ns' 1e1, '100 ns' 1e2, '1 µs' 1e3, '10 µs' 1e4, '100 µs' 1e5, '1 ms' 1e6," \
  . " '10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10)"

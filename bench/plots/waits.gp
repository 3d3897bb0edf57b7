# SPDX-License-Identifier: MIT
# waits.gp - how long threads wait where 16 threads want one unit.
load plots . "/style.gp"

file = "waits.tsv"
heading = "16 threads want the only unit all the time and hold it for 10 µs: waits"
load plots . "/tail.gp"

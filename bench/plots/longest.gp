# SPDX-License-Identifier: MIT
# longest.gp - the longest wait of any thread against the number of threads.
load plots . "/style.gp"

value = 8
label = "longest wait"
heading = "All threads want the only unit all the time: the longest wait of any of them"
eval "set ytics " . durations
set mytics 10
load plots . "/panels.gp"

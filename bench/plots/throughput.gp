# SPDX-License-Identifier: MIT
# throughput.gp - holds per second against the number of threads.
load plots . "/style.gp"

value = 5
label = "holds per second"
heading = "All threads want the only unit all the time: how often it is taken"
set ytics ("1,000" 1e3, "2,000" 2e3, "5,000" 5e3, "10,000" 1e4, "20,000" 2e4, "50,000" 5e4, \
  "100,000" 1e5, "200,000" 2e5, "500,000" 5e5, "1 million" 1e6, "2 million" 2e6, \
  "5 million" 5e6, "10 million" 1e7, "20 million" 2e7, "50 million" 5e7)
load plots . "/panels.gp"

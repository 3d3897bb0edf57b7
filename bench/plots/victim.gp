# SPDX-License-Identifier: MIT
# victim.gp - how long the victim of a hog waits.
load plots . "/style.gp"

file = "victim.tsv"
heading = "A hog holds the only unit 0.2 ms at a time and takes it again at once:\n" \
  . "how long does the other thread wait?"
load plots . "/tail.gp"

# SPDX-License-Identifier: MIT
"""calibrate.py RESULTS CORES [OPTION]... - compares simulated figures with those of a real machine.

RESULTS is the output of `fairsem-bench price` on a machine of two cores, CORES the simulator
(`make tests/search/cores/cores`), and the OPTIONs are the simulator's, such as line=18.  Prints the holds a
second of each quiet cell, in thousands: measured (the median), simulated, and their ratio.
"""

import json
import math
import re
import statistics
import subprocess
import sys

CELL = re.compile(r"(\d+) threads, (\d+) units?, held (\d+) us(?:, (\d+) us between)?")
PEERS = {"fairsem": 0, "fairsem no spin": 1, "sem_t": 2}


def measured(path):
    """Returns the holds a second, in thousands, by cell and peer."""
    cells = {}
    with open(path, encoding="ascii") as lines:
        for line in map(json.loads, lines):
            cell = CELL.fullmatch(line.get("setting", ""))
            if line.get("workload") == "price" and cell and line["peer"] in PEERS:
                peers = cells.setdefault(tuple(int(n or 0) for n in cell.groups()), {})
                peers.setdefault(line["peer"], []).append(line["holds_per_second"] / 1000)
    if not cells:
        sys.exit("calibrate: there is no quiet cell of the workload price in " + path)
    return cells


def simulated(cores, options, cell):
    """Simulate a cell.  Returns the holds a second of each peer, in thousands."""
    threads, units, hold, think = cell
    run = subprocess.run(
        [cores, *options, "cores=2", f"threads={threads}", f"units={units}", f"hold={hold * 1000}",
         f"think={think * 1000}", "peers=3", "ms=200"],
        stdout=subprocess.PIPE, text=True, check=True)
    return [float(field) for field in run.stdout.splitlines()[1].split()[6::3]]


def compare(results, cores, options):
    """Returns the lines of the comparison."""
    errors = {peer: [] for peer in PEERS}
    yield "threads units hold between" + "".join(f"{peer:>28}" for peer in PEERS)
    for cell, peers in measured(results).items():
        row = "{:7} {:5} {:4} {:7}".format(*cell)
        pace = simulated(cores, options, cell)
        for peer, number in PEERS.items():
            real = statistics.median(peers[peer])
            ratio = pace[number] / real if real > 0 and pace[number] > 0 else math.inf
            errors[peer].append(max(ratio, 1 / ratio) - 1)
            row += f"{real:10.0f}{pace[number]:10.0f}{ratio:8.2f}"
        yield row
    for peer, error in errors.items():
        yield f"{peer}: error {statistics.mean(error):.0%} in the mean, {max(error):.0%} at most"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for line in compare(sys.argv[1], sys.argv[2], sys.argv[3:]):
        print(line)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""tables.py CORES NUMBER...

Prints a table of holds a second for each simulated machine, with NUMBER cores.  CORES is the simulator (`make
tests/search/cores/cores`).
"""

import concurrent.futures
import os
import subprocess
import sys

HOLDS = (1000, 5000, 20000, 100000)
MACHINES = {"vm": "virtual", "bare": "bare metal"}
HEAD = "Thousand holds a second: fairsem / `sem_t` / a ticket semaphore with a waiting array.\n"
SHOWN = (6, 12, 15)     # the fields of main.c's row with their holds


def line(*cells):
    return "| " + " | ".join(cells) + " |\n"


def number(text):
    return text if float(text) < 20 else f"{float(text):.0f}"


def settings(cores):
    """The combinations of threads and units with which threads must wait."""
    return [(threads, units) for units in sorted({1, 4, cores // 2})
            for threads in sorted({2, 4, cores // 2, cores, 4 * cores}) if threads > units > 0]


def paces(simulator, cores, threads, units, machine):
    """A cell for each length of a hold."""
    run = subprocess.run(
        [simulator, "machine=" + machine, f"cores={cores}", f"threads={threads}", f"units={units}",
         "hold=" + ",".join(map(str, HOLDS)), "ms=20"], stdout=subprocess.PIPE, text=True, check=True)
    rows = [row.split() for row in run.stdout.splitlines()[1:]]
    return [" / ".join(number(row[field]) for field in SHOWN) for row in rows]


def table(simulator, cores):
    text = "\n" + line(f"{cores} cores", *(f"{name}, {hold // 1000} us" for name in MACHINES.values()
                                           for hold in HOLDS))
    text += line(*["---"] * (1 + len(MACHINES) * len(HOLDS)))
    # Each run is a process of one thread.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {setting: [pool.submit(paces, simulator, cores, *setting, machine) for machine in MACHINES]
                for setting in settings(cores)}
        for (threads, units), machines in runs.items():
            text += line(f"{threads} threads, {units} unit{'s' * (units > 1)}",
                         *(cell for machine in machines for cell in machine.result()))
    return text


def main():
    simulator, *numbers = sys.argv[1:] or [""]
    if not numbers or not all(map(str.isdigit, numbers)):
        sys.exit(__doc__)
    print(HEAD, end="")
    for cores in map(int, numbers):
        print(table(simulator, cores), end="", flush=True)


if __name__ == "__main__":
    main()

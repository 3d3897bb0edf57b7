# SPDX-License-Identifier: MIT
"""tables.py CORES NUMBER...
tables.py --publish DOCUMENT RESULTS LINE CORES NUMBER...

Prints a table of holds a second for each simulated machine, with NUMBER cores.  CORES is the simulator (`make
tests/search/cores/cores`).

--publish writes the tables to the end of DOCUMENT, in place of everything from HEAD on, with the calibration:
see calibrate.py for RESULTS; LINE is the time of a cache line on that machine, in nanoseconds.
"""

import concurrent.futures
import os
import subprocess
import sys

import calibrate

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


def publish(document, results, ns, simulator, numbers):
    with open(document, encoding="utf-8") as file:
        before, head, _ = file.read().partition(HEAD)
    if not head:
        sys.exit(f"tables: {document} has no place for them")
    # The calibration comes first, because it may fail.
    calibration = "".join(f"    {row}\n" for row in calibrate.compare(results, simulator, ["line=" + ns]))
    text = HEAD + "".join(table(simulator, cores) for cores in numbers)
    text += f"\nTwo cores, a line takes {ns} ns; measured, simulated, and the ratio of the two:\n\n"
    text += calibration
    with open(document, "w", encoding="utf-8") as file:
        file.write(before + text)


def main():
    arguments, where = sys.argv[1:], []
    if arguments[:1] == ["--publish"]:
        where, arguments = arguments[1:4], arguments[4:]
    simulator, *numbers = arguments or [""]
    if not numbers or not all(map(str.isdigit, numbers)):
        sys.exit(__doc__)
    numbers = [int(number) for number in numbers]
    if where:
        publish(*where, simulator, numbers)
        return
    print(HEAD, end="")
    for cores in numbers:
        print(table(simulator, cores), end="", flush=True)


if __name__ == "__main__":
    main()

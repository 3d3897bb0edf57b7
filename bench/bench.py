# SPDX-License-Identifier: MIT
"""bench.py - tables of the output of fairsem-bench.

    fairsem-bench price | python3 bench.py      tables, for people
    python3 bench.py --report DIR               DIR/report.md and pictures, from DIR/results

`make bench` measures and makes the report; `make bench-report` makes the report again from existing numbers.
Pictures need gnuplot.
"""

import dataclasses
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys

NO_SPIN, BOUNDED = "fairsem no spin", "fairsem bounded"
BUSY = ", beside a busy process"


def stop(text):
    sys.exit("bench: " + text)


class Results:
    """The results: values(workload, setting, peer, figure)."""

    def __init__(self, lines):
        self.head = None
        self.data = {}      # workload -> setting -> peer -> figure -> values, each in the order of the lines
        self.waits = {}     # peer -> all waits of the victim
        for line in lines:
            fields = json.loads(line)
            if "workload" not in fields:
                self.head = self.head or fields
            elif "waits_ns" in fields:
                self.waits.setdefault(fields["peer"], []).extend(fields["waits_ns"])
            else:
                peers = self.data.setdefault(fields.pop("workload"), {})
                figures = peers.setdefault(fields.pop("setting"), {}).setdefault(fields.pop("peer"), {})
                for name, value in fields.items():
                    figures.setdefault(name, []).append(value)
        if not self.head:
            stop("these are no results of fairsem-bench")

    def main_figure(self, workload, setting, peer):
        figures = self.data.get(workload, {}).get(setting, {}).get(peer, {})
        return next(iter(figures), None)

    def values(self, workload, setting, peer, figure=None):
        figures = self.data.get(workload, {}).get(setting, {}).get(peer, {})
        return figures.get(figure or self.main_figure(workload, setting, peer), [])

    def median(self, *where):
        values = self.values(*where)
        return statistics.median(values) if values else None

    def ratio(self, workload, setting, ours, theirs):
        a, b = self.median(workload, setting, ours), self.median(workload, setting, theirs)
        return a / b if a is not None and b else None


# ---------------------------------------------------------------- numbers as people write them

def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def rounded(value):
    return "%.*f" % (2 if value < 0.995 else 1 if value < 9.95 else 0, value)


def rate(value, most):
    if most >= 1e6:
        return rounded(value / 1e6) + " million"
    scale = 1
    while value / scale >= 100:
        scale *= 10
    return "{:,}".format(round(value / scale) * scale)


def duration(ns, most):
    if most < 1e3:
        return "%.1f ns" % ns
    for unit, name in (1e3, "us"), (1e6, "ms"), (1e9, "s"):
        if most < 1000 * unit or unit == 1e9:
            return "%s %s" % (rounded(ns / unit), name)


def number(value, figure, most=None):
    """The text of a number, in the unit that suits `most`, the largest number of its row."""
    if value is None:
        return "-"
    if figure.endswith("_per_second"):
        return rate(value, most or value)
    if figure.endswith("_ns"):
        return duration(value, most or value)
    if figure.endswith("_share"):
        return "%.3g %%" % (100 * value)
    return "%.3g" % value if abs(value) < 1000 else "%.0f" % value


def ratio_text(ratio):
    return "-" if ratio is None else "%.2g" % ratio if ratio < 0.095 else "%.2f" % ratio


def line(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def head(*cells):
    return line(*cells) + "|" + "---|" * len(cells) + "\n"


# ---------------------------------------------------------------- rows of doc/cost.md

@dataclasses.dataclass
class Row:
    """A row: two peers in one setting, or one peer."""

    text: str
    workload: str
    setting: str
    ours: str = "fairsem"
    theirs: str = None
    # The goal, for the ratio; for our number itself if there are no `theirs` or `itself` is set.
    most: float = None
    least: float = None
    itself: bool = False
    figure: str = None      # the main figure if None
    take: callable = statistics.median

    def sides(self, results):
        """The figure and the numbers of both peers, or None if a peer was not measured."""
        figure = self.figure or results.main_figure(self.workload, self.setting, self.ours)
        found = []
        for peer in filter(None, (self.ours, self.theirs)):
            values = results.values(self.workload, self.setting, peer, figure)
            if not values:
                return None
            found.append(self.take(values))
        return figure, found[0], found[1] if self.theirs else None

    def cells(self, results):
        """Both numbers, the better one in bold, with the ratio and the goal."""
        figure, a, b = self.sides(results)
        texts = [number(side, figure, max(a, b or 0)) for side in (a, b)]
        if self.theirs:
            better = 0 if (a > b) == figure.endswith("_per_second") else 1
            texts[better] = "**%s**" % texts[better]
        else:
            texts[1] = ""
        ratio = a / b if b else None
        goal = self.goal(results, a if self.itself or not self.theirs else ratio, figure)
        return texts, ratio_text(ratio) if self.theirs else "", goal

    def goal(self, results, compared, figure):
        bound = self.least if self.most is None else self.most
        if bound is None:
            return ""
        text = number(bound, figure) if self.itself or not self.theirs else "%g" % bound
        met = compared is not None and (compared >= bound if self.most is None else compared <= bound)
        return "%s %s%s" % (">=" if self.most is None else "<=", text,
                            "" if met or results.head["quick"] else ", missed")


def arena(threads, us, units=1, more=""):
    return "%d threads, %d unit%s, held %g us%s" % (threads, units, "s" * (units > 1), us, more)


def farthest_from_half(shares):
    return max(abs(2 * share - 1) for share in shares)


ROWS = [
    Row("longest wait of a thread beside a hog that holds the unit for 0.2 ms at a time",
        "victim", "two cores", theirs="sem_t", most=10e6, itself=True, take=max),
    Row("acquire and release, nobody waits", "uncontended", "acquire", theirs="sem_t", most=1.03),
    Row("try and release", "uncontended", "try", theirs="sem_t", most=1.00),
    Row("acquire_for and release", "uncontended", "acquire_for", theirs="sem_t", most=1.05),
    Row("hand-off between two threads on one core", "handoff", "one core", theirs="sem_t", most=1.3),
    Row("hand-off between two threads on two cores", "handoff", "two cores", theirs="sem_t", most=0.35),
    Row("the same, one of them the main thread", "handoff", "the main thread and another, two cores",
        theirs="sem_t", most=0.35),
    Row("the same, wherever they run", "handoff", "not pinned", theirs="sem_t"),
    Row("hand-off between cores, beside that of a bare cache line", "handoff", "two cores",
        theirs="bare cache line", most=4),
    Row("16 threads, one unit held for no time, holds per second", "contended", arena(16, 0),
        theirs="sem_t", least=5e5, itself=True),
    *(Row("%d threads, one unit held for %d us, holds per second" % (threads, us), "price",
          arena(threads, us), theirs="sem_t")
      for threads, us in ((2, 1), (4, 2), (16, 2), (64, 10))),
    *(row for setting, text, bound in (("1 unit", "one unit", 2), ("8 units, tickets", "8 units, with tickets", 9))
      for row in (
          Row("a client of one thread beside one of 64, %s: how far its grants are from half, in the worst run"
              % text, "tenants", setting, "shares", "sem_t", figure="lone_share", take=farthest_from_half,
              most=0.01, itself=True),
          Row("the same, most holds of the other client in one of its waits", "tenants", setting, "shares", "sem_t",
              figure="longest_wait_holds", take=max, most=bound + 2, itself=True))),
    Row("a grant and the next request, with 10,000 shares in the queue, and with 10", "tenants",
        "a grant, and the next request", "10,000 shares", "10 shares", most=1.5),
    Row("10,000 waiters that time out together, time for each, and 10", "expiry", "all at once",
        "10000 waiters", "10 waiters", most=1.5),
    *(row for count in ("1000", "10000") for row in (
        Row("one release wakes %s sleepers, until the call returns, time for each" % count, "wake",
            count + " sleepers", "one release", "sem_posts", figure="each_until_the_call_returns_ns"),
        Row("the same, until the last has run", "wake", count + " sleepers", "one release", "sem_posts",
            most=1.1))),
    Row("`sem_wait` and `sem_post` in a program under `fairsem-run`", "dropin", "wait and post",
        "the program's", "libc's own", most=1.5),
    Row("between processes: acquire and release, nobody waits", "shared", "uncontended",
        "fairsem, undo", "semop, SEM_UNDO", most=0.3),
    Row("the same, `FAIRSEM_SHARED_NO_UNDO`", "shared", "uncontended", "fairsem, no undo", "sem_t",
        most=1.1),
    Row("hand-off between two processes on one core", "shared", "hand-off, one core",
        "fairsem, no undo", "sem_t", most=1.5),
    Row("the same, a core for each", "shared", "hand-off, two cores", "fairsem, no undo", "sem_t",
        most=0.2),
    Row("longest wait beside a process that holds the unit for 0.2 ms at a time", "shared",
        "victim, two cores", "fairsem, undo", most=10e6, take=max),
    Row("from the death of a holder until the next has its unit", "shared", "death of a holder",
        "fairsem, undo", most=110e6),
    Row("the same, the longest", "shared", "death of a holder", "fairsem, undo", most=150e6, take=max),
    Row("64 processes that queue for one unit: waits that were passed", "shared",
        "64 queue for one unit", "fairsem, undo", most=0, take=sum),
    *(Row("beside a process that polls, %d hold units: 99th percentile of acquire + release" % count,
          "shared", "beside a poller, %d hold a unit" % count, "fairsem, undo", "semop, SEM_UNDO",
          most=20e3, itself=True)
      for count in (4, 60, 300)),
    Row("1,000 processes wait, and nothing happens: percent of a core", "shared",
        "1,000 processes wait", "fairsem, undo", most=2),
    Row("an acquire of 1 ms while one of four busy processes is stopped, the longest", "shared",
        "acquire of 1 ms, one of four is stopped", "fairsem, undo", most=21e6, take=max),
    Row("1,000 `fairsem-limit` stand in line after", "shared", "1,000 commands", "fairsem-limit",
        most=5e9),
    Row("after the end of the holder, all of them have run after", "shared", "1,000 commands",
        "fairsem-limit", most=5e9, figure="until_all_have_run_ns"),
    Row("meanwhile, the longest `--status`", "shared", "1,000 commands", "fairsem-limit", most=1e8,
        figure="longest_status_ns"),
    Row("100 short commands by eight callers, limit 1", "shared", "100 commands, eight callers",
        "fairsem-limit", "flock(1)", most=0.25e9, itself=True),
]


def range_row(results, text, workload, settings, ours, theirs, most=None, least=None):
    """One row for many settings of a workload: the least and the largest ratio."""
    ratios = [results.ratio(workload, setting, ours, theirs) for setting in settings]
    ratios = [ratio for ratio in ratios if ratio is not None]
    if not ratios:
        return ""
    good = sum(r <= most if least is None else r >= least for r in ratios)
    goal = "%s %g" % (("<=", most) if least is None else (">=", least))
    return line(text, "", theirs, "%s to %s" % (ratio_text(min(ratios)), ratio_text(max(ratios))),
                goal if good == len(ratios) or results.head["quick"] else "%s, missed in %d of %d"
                % (goal, len(ratios) - good, len(ratios)))


def goals(results):
    text = head("", "fairsem", "the other", "ratio", "goal")
    for row in ROWS:
        if row.sides(results):
            (ours, theirs), ratio, goal = row.cells(results)
            text += line(row.text, ours, theirs + ", " + row.theirs if row.theirs else "", ratio, goal)
    alone = [s for s in results.data.get("price", ()) if s in MATRIX]
    text += range_row(results, "holds per second with `FAIRSEM_BOUNDED_BYPASS`", "contended",
                      results.data.get("contended", ()), BOUNDED, "sem_t", least=0.8)
    text += range_row(results, "holds per second, held 1 to 50 us", "price", alone, "fairsem", "sem_t",
                      least=0.67)
    return text


# ---------------------------------------------------------------- other tables

THREADS, HOLDS = (2, 3, 4, 8, 16, 64), (1, 2, 5, 10, 50)
MATRIX = {arena(threads, us) for threads in THREADS for us in HOLDS}


def price(results):
    """Threads and holds, alone and alongside a busy process, each with and without spinning."""
    if "price" not in results.data:
        return ""
    text = "\nHolds per second / those of `sem_t`; behind the stroke with `FAIRSEM_NO_SPIN`.\n\n"
    text += head("threads", *("held %d us%s" % (us, busy) for us in HOLDS for busy in ("", ", busy")))
    for threads in THREADS:
        text += line(threads, *(both(results, arena(threads, us, more=busy))
                                for us in HOLDS for busy in ("", BUSY)))
    text += "\n`busy`: beside one process that computes all the time.\n\n" + head("", "of `sem_t`")
    for setting in results.data["price"]:
        if setting.replace(BUSY, "") not in MATRIX:
            text += line(setting, both(results, setting))
    return text


def both(results, setting):
    return " / ".join(ratio_text(results.ratio("price", setting, peer, "sem_t"))
                      for peer in ("fairsem", NO_SPIN))


def buffer(results):
    """The bounded buffer: a column for each peer, libc's first."""
    if "buffer" not in results.data:
        return ""
    peers = ("sem_t", "fairsem", NO_SPIN, BOUNDED, "fairsem-run", "fairsem-run, bypass")
    text = "\nItems per second: the median, its quartiles, and its ratio to that of `sem_t`.\n\n"
    text += head("", *peers)
    for setting in results.data["buffer"]:
        cells = []
        for peer in peers:
            values = results.values("buffer", setting, peer)
            if not values:
                cells.append("")
                continue
            low, high = quartiles(values)
            cells.append("%s (%s .. %s)" % tuple(
                number(value, "_per_second")
                for value in (results.median("buffer", setting, peer), low, high)))
            if peer != "sem_t":
                cells[-1] += ", " + ratio_text(results.ratio("buffer", setting, peer, "sem_t"))
        text += line(setting, *cells)
    return text


def everything(results, workload):
    """All settings and peers.  Column "first/": the first peer's median divided by the median of this line."""
    peers_of = results.data[workload]
    others = dict.fromkeys(name for setting, peers in peers_of.items()
                           for peer, figures in peers.items() for name in figures
                           if name != results.main_figure(workload, setting, peer))
    text = head("setting", "peer", "runs", "", "median", "quartiles", "first/", *map(words, others))
    for setting, peers in peers_of.items():
        for peer, figures in peers.items():
            name = results.main_figure(workload, setting, peer)
            first = results.median(workload, setting, next(iter(peers)), name)
            median = statistics.median(figures[name])
            cells = [ratio_text(first / median) if median and first is not None else "-"]
            for other in others:
                take = max if "longest" in other else sum if "passed" in other else statistics.median
                cells.append(number(take(figures[other]), other)
                             if other in figures and other != name else "")
            text += line(setting, peer, len(figures[name]), words(name), number(median, name),
                         " .. ".join(number(value, name) for value in quartiles(figures[name])), *cells)
    return text


def words(figure):
    return (figure[:-3] if figure.endswith("_ns") else figure).replace("_", " ")


def tables(results):
    return "".join("\n%s\n\n%s" % (workload, everything(results, workload))
                   for workload in results.data) + price(results) + buffer(results)


def report(results, directory):
    text = "# fairsem-bench\n\n%s\n\nfairsem %s, measured on %s; made by `make bench`.\n" % (
        results.head["machine"], results.head["fairsem"], datetime.date.today())
    if results.head["quick"]:
        text += "\nThe run was too brief: its figures mean nothing, and no goal is judged.\n"
    for name, title in ("victim", "A hog and a victim"), ("throughput", "Many threads on one unit"):
        if draw(results, directory, name):
            text += "\n![%s](%s.svg)\n" % (title, name)
    text += "\n## Goals\n\nMedians, and their ratio.  All peers ran the same loop, in turn.\n\n"
    text += goals(results)
    for title, table in ("What strict order costs", price), ("The bounded buffer", buffer):
        if table(results):
            text += "\n## %s\n%s" % (title, table(results))
    return text + "".join("\n## %s\n\n%s" % (workload, everything(results, workload))
                          for workload in results.data)


# ---------------------------------------------------------------- pictures

PEERS = ("fairsem", BOUNDED, "sem_t")


def blocks(path, columns_of_blocks):
    """Tables for gnuplot: two empty lines between blocks; NaN for 0, which a logarithmic axis does not have."""
    with open(path, "w") as file:
        for rows in columns_of_blocks:
            for row in rows:
                file.write("\t".join(str(cell) if cell else "NaN" for cell in row) + "\n")
            file.write("\n\n")


def victim_data(results, path):
    """A block for each peer: a wait, and the share of the waits that are at least as long."""
    found = []
    for peer in PEERS:
        waits = sorted(results.waits.get(peer, ()))
        if waits:
            # The 50 longest waits, and one in `step` of the others.
            step = len(waits) // 400 + 1
            found.append([[peer]] + [[max(wait, 10), (len(waits) - i) / len(waits)]
                                     for i, wait in enumerate(waits)
                                     if i % step == 0 or i + 50 > len(waits)])
    blocks(path, found)
    return "blocks=%d" % len(found) if found else None


def throughput_data(results, path):
    """A block for each length of a hold: threads, and a column for each peer.  Each panel has its own y range."""
    found, lows, highs = [], [], []
    for us in (0, 0.1, 1, 10, 100):
        rows = [[threads] + [results.median("contended", arena(threads, us), peer) for peer in PEERS]
                for threads in (2, 4, 16, 64)]
        values = [value for row in rows for value in row[1:] if value]
        lows.append("%g" % (min(values, default=2) / 2))
        highs.append("%g" % (max(values, default=5) * 2))
        found.append([["threads"] + list(PEERS)] + rows)
    blocks(path, found)
    if "contended" in results.data:
        return "lows='%s'; highs='%s'" % (" ".join(lows), " ".join(highs))
    return None


def draw(results, directory, name):
    """Make DIRECTORY/NAME.svg.  Returns False if there are no numbers or no gnuplot."""
    data, svg = (os.path.join(directory, name + end) for end in (".tsv", ".svg"))
    if os.path.exists(svg):
        os.remove(svg)
    more = {"victim": victim_data, "throughput": throughput_data}[name](results, data)
    if not more or not shutil.which("gnuplot"):
        return False
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures.gp")
    with open(svg, "w") as output:
        made = subprocess.run(["gnuplot", "-e", "picture='%s'; data='%s'; %s" % (name, data, more),
                               script], stdout=output, stderr=subprocess.PIPE, text=True)
    if made.returncode or not os.path.getsize(svg):
        stop("gnuplot failed: %s: %s" % (name, made.stderr))
    return True


def main(arguments):
    if not arguments:
        results = Results(sys.stdin)
        print("%s\n%s" % (results.head["machine"], tables(results)), end="")
        return
    if len(arguments) != 2 or arguments[0] != "--report":
        stop("usage: fairsem-bench workload... | bench.py, or bench.py --report DIR")
    directory = arguments[1]
    try:
        with open(os.path.join(directory, "results")) as file:
            results = Results(file)
        path = os.path.join(directory, "report.md")
        with open(path, "w") as file:
            file.write(report(results, directory))
    except OSError as error:
        stop(str(error))
    print("bench: the report is %s" % path)


if __name__ == "__main__":
    main(sys.argv[1:])

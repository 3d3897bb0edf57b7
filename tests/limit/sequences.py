# SPDX-License-Identifier: MIT
"""sequences.py - sequences of fairsem-limit commands do what a model of the manual page says.

hypothesis draws them; the same tree draws the same sequences.  The first that fails is printed as it is: a
wrong --status is believed only when it hangs, which is too slow for hypothesis to reduce it.
test_sequences.py runs them, if there is a hypothesis.
"""

import itertools
import json
import signal
import subprocess

import hypothesis
import pytest
from hypothesis import stateful, strategies

from cases import wait_until

NAMES = ("m%d" % i for i in itertools.count())
GATE = ("--", "sh", "-c", "read -r line")
LIMITS, UNITS, PRIORITIES = (strategies.integers(*range_) for range_ in ((1, 4), (1, 4), (-1, 1)))
DRAWN = strategies.integers(0, 1000)


class Name:
    """The model: one name, and the requests for it, as (process, units, priority)."""

    def __init__(self):
        self.limit = self.made_with = 0     # there is no such name
        self.running, self.waiting = [], []

    def used(self):
        return bool(self.running or self.waiting)

    def free(self):
        return self.limit - sum(units for _, units, _ in self.running)

    def accepts(self, limit):
        """Another limit is taken while nobody uses the name, and that with which it was made at any time."""
        if not self.used() and limit not in (self.limit, self.made_with):
            self.limit = self.made_with = limit
        return limit in (self.limit, self.made_with)

    def serve(self):
        while self.waiting and self.waiting[0][1] <= self.free():
            self.running.append(self.waiting.pop(0))

    def join(self, request):
        self.waiting.append(request)
        self.waiting.sort(key=lambda each: each[2])     # in order of arrival within a priority
        self.serve()

    def leave(self, request):
        (self.running if request in self.running else self.waiting).remove(request)
        self.serve()

    def shown(self):
        return (self.limit, self.free(), sorted((each[0].pid, each[1]) for each in self.running),
                [(each[0].pid, each[1], each[2]) for each in self.waiting])


class Commands(stateful.RuleBasedStateMachine):
    hung = ""       # what to print; hypothesis repeats what has failed

    def __init__(self, limit):
        super().__init__()
        self.it, self.name, self.model, self.steps = limit, next(NAMES), Name(), []

    def teardown(self):
        self.it.end()

    def ends(self, status, *words):
        self.steps.append((*words, "status %d" % status))
        ended = self.it.run("", *words)
        assert ended.returncode == status, ended

    # ------------------------------------------------------------ commands that run and wait
    @stateful.rule(limit=LIMITS, units=UNITS, priority=PRIORITIES)
    def begin(self, limit, units, priority):
        line = ("-n", units, "-p", priority, self.name, limit, *GATE)
        if units > limit or not self.model.accepts(limit) or units > self.model.limit:
            self.ends(125, *line)
        else:
            self.model.join((self.it.start("", *line, stdin=subprocess.PIPE), units, priority))
            self.steps.append((*line, "is %d" % self.it.started[-1].pid))

    @stateful.rule(limit=LIMITS)
    def begin_without_waiting(self, limit):
        if not self.model.accepts(limit):
            status = 125
        else:
            status = 0 if self.model.free() >= 1 and not self.model.waiting else 124
        self.ends(status, "-w", 0, self.name, limit, "--", "true")

    @stateful.precondition(lambda self: self.model.running)
    @stateful.rule(drawn=DRAWN)
    def end(self, drawn):
        request = self.model.running[drawn % len(self.model.running)]
        self.steps.append(("end", request[0].pid))
        request[0].communicate(b"\n")
        assert request[0].returncode == 0
        self.model.leave(request)

    @stateful.precondition(lambda self: self.model.used())
    @stateful.rule(drawn=DRAWN, sent=strategies.sampled_from((signal.SIGKILL, signal.SIGTERM)))
    def signal(self, drawn, sent):
        requests = self.model.running + self.model.waiting
        request = requests[drawn % len(requests)]
        self.steps.append((sent.name, request[0].pid))
        request[0].send_signal(sent)
        assert request[0].wait() == -sent
        request[0].stdin.close()
        self.model.leave(request)

    # ------------------------------------------------------------ commands about the name
    @stateful.rule(limit=LIMITS)
    def set_limit(self, limit):
        if self.model.limit == 0:
            self.ends(125, "--set-limit=%d" % limit, self.name)
        else:
            self.ends(0, "--set-limit=%d" % limit, self.name)
            self.model.limit = limit
            self.model.serve()

    @stateful.rule()
    def remove(self):
        if self.model.limit == 0 or self.model.used():
            self.ends(125, "--remove", self.name)
        else:
            self.ends(0, "--remove", self.name)
            self.model = Name()

    # ------------------------------------------------------------ what --status shows
    def status(self):
        names = json.loads(self.it.run("--status=json", self.name).stdout)["names"]
        if not names:
            return (0, 0, [], [])
        users = names[0]["users"]
        return (names[0]["limit"], names[0]["free"],
                sorted((user["pid"], user["units"]) for user in users if user["place"] == 0),
                [(user["pid"], user["units"], user["priority"])
                 for user in sorted(users, key=lambda user: user["place"]) if user["place"] != 0])

    @stateful.invariant()
    def the_status_is_that_of_the_model(self):
        try:
            assert not Commands.hung
            wait_until("the status", lambda: self.status() == self.model.shown())
        except (AssertionError, RuntimeError):      # of this wait, or of the whole case
            Commands.hung = Commands.hung or "%s\nmodel:  %s\nstatus: %s" % (
                "\n".join(" ".join(map(str, step)) for step in self.steps), self.model.shown(), self.status())
            raise


def play(limit):
    settings = hypothesis.settings(max_examples=40, stateful_step_count=25, derandomize=True, database=None,
                                   deadline=None, phases=[hypothesis.Phase.generate],
                                   suppress_health_check=list(hypothesis.HealthCheck))
    try:
        stateful.run_state_machine_as_test(lambda: Commands(limit), settings=settings)
    finally:
        if Commands.hung:
            pytest.fail(Commands.hung, pytrace=False)

# SPDX-License-Identifier: MIT
"""sequences.py - random commands under one name, drawn by hypothesis, and a model of that name."""

import json
import signal
import subprocess

from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cases import limit_time, wait_until


class User:
    """A command that runs or waits."""

    def __init__(self, process, units, priority, number, options):
        self.process, self.units, self.priority = process, units, priority
        self.keep, self.exec = "--keep" in options, "--exec" in options
        self.order, self.begun = (priority, number), False

    def begins(self):
        """Does the command run?  If so, it has printed a line."""
        self.begun = self.begun or self.process.stdout.readline() == b"begun\n"
        return self.begun


class Model:
    """The model: a name, and the commands that use it."""

    def __init__(self):
        self.limit = self.first_limit = None    # None if there is no such name
        self.kept, self.running, self.waiting = False, [], []

    def free(self):
        return self.limit - sum(user.units for user in self.running)

    def is_used(self):
        return bool(self.running or self.waiting)

    def admits(self, limit, units):
        """Is a command with this limit accepted?  An unused name gets the limit."""
        if units > limit:
            return False
        if limit not in (self.limit, self.first_limit):
            if self.is_used() or self.limit == 0:
                return False
            self.limit = self.first_limit = limit
            self.kept = False
        return units <= self.limit or self.limit == 0

    def is_free_for(self, units, priority):
        return units <= self.free() and all(priority < user.priority for user in self.waiting)

    def grant(self):
        while self.waiting and self.waiting[0].units <= self.free():
            self.running.append(self.waiting.pop(0))
            self.kept |= self.running[-1].keep

    def add(self, user):
        self.waiting = sorted(self.waiting + [user], key=lambda user: user.order)
        self.grant()

    def drop(self, user):
        (self.running if user in self.running else self.waiting).remove(user)
        self.grant()

    def end(self):
        """A command has ended, and its fairsem-limit goes on.  The last user removes the name, if not kept."""
        if not self.is_used() and not self.kept and self.limit == self.first_limit:
            self.limit = self.first_limit = None

    def set_limit(self, limit):
        self.limit = limit
        self.grant()

    def shown(self):
        """The result of --status=json: limit, free units, running commands, and waiting ones in order."""
        if self.limit is None:
            return None
        return (self.limit, self.free(), {(user.process.pid, user.units) for user in self.running},
                [(user.process.pid, user.units, user.priority) for user in self.waiting])


class Commands(RuleBasedStateMachine):
    """fairsem-limit does each step, and then --status must agree with the model."""

    limit = None                    # the fixture of conftest.py
    limits, units, priorities = some.sampled_from((0, 0, 0, 1, 2, 3)), some.integers(1, 3), some.integers(-1, 1)
    options = some.sampled_from(("", "--keep", "--exec", "--exec --keep"))
    which, end_by = some.integers(0, 9), some.sampled_from((signal.SIGKILL, signal.SIGTERM))

    def __init__(self):
        super().__init__()
        self.model, self.uncounted, self.count = Model(), [], 0
        self.limit.run("--remove --force test")

    def limit_of(self, limit):
        """A drawn 0 stands for a limit that the name has."""
        return limit or self.model.limit or self.model.first_limit or 2

    @rule(limit=limits, users=some.lists(some.tuples(units, priorities, options), min_size=1, max_size=4))
    def begin(self, limit, users):
        for units, priority, options in users:
            words = "%s -n %d -p %d test %d" % (options, units, priority, self.limit_of(limit))
            line = words + " -- sh -c 'echo begun; read -r line'"
            if self.model.admits(self.limit_of(limit), units):
                process = self.limit.start(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self.count += 1
                self.model.add(User(process, units, priority, self.count, options))
                self.is_as_the_model_says()
            else:
                self.limit.gives(125, line)

    @rule(limit=limits, units=units, priority=priorities)
    def try_once(self, limit, units, priority):
        status, limit = 125, self.limit_of(limit)
        if self.model.admits(limit, units):
            status = 0 if self.model.is_free_for(units, priority) else 124
        # A waiter may hold the lock for a moment, and -w 0 does not wait for the lock.
        time = "1d" if status == 0 and self.model.waiting else "0"
        self.limit.gives(status, "-w %s -n %d -p %d test %d -- true" % (time, units, priority, limit))
        if status == 0:
            self.model.end()

    @precondition(lambda self: self.model.running)
    @rule(which=which)
    def end(self, which):
        user = self.model.running[which % len(self.model.running)]
        user.process.communicate(b"\n")
        assert user.process.returncode == 0
        self.model.drop(user)
        if not user.exec:
            self.model.end()

    @precondition(lambda self: self.model.is_used())
    @rule(which=which, number=end_by)
    def kill(self, which, number):
        users = self.model.running + self.model.waiting
        user = users[which % len(users)]
        ends = number == signal.SIGTERM and user in self.model.running and not user.exec
        user.process.send_signal(number)
        assert user.process.wait() == -number
        assert user.process.stdout.read() == b"", "it ran"
        self.model.drop(user)
        if ends:
            self.model.end()

    @precondition(lambda self: self.model.limit is not None)
    @rule(limit=some.integers(0, 3))
    def set_limit(self, limit):
        self.limit.gives(0, "--set-limit=%d test" % limit)
        self.model.set_limit(limit)

    @precondition(lambda self: self.model.limit is not None)
    @rule()
    def remove(self):
        self.limit.gives(125 if self.model.is_used() else 0, "--remove test")
        if not self.model.is_used():
            self.model = Model()

    @precondition(lambda self: self.model.running and not self.model.waiting)
    @rule()
    def remove_by_force(self):
        """The running commands go on, but no longer count."""
        self.limit.gives(0, "--remove --force test")
        self.uncounted += self.model.running
        self.model = Model()

    @precondition(lambda self: self.uncounted)
    @rule()
    def end_uncounted(self):
        process = self.uncounted.pop().process
        process.communicate(b"\n")
        assert process.returncode == 0

    def status(self):
        told = self.limit.run("--status=json test")
        if "there is no such name" in told.stderr:
            return None
        name, = json.loads(told.stdout)["names"]
        users = sorted(name["users"], key=lambda user: user["place"])
        return (name["limit"], name["free"],
                {(user["pid"], user["units"]) for user in users if user["place"] == 0},
                [(user["pid"], user["units"], user["priority"]) for user in users if user["place"] > 0])

    @invariant()
    def is_as_the_model_says(self):
        """Wait until commands have begun, and dead commands are noticed."""
        limit_time(more=10)
        try:
            wait_until("the status", lambda: self.status() == self.model.shown())
        except AssertionError:
            raise AssertionError("the model says %s, and --status %s"
                                 % (self.model.shown(), self.status())) from None
        assert all(user.begins() for user in self.model.running)

    def teardown(self):
        self.limit.end()
        self.limit.started.clear()

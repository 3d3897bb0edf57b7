# SPDX-License-Identifier: MIT
"""fairsem-limit --rate: commands of a name start at intervals, in order of arrival, whatever happens to clocks
and processes.

Most cases have a clock that a file moves.  Without it, each start but the first would have to wait for an hour.
"""

import json
import os
import signal
import subprocess
import time

import pytest

from cases import NOT_HERE, WORK
from compiled import CC, compiles, file
from conftest import let_go, row

CLOCK = """#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_clock_gettime64
#define SYS_clock_gettime64 SYS_clock_gettime
#endif

/* The file has what to add to the clock since boot, and to the one that people set. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime, clock, now);
    FILE *file = fopen(getenv("CLOCK_FILE"), "re");
    int boot = 0, real = 0;

    if (file != NULL) {
        if (fscanf(file, "%d %d", &boot, &real) != 2)
            abort();
        fclose(file);
    }
    now->tv_sec += clock == CLOCK_BOOTTIME ? boot : clock == CLOCK_REALTIME ? real : 0;
    return (int)result;
}
"""
RATE = "--rate=1/h test 5"


@pytest.fixture
def clock(limit):
    """Returns a function that sets both clocks: so many hours ahead of the real times."""
    if "FAIRSEM_TESTS_EMULATED" in os.environ or "-fsanitize" in os.environ.get("CFLAGS", ""):
        pytest.skip(NOT_HERE + "preloaded into an emulator, or before a sanitizer")
    library, hours = WORK + "/rate_clock.so", limit.work / "clock"
    if not os.path.exists(library):
        compiles(" ".join(CC), "-shared", "-fPIC", file("rate_clock.c", CLOCK), "-o", library)
    limit.env.update(LD_PRELOAD=library, CLOCK_FILE=str(hours))

    def move(boot, real=0):
        (limit.work / "next").write_text("%d %d" % (boot * 3600, real * 3600))
        os.rename(limit.work / "next", hours)

    move(100)       # the machine was booted long ago
    return move


def starts(limit, word):
    """Begin a command of the rate.  The command writes the word when it starts."""
    return limit.start(RATE + " -- sh -c", "echo %s >> @WORK/log" % word)


def started(limit, line):
    """Begin a command that runs until let_go(), and return when it has printed a line.  (The status shows the
    command as running a moment before its start.)"""
    user = limit.start(line + " -- sh -c 'echo started; read -r line'", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert user.stdout.readline() == b"started\n"
    return user


def log(limit):
    return (limit.work / "log").read_text().split()


@pytest.fixture
def in_line(limit, clock):
    """One command has started; three wait."""
    assert starts(limit, "first").wait() == 0
    waiters = []
    for number, word in enumerate(("a", "b", "c"), 1):
        waiters.append(starts(limit, word))
        limit.await_status("limit 5, free 5, running 0, waiting %d$" % number)
    return waiters


# ---------------------------------------------------------------- time
@pytest.mark.parametrize("rate, least", (("20/s", 0.2), ("300/m", 0.8), ("36000/h", 0.4)))
def test_five_starts_in_a_row_take_four_intervals(limit, rate, least):
    began = time.monotonic()
    for _ in range(5):
        limit.gives(0, "--rate=%s test 1 -- true" % rate)
    assert time.monotonic() - began >= least


def test_five_starts_at_the_same_time_take_four_intervals(limit):
    began = time.monotonic()
    processes = [limit.start("--rate=20/s test 5 -- true") for _ in range(5)]
    assert [process.wait() for process in processes] == [0] * 5
    assert time.monotonic() - began >= 0.2


def test_each_interval_has_one_start_in_order(limit, clock, in_line):
    for number, waiter in enumerate(in_line, 1):
        clock(100 + number)
        assert waiter.wait() == 0
        if number < 3:
            assert limit.shows("running 0, waiting %d$" % (3 - number)), limit.run("--status test")
    assert log(limit) == ["first", "a", "b", "c"]


def test_a_clock_that_is_set_is_not_used(limit, clock, in_line):
    for hours in -1000, 1000:
        clock(100, hours)
        limit.gives(124, "-w 1.1 -q " + RATE + " -- true")
        assert limit.shows("running 0, waiting 3$")
    clock(101)
    assert in_line[0].wait() == 0


def test_a_start_before_the_last_boot_delays_the_next_by_one_interval(limit, clock):
    """The time of a start may be on a disk.  After a boot, that time is later than the clock since boot."""
    assert starts(limit, "first").wait() == 0
    clock(10)
    waiter = starts(limit, "next")
    limit.await_status("waiting 1$")
    clock(11)
    assert waiter.wait() == 0


# ---------------------------------------------------------------- order
@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGTERM))
def test_the_next_waiter_takes_the_place_of_the_front(limit, clock, in_line, number):
    """A waiter that ends uses up no start."""
    in_line[0].send_signal(number)
    assert in_line[0].wait() == -number
    limit.await_status("waiting 2$")
    clock(101)
    assert in_line[1].wait() == 0
    assert log(limit) == ["first", "b"]


def test_a_killed_command_counts_as_a_start(limit, clock):
    holder = started(limit, RATE)
    holder.kill()
    holder.wait()
    limit.gives(124, "-w 0 " + RATE + " -- true", says=r"\A\Z")


def test_a_better_priority_overtakes_all_waiters_but_the_front(limit, clock, in_line):
    last = limit.start("-p -1 " + RATE + " -- sh -c", "echo last >> @WORK/log")
    limit.await_status("waiting 4$")
    clock(101)
    assert in_line[0].wait() == 0
    clock(102)
    assert last.wait() == 0
    assert log(limit) == ["first", "a", "last"]


def test_a_command_needs_a_start_and_free_units(limit, clock):
    holder = started(limit, "--rate=1/h -n 2 test 5")
    waiter = limit.wait(1, "--rate=1/h -n 4 test 5 -- touch @WORK/started")
    clock(101)
    limit.gives(0, "-w 60 test 5 -- true")
    second = limit.wait(2, RATE + " -- true")
    clock(200)
    assert limit.shows("1st .* 4 .*touch(.|\n)*2nd .* 1 .*true")
    let_go(holder)
    assert waiter.wait() == 0
    clock(201)
    assert second.wait() == 0


# ---------------------------------------------------------------- what is said
def test_the_status_shows_the_commands_that_wait_for_a_start(limit, in_line):
    users = json.loads(limit.gives(0, "--status=json test"))["names"][0]["users"]
    assert [(user["place"], user["pid"], user["units"]) for user in users] == [
        (number, waiter.pid, 1) for number, waiter in enumerate(in_line, 1)]
    assert limit.gives(0, "--status").count("limit 5") == 1, "the gate is not a name"


def test_a_wait_for_a_start_times_out(limit, in_line):
    limit.gives(124, "-w 0 " + RATE + " -- true", says=r"\A\Z")
    limit.gives(124, "-w 0.001m " + RATE + " -- true",
                says="timed out after [0-9.]+ s; running: nobody; 3 still before")


def test_the_wait_of_the_front_times_out(limit, clock):
    assert starts(limit, "first").wait() == 0
    limit.gives(7, "-E 7 -w 1.2 " + RATE + " -- true", says="timed out after 1.2 s; running: nobody; 0 still before")


@pytest.mark.parametrize("status, line, says", (
    row("no period", 125, "--rate=5 test 1 -- true", "'5' is not a rate"),
    row("another period", 125, "--rate=5/d test 1 -- true", "is not a rate"),
    row("no number", 125, "--rate=/s test 1 -- true", "is not a rate"),
    row("none", 125, "--rate=0/s test 1 -- true", "is not a rate"),
    row("a fraction", 125, "--rate=0.5/s test 1 -- true", "is not a rate"),
    row("etcd", 125, "--cluster --rate=5/s test 1 -- true", "not with --cluster: .*--rate"),
    row("a name that is too long", 125, "--rate=1/s %0236d 1 -- true" % 0, "too long")))
def test_an_invalid_rate_is_refused(limit, status, line, says):
    limit.gives(status, line, says=says)


# ---------------------------------------------------------------- other options
def test_each_command_waits_by_its_own_rate(limit, clock):
    """A command without a rate neither waits nor counts."""
    limit.gives(0, RATE + " -- true")
    limit.gives(0, "-w 0 test 5 -- true")
    limit.gives(124, "-w 0 --rate=1/m test 5 -- true")
    clock(100.5)
    limit.gives(124, "-w 0 " + RATE + " -- true")
    limit.gives(0, "-w 0 --rate=1/m test 5 -- true")


@pytest.mark.parametrize("how", ("", "--exec"))
def test_a_command_inside_a_command_of_the_same_name_is_not_a_start(limit, clock, how):
    limit.gives(0, "%s %s -- @PROGRAM -w 0 %s -- true" % (how, RATE, RATE))


def test_a_hold_counts_as_a_start(limit, clock):
    with open(limit.work / "file", "w+", encoding="ascii") as held:
        limit.gives(0, "--hold=0 " + RATE, stdin=held)
        limit.gives(124, "-w 0 " + RATE + " -- true")


# ---------------------------------------------------------------- what is left behind
def test_the_last_start_is_recorded_no_longer_than_needed(limit, clock):
    """The record is removed when a command ends, and the next command need not wait for a start."""
    user = started(limit, RATE)
    assert len(os.listdir(limit.dir)) == 2
    clock(101)
    let_go(user)
    assert os.listdir(limit.dir) == []
    limit.gives(0, RATE + " -- true")
    assert len(os.listdir(limit.dir)) == 1


@pytest.mark.parametrize("force", ("", "--force"))
def test_remove_removes_the_record_of_the_last_start(limit, clock, force):
    limit.gives(0, RATE + " -- true")
    limit.gives(0, "--remove %s test" % force)
    limit.gives(125, "--remove %s test" % force, says="there is no such name")
    assert os.listdir(limit.dir) == []
    limit.gives(0, "-w 0 " + RATE + " -- true")


def test_a_name_with_waiters_is_removed_only_by_force(limit, clock, in_line):
    limit.gives(125, "--remove test", says="commands run or wait")
    limit.gives(0, "--remove --force test")
    assert in_line[0].poll() is None
    limit.gives(0, "-w 60 " + RATE + " -- true")
    clock(101)
    assert [waiter.wait() for waiter in in_line[:1]] == [0]


def test_a_name_for_all_users_has_starts_of_its_own(limit, clock):
    limit.gives(0, "-g --rate=1/h all 1 -- true")
    assert os.stat(os.path.join(limit.dir, "fairsem-limit.all rate")).st_mode & 0o777 == 0o666
    limit.gives(124, "-w 0 -g --rate=1/h all 1 -- true")
    limit.gives(0, "-w 0 --rate=1/h all 1 -- true")

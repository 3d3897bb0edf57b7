# SPDX-License-Identifier: MIT
"""fairsem-limit and fairsem-run when memory runs out; test_cluster_memory.py has the cluster.

For each k, the k-th request for memory fails; in another run all requests from the k-th on.  Only requests of
the first thread fail, or only requests of the other threads.  fairsem-limit either does its work, or prints
that there is no memory and exits with the status of its own errors.  It never hangs, no signal ends it, and it
leaves no unit taken.
"""

import itertools
import json
import os
import re
import subprocess

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, WORK, hang_s, run, wait_until
from conftest import let_go, row

RUN, MODULE = TOP_BUILDDIR + "/fairsem-run", TOP_BUILDDIR + "/.libs/fairsem-interpose.so"
SHIM = TOP_BUILDDIR + "/tests/inside/faults/.libs/libfaultmemory.so"
ALL = 1000000
# The messages of glibc and of musl, and the message for a thread that cannot be created.
NO_MEMORY = "Cannot allocate memory|Out of memory|Resource temporarily unavailable"

pytestmark = [
    pytest.mark.skipif(not os.path.exists(SHIM), reason="no shared library to put in front of the commands"),
    pytest.mark.skipif("FAIRSEM_TESTS_EMULATED" in os.environ, reason=NOT_HERE + "preloaded into an emulator"),
    pytest.mark.skipif("-fsanitize" in os.environ.get("CFLAGS", ""),
                       reason=NOT_HERE + "a sanitizer has the requests for memory itself")]


def failing(program, others, number, count):
    """The file that each failure creates, and the environment."""
    mark = "%s/mark.%s.%s.%d.%d" % (WORK, program, others, number, count)
    return mark, {"LD_PRELOAD": SHIM, "FAULT_MEMORY_IN": program, "FAULT_MEMORY_OTHERS": others,
                  "FAULT_MEMORY_FROM": str(number), "FAULT_MEMORY_COUNT": str(count), "FAULT_MEMORY_MARK": mark}


def has_failed(mark):
    if os.path.exists(mark):
        os.unlink(mark)
        return True
    return False


def failures(program):
    """Yields the environments of all runs.  In each run another request fails, until there are no more."""
    for others, count in ("no", 1), ("no", ALL), ("yes", 1), ("yes", ALL):
        for number in itertools.count(1):
            mark, env = failing(program, others, number, count)
            yield env
            if not has_failed(mark):
                break
        assert number > 1 or others == "yes", "it asks for no memory"


def ends_well(ended, status, says="^fairsem-limit: .*(%s)$" % NO_MEMORY):
    """Check that the program ended with its usual status, or with the status of its own errors and the reason.
    Returns whether the status is the usual one."""
    if ended.returncode == 125:
        assert re.search(says, ended.stderr, re.M), ended
    else:
        assert ended.returncode == status, ended
    return ended.returncode == status


def nothing_is_left(limit):
    shown = limit.run("--status", "test")
    assert re.search("running 0, waiting 0$|there is no such name$", shown.stdout + shown.stderr, re.M), shown


# ---------------------------------------------------------------- fairsem-limit
@pytest.mark.parametrize("status, line, says", (
    row("a command", 7, "test 1 -- sh -c 'exit 7'"),
    row("at a rate", 7, "--rate=1000000/s test 1 -- sh -c 'exit 7'"),
    row("with --exec", 7, "--exec test 1 -- sh -c 'exit 7'"),
    row("with --keep, for all users", 7, "--keep --global test 1 -- sh -c 'exit 7'"),
    row("inside another one", 7, "test 1 -- @PROGRAM test 1 -- sh -c 'exit 7'")))
def test_a_command_ends_well(limit, status, line, says):
    for env in failures("fairsem-limit"):
        for options in "", "--global ":
            limit.run(options + "--remove test")
        ends_well(limit.run(line, env=env), status)
        nothing_is_left(limit)


def test_a_hold_ends_well(limit):
    """run() has closed the descriptor when it returns, so the place is free."""
    for env in failures("fairsem-limit"):
        ends_well(limit.run("--hold=0 test 1", env=env), 0)
        limit.gives(0, "test 1 -- true")


@pytest.mark.parametrize("line, shown", (("--set-limit=3 test", "limit 3, free 3, running 0"),
                                         ("--remove test", "there is no such name$")))
def test_set_limit_and_remove_are_done_or_not(limit, line, shown):
    """Each is done completely or not at all."""
    for env in failures("fairsem-limit"):
        limit.run("--remove test")
        limit.gives(0, "--keep test 1 -- true")
        done = ends_well(limit.run(line, env=env), 0)
        now = limit.run("--status test")
        assert re.search(shown if done else "limit 1, free 1, running 0", now.stdout + now.stderr, re.M), now


@pytest.fixture
def used(limit):
    """A holder and a waiter."""
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- sh -c 'exit 7'")
    yield limit
    let_go(holder)
    assert waiter.wait() == 7
    nothing_is_left(limit)


def test_the_status_ends_well(used):
    for env in failures("fairsem-limit"):
        ended = used.run("--status", env=env)
        if ends_well(ended, 0):
            assert re.search("limit 1, free 0, running 1, waiting 1\n(.*\n){3}", ended.stdout), ended
        ended = used.run("--status=json", env=env)
        if ends_well(ended, 0):
            assert len(json.loads(ended.stdout)["names"][0]["users"]) == 2


def test_a_time_out_ends_well(used):
    for env in failures("fairsem-limit"):
        ends_well(used.run("-w 0.001 test 1 -- true", env=env), 124)
        used.await_status("running 1, waiting 1$")


def test_a_wait_ends_well(limit):
    for env in failures("fairsem-limit"):
        holder = limit.hold()
        waiter = limit.start("test 1 -- sh -c 'exit 7'", env=env, stderr=subprocess.PIPE, text=True)
        wait_until("it waits", lambda: waiter.poll() is not None or limit.shows("waiting 1$"))
        let_go(holder)
        said = waiter.communicate(timeout=hang_s())[1]
        ends_well(subprocess.CompletedProcess(waiter.args, waiter.returncode, "", said), 7)
        nothing_is_left(limit)


# ---------------------------------------------------------------- fairsem-run
@pytest.mark.skipif(not os.path.exists(RUN), reason="fairsem-run was not built")
@pytest.mark.parametrize("options, status", (("", 7), ("--stats", 7), ("--stats=@FILE", 7), ("--bypass=2ms", 7),
                                             ("--check", 0)))
def test_fairsem_run_ends_well(options, status):
    """The program runs with the module, or not at all."""
    line = [RUN, *options.replace("@FILE", WORK + "/stats").split()]
    if options != "--check":
        line += ["sh", "-c", 'case $LD_PRELOAD in *"$0") exit 7; esac', MODULE]
    for env in failures("fairsem-run"):
        # If the loader lacks memory, the message is the loader's.
        ends_well(run(*line, env={**os.environ, "FAIRSEM_MODULE": MODULE, **env}), status, "^fairsem-run: .")

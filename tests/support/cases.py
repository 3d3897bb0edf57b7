# SPDX-License-Identifier: MIT
"""cases.py - what tests in Python share, and what it adds to pytest; pytest.sh loads it.

A case that has run for hang_s() hangs, and fails.  One that wants something that is not there calls
pytest.skip(WHAT), which is a failure where FAIRSEM_TRY_ALL is "yes"; what this kind of machine can
never do is pytest.skip("not here: WHAT").  When the last case has ended, whatever they have started
is killed.  The log ends with a count of the cases, like that of a Check program.
"""

import contextlib
import ctypes
import glob
import math
import os
import shutil
import signal
import subprocess
import time

import pytest

TOP_SRCDIR, TOP_BUILDDIR = os.environ["top_srcdir"], os.environ["top_builddir"]
TRY_ALL = os.environ.get("FAIRSEM_TRY_ALL") == "yes"
NOT_HERE = "not here: "


# ---------------------------------------------------------------- what cases call
def hang_s():
    """After so many seconds something hangs; as hang_s in result.sh."""
    return math.ceil(300 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER") or 1))


def run(*command, **options):
    """Wait until it ends: its returncode, and as text its stdout and stderr."""
    return subprocess.run(command, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                      "stderr": subprocess.PIPE, "errors": "surrogateescape",
                                      "check": False, **options})


def wait_until(what, condition):
    """Return what the condition returns, once it is true."""
    end = time.monotonic() + hang_s()
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain: " + what
        time.sleep(0.02)
    return found


def needs(*commands):
    for command in commands:
        if shutil.which(command) is None:
            pytest.skip("there is no " + command)


# ---------------------------------------------------------------- no case hangs
def hangs(*_):
    raise TimeoutError("it hangs")


def limit_time(more=0):
    """What comes now hangs after that time: an exception says where, and its fixtures end."""
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(hang_s() + more)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup():
    limit_time()
    yield


pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


# ---------------------------------------------------------------- what is not tried is told
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    if report.skipped:
        report.why = report.longrepr[2].replace("Skipped: ", "", 1)
        if TRY_ALL and not report.why.startswith(NOT_HERE):
            report.outcome, report.longrepr = "failed", "not tried: " + report.why


def pytest_sessionfinish(session):
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    if stats.get("skipped") and not any(stats.get(kind) for kind in ("passed", "failed", "error")):
        session.exitstatus = 77


def pytest_unconfigure(config):
    end_all()
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    passed, failed, errors, skipped = (terminal.stats.get(kind, [])
                                       for kind in ("passed", "failed", "error", "skipped"))
    count, bad = len(passed + failed + errors), len(failed + errors)
    for why in sorted({report.why for report in skipped}):
        terminal.write_line(why if why.startswith(NOT_HERE)
                            else ("not tried: " if count else "skipped: ") + why)
    if count:
        terminal.write_line("%d%%: Checks: %d, Failures: %d, Errors: %d"
                            % (100 * (count - bad) // count, count, len(failed), len(errors)))


# ---------------------------------------------------------------- no process is left
def pytest_configure():
    """Children of children become its own when their parents end."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def end_all():
    """Kill all children, until there are none."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for path in glob.glob("/proc/self/task/*/children"):
                with open(path, encoding="ascii") as file:
                    for child in file.read().split():
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(child), signal.SIGKILL)
            os.wait()

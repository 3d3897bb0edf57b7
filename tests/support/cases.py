# SPDX-License-Identifier: MIT
"""cases.py - helpers of the tests in Python, and additions to pytest; pytest.sh loads it.

A case that runs for hang_s() seconds fails as hanging.  A case that needs a missing program calls
pytest.skip(WHAT); if FAIRSEM_TRY_ALL is "yes", that is a failure.  A case that this kind of machine can never run
calls pytest.skip("not here: WHAT"), which is never a failure.  After the last case, all processes that cases have
left are killed.  The log ends with a count of the cases, like the log of a Check program.

Cases with @pytest.mark.waits mostly wait.  All of them start in threads together with the first case, and their
results come last.  They have no fixtures.
"""

import concurrent.futures
import contextlib
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import threading

import pytest

from hang import hang_s, limit_time, wait_until  # noqa: F401 for the cases

TOP_SRCDIR, TOP_BUILDDIR = os.environ["top_srcdir"], os.environ["top_builddir"]
WORK = os.environ["work"]       # a directory that is removed at the end
TRY_ALL = os.environ.get("FAIRSEM_TRY_ALL") == "yes"
NOT_HERE = "not here: "


# ---------------------------------------------------------------- helpers of cases
def run(*command, **options):
    """Run a command.  The result has its returncode, and its stdout and stderr as text."""
    return subprocess.run(command, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                      "stderr": subprocess.PIPE, "errors": "surrogateescape",
                                      "check": False, **options})


def needs(*commands):
    for command in commands:
        if shutil.which(command) is None:
            pytest.skip("there is no " + command)


# ---------------------------------------------------------------- no case hangs
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup():
    limit_time()
    yield


pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


# ---------------------------------------------------------------- cases that wait run alongside the others
begun = {}


def begin(case):
    """Start a case in a thread.  Returns a future; the thread is a daemon, so that it does not delay an exit."""
    result = concurrent.futures.Future()
    row = case.callspec.params if hasattr(case, "callspec") else {}

    def work():
        try:
            result.set_result(case.obj(**row))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return result


def waits(case):
    return case.get_closest_marker("waits") is not None


def pytest_collection_modifyitems(items):
    items.sort(key=waits)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not begun:
        begun.update({case: begin(case) for case in pyfuncitem.session.items if waits(case)})
    if pyfuncitem in begun:
        begun[pyfuncitem].result()
        return True
    return None


# ---------------------------------------------------------------- skipped cases are reported
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
    if count and not bad:
        terminal.write_line("ok: %d cases" % count)
    if count:
        terminal.write_line("%d%%: Checks: %d, Failures: %d, Errors: %d"
                            % (100 * (count - bad) // count, count, len(failed), len(errors)))


# ---------------------------------------------------------------- no process is left
def pytest_configure(config):
    """Become the parent of orphaned descendants."""
    config.addinivalue_line("markers", "waits: it mostly waits")
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def end_all():
    """Kill children until there are none left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for path in glob.glob("/proc/self/task/*/children"):
                # The task may have ended since the glob.
                with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                    for child in file.read().split():
                        os.kill(int(child), signal.SIGKILL)
            os.wait()

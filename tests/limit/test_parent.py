# SPDX-License-Identifier: MIT
"""fairsem-limit as the parent of its command, or replaced by the command (--exec): the holder of the unit, the
end of the hold, and the signals."""

import ctypes
import errno
import os
import shutil
import signal
import struct
import subprocess
import sys

import pytest

from cases import hang_s, run, wait_until
from conftest import LIMIT, let_go, lives, row, unshared


def exists(path):
    return lambda: path.exists() and path.stat().st_size


# ---------------------------------------------------------------- the parent
def test_the_command_ignores_the_signals_that_fairsem_limit_ignored(limit):
    """The command ignores even SIGCHLD, which fairsem-limit itself must not ignore, to wait for its child."""
    limit.gives(0, "test 1 -- grep -q '^SigIgn:.*[13579bdf]....$' /proc/self/status",
                preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))


def test_signals_reach_the_command(limit):
    script = "trap 'exit 9' USR1; echo > @WORK/ready; while :; do sleep 0.05; done"
    parent = limit.start("test 1 -- sh -c", script)
    wait_until("a command with a trap", exists(limit.work / "ready"))
    limit.gives(124, "-w 0 test 1 -- true")
    parent.send_signal(signal.SIGUSR1)
    assert parent.wait() == 9


@pytest.mark.parametrize("timer", ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"))
def test_the_command_has_the_timer_that_fairsem_limit_had(limit, timer):
    """The command itself has the timer, so that it can stop the timer, and CPU time is that of the command."""
    left = limit.gives(0, "test 1 --", sys.executable, "-c",
                       "import signal; print(signal.getitimer(signal.%s)[0])" % timer,
                       preexec_fn=lambda: signal.setitimer(getattr(signal, timer), 100000))
    assert 0 < float(left) <= 100001


@pytest.mark.parametrize("pid, equal", (("$$", "="), ("1", "!=")), ids=("ours", "of another process"))
def test_the_variables_of_systemd_name_the_command(limit, pid, equal):
    """The variables name the process for the descriptors and the watchdog of a service.  fairsem-limit changes
    them only if they name fairsem-limit itself."""
    inner = f'[ "$LISTEN_PID" {equal} $$ ] && [ "$WATCHDOG_PID" {equal} $$ ]'
    limit.gives(0, "--exec outer 1 -- sh -c", f'LISTEN_PID={pid} WATCHDOG_PID={pid} exec "$@"', "sh",
                LIMIT, "test", "1", "--", "sh", "-c", inner)


def test_an_alarm_ends_the_command(limit):
    """The alarm was set before the exec of fairsem-limit."""
    limit.gives(-signal.SIGALRM, "test 1 -- sleep 100000",
                preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.1))


def test_a_pending_alarm_reaches_the_command(limit):
    """fairsem-limit inherits the pending signal by exec.  A forked child does not inherit it."""
    def leave_an_alarm():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, 1e-6)
        while signal.SIGALRM not in signal.sigpending():
            pass

    limit.gives(0, "test 1 --", sys.executable, "-c",
                "import signal; signal.sigwait({signal.SIGALRM})", preexec_fn=leave_an_alarm)


def test_an_alarm_ends_the_wait(limit):
    holder = limit.hold()
    limit.gives(-signal.SIGALRM, "test 1 -- true",
                preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.1))
    limit.await_status("waiting 0$")
    waiter = limit.wait(1, "test 1 -- true")
    let_go(holder)
    assert waiter.wait() == 0


def test_an_earlier_child_may_end_first(limit):
    """A shell may have started a background command, and called exec.  One SIGCHLD may be for both children."""
    def leave_a_zombie():
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)

    limit.gives(9, "test 1 -- sh -c 'exit 9'", preexec_fn=leave_a_zombie)


def test_the_command_ends_with_its_parent(limit):
    parent = limit.start("test 1 -- sh -c 'echo $$; exec sleep 100000'", stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    parent.kill()
    wait_until("its end", lambda: not lives(child))
    limit.gives(0, "-w %d test 1 -- true" % hang_s())


def test_a_command_that_closes_descriptors_keeps_its_unit(limit):
    """ssh and daemons close all descriptors."""
    script = """i=3; while [ $i -lt 256 ]; do eval "exec $i>&-"; i=$((i + 1)); done
        echo > @WORK/closed; read -r line"""
    holder = limit.start("test 1 --", shutil.which("bash") or "sh", "-c", script, stdin=subprocess.PIPE)
    wait_until("it has closed them", exists(limit.work / "closed"))
    limit.gives(124, "-w 0 test 1 -- true")
    let_go(holder)


def test_the_command_has_no_descriptors_of_fairsem_limit(limit):
    there = limit.gives(0, "test 1 -- ls /proc/self/fd").split()
    assert len(there) == len(run("ls", "/proc/self/fd").stdout.split()), there


# ---------------------------------------------------------------- no such command
PATH = os.environ["PATH"]


@pytest.fixture
def files(limit):
    """A text file, and two directories of commands."""
    for name, text, mode in (("text", "true\n", 0o644), ("first/found-later", "", 0o644),
                             ("second/found-later", "#!/bin/sh\nexit 5\n", 0o755),
                             ("second/plain", "exit 6\n", 0o755)):
        path = limit.work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)


@pytest.mark.parametrize("path, status, line, says", (
    pytest.param(PATH, 127, "@WORK/none", "@WORK/none: No such file", id="no such file"),
    pytest.param("/usr/bin:/bin", 127, "no-such-command-anywhere", "", id="none in PATH"),
    pytest.param(PATH, 126, "/" + 5000 * "x", "File name too long", id="a long name"),
    pytest.param(PATH, 127, "''", "", id="no name"),
    pytest.param(PATH, 126, "@WORK/text", "@WORK/text: Permission denied", id="it cannot be executed"),
    pytest.param(PATH, 126, "@WORK", "", id="a directory"),
    pytest.param("@WORK/first", 126, "found-later", "", id="the only one in PATH cannot be executed")))
def test_a_missing_command_is_reported_at_once(limit, files, path, status, line, says):
    holder = limit.hold()
    limit.gives(status, "-w 0 test 1 -- " + line, says=says, env={"PATH": limit.replaced(path)})
    assert limit.shows("waiting 0$")
    let_go(holder)


@pytest.mark.parametrize("path, status, command", (
    pytest.param("@WORK/first:@WORK/second:", 5, "found-later", id="the first that can be executed"),
    pytest.param("@WORK/second:", 6, "plain", id="a script without a first line"),
    pytest.param(":/none:", 5, "found-later", id="an empty name is the current directory")))
def test_the_command_is_found_in_path(limit, files, path, status, command):
    limit.gives(status, "test 1 -- " + command, cwd=limit.work / "second",
                env={"PATH": limit.replaced(path) + PATH})


def refuse_younger_calls():
    """Refuse all system calls that are newer than Linux 5.1 with EPERM, as old container engines do.

    Since Linux 5.2 a new call has the same number on each architecture; faccessat2 has 439.
    """
    instructions = struct.pack("HBBI" * 4, 0x20, 0, 0, 0,                # the number of the call
                               0x35, 0, 1, 428,                          # if it is 428 or more,
                               0x06, 0, 0, 0x00050000 | errno.EPERM,     # EPERM,
                               0x06, 0, 0, 0x7fff0000)                   # else it is allowed
    text = ctypes.create_string_buffer(instructions, len(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    program = struct.pack("HL", 4, ctypes.addressof(text))
    if libc.prctl(set_no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, filter_mode, program):
        os._exit(77)
    assert libc.syscall(439, -100, b"/", 0, 0) == -1 and ctypes.get_errno() == errno.EPERM


@pytest.mark.parametrize("status, line", (
    pytest.param(5, "found-later", id="in PATH"),
    pytest.param(5, "@WORK/second/found-later", id="a path"),
    pytest.param(126, "@WORK/text", id="it cannot be executed")))
def test_a_refused_system_call_is_not_an_answer(limit, files, status, line):
    """This also holds for a command that has waited, even if fairsem-limit could start no second thread."""
    if run("true", preexec_fn=refuse_younger_calls).returncode == 77:
        pytest.skip("not here: seccomp")
    path = limit.replaced("@WORK/first:@WORK/second:") + PATH
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- " + line, env={"PATH": path}, preexec_fn=refuse_younger_calls)
    let_go(holder)
    assert waiter.wait() == status


# ---------------------------------------------------------------- --exec
def test_exec_keeps_the_process_id(limit):
    own = limit.start("--exec test 1 -- sh -c 'echo $$'", stdout=subprocess.PIPE)
    assert int(own.communicate()[0]) == own.pid


@pytest.mark.parametrize("status, line, says", (
    row("--fork, which happens anyway", 0, "--fork test 1 -- true"),
    row("--exec: the exit status", 7, "--exec test 1 -- sh -c 'exit 7'"),
    row("--exec: a signal", -signal.SIGTERM, "--exec test 1 -- sh -c 'kill -TERM $$'")))
def test_the_exit_status_is_that_of_the_command(limit, status, line, says):
    limit.gives(status, line, says=says)


def test_exec_leaves_only_the_descriptors_of_the_unit(limit):
    there = limit.gives(0, "--exec test 1 -- ls -l /proc/self/fd")
    plain = run("ls", "-l", "/proc/self/fd").stdout
    assert there.count("/dev/null\n") == plain.count("/dev/null\n"), there


def test_exec_keeps_the_unit_of_a_script_that_opens_descriptors(limit):
    script = """exec 3> @WORK/taken 4>&3 5>&3 6>&3 7>&3 8>&3 9>&3 3>&- 4>&- 5>&- 6>&-
        echo > @WORK/taken; read -r line"""
    holder = limit.start("--exec test 1 -- sh -c", script, stdin=subprocess.PIPE)
    wait_until("a script", exists(limit.work / "taken"))
    assert limit.shows("running 1")
    let_go(holder)


def test_exec_returns_the_unit_of_a_killed_holder(limit):
    holder = limit.hold("--exec test 1")
    waiter = limit.wait(1, "--exec test 1 -- touch @WORK/next")
    holder.kill()
    assert waiter.wait() == 0
    assert (limit.work / "next").exists()


# ---------------------------------------------------------------- as the first process of a container
def test_an_orphan_in_a_container_is_reaped(limit):
    """fairsem-limit becomes the parent of a process whose parent has died, and must reap it."""
    script = """sh -c 'true & echo $! > @WORK/orphan'
        while [ -e "/proc/$(cat @WORK/orphan)" ]; do sleep 0.02; done"""
    limit.gives(0, "test 1 -- sh -c", script,
                prefix=unshared("--pid", "--fork", "--mount-proc", user="--map-root-user"))

# SPDX-License-Identifier: MIT
"""The progress line of fairsem-limit on a terminal, Ctrl-C, Ctrl-S, Ctrl-Z and a hangup."""

import os
import re
import select
import signal

import pytest

from cases import wait_until
from conftest import Terminal, let_go, process_state


@pytest.fixture
def held(limit):
    holder = limit.hold()
    yield limit
    let_go(holder)


def test_ctrl_c_ends_the_wait(held):
    """Ctrl-C also erases the progress line."""
    terminal = held.terminal("test 1 -- echo it was not its turn")
    assert terminal.read_until(rb": 1st in line, 1 running, waited [0-9]+ s")
    terminal.write(b"\x03")
    terminal.read_until()
    assert terminal.ends() == -signal.SIGINT
    assert re.search(rb"in line.*\r\x1b\[K", terminal.seen, re.S)
    terminal.close()


@pytest.mark.parametrize("columns, name, shows", (
    pytest.param(0, "test", "test: 1st in line, 1 running, waited [0-9]+ s", id="no width"),
    pytest.param(41, "test", "test: 1st in line, 1 running, waited [0-9] s", id="all of it"),
    pytest.param(40, "test", "1st in line, 1 running, waited [0-9] s", id="less than that"),
    pytest.param(20, "test", "1st in line, [0-9]+ s", id="20 columns"),
    pytest.param(5, "test", "1st ", id="the beginning"),
    pytest.param(47, 10 * "\u00e4", 10 * "\u00e4" + ": 1st in line, 1 running, waited [0-9] s",
                 id="characters of two bytes"),
    pytest.param(57, 10 * "\u4e2d", 10 * "\u4e2d" + ": 1st in line, 1 running, waited [0-9] s",
                 id="characters of two columns"),
    pytest.param(56, 10 * "\u4e2d", "1st in line, 1 running, waited [0-9] s", id="a column too few")))
def test_the_line_fits(limit, columns, name, shows):
    """A line that wraps could not be erased."""
    holder = limit.hold("%s 1" % name, name=name)
    terminal = Terminal("sh", "-c", 'stty cols %d; exec "$@"' % columns, "sh",
                        *limit.command("", [name, 1, "--", "echo", "its turn"]), env=limit.env)
    shown = terminal.read_until(rb"^\r\x1b\[K([^\r]+)")
    let_go(holder)
    terminal.read_until()
    assert terminal.ends() == 0
    assert re.fullmatch(shows, shown.group(1).decode()), shown
    terminal.close()


@pytest.mark.parametrize("kind", ("dumb", ""))
def test_a_terminal_that_cannot_erase_gets_no_line(held, kind):
    """Such a terminal also gets no control sequences of --watch."""
    watch = Terminal(*held.command("--watch --status test", ()), env={**held.env, "TERM": kind})
    assert watch.read_until(rb"test: limit 1.*test: limit 1")
    watch.write(b"\x03")
    waiter = Terminal(*held.command("test 1 -- echo its turn", ()), env={**held.env, "TERM": kind})
    held.await_status("waiting 1$")
    # When both threads sleep, a line would already have been printed.
    tasks = "/proc/%d/task" % waiter.pid
    wait_until("two threads that sleep", lambda: [process_state(task) for task in os.listdir(tasks)] == ["S", "S"])
    waiter.write(b"\x03")
    for terminal in watch, waiter:
        terminal.read_until()
        assert terminal.ends() == -signal.SIGINT
        assert b"\x1b" not in terminal.seen, terminal.seen
        terminal.close()


def test_a_signal_ends_the_wait_while_ctrl_s_stops_the_terminal(held):
    terminal = held.terminal("test 1 -- true")
    assert terminal.read_until(rb"in line")
    writer = os.open("/proc/%d/fd/2" % terminal.pid, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    terminal.write(b"\x13")
    while select.select([], [writer], [], 0)[1]:
        select.select([], [], [], 0.01)
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.ends() == -signal.SIGTERM
    os.close(writer)
    terminal.close()


def test_a_hangup_ends_the_command(limit):
    """When the terminal is gone, a command ends, although fairsem-limit, its parent, leads the session."""
    terminal = limit.terminal("test 1 -- sh -c 'echo begun; exec sleep 100000'")
    assert terminal.read_until(rb"begun")
    terminal.close()
    assert terminal.ends() == -signal.SIGHUP


def test_a_hangup_ends_a_stopped_command(limit):
    """At a hangup the kernel continues only the session's leader, which is fairsem-limit, not the command."""
    def is_pending(number):
        with open("/proc/%d/status" % child, encoding="ascii") as file:
            pending = re.search(r"ShdPnd:\s*(\w+)", file.read()).group(1)
        return int(pending, 16) >> number - 1 & 1

    terminal = limit.terminal("test 1 -- sh -c 'echo $$.; kill -STOP $$; exec sleep 100000'")
    child = int(terminal.read_until(rb"([0-9]+)\.").group(1))
    wait_until("a stopped command", lambda: process_state(child) == "T")
    # The parent handles SIGRTMIN after SIGCHLD, which tells that the command has stopped.
    os.kill(terminal.pid, signal.SIGRTMIN)
    wait_until("a parent that knows", lambda: is_pending(signal.SIGRTMIN))
    terminal.close()
    assert terminal.ends() == -signal.SIGHUP


@pytest.mark.parametrize("stop, key", (
    pytest.param("", b"\x1a", id="Ctrl-Z stops both"),
    pytest.param("kill -TSTP $$;", b"", id="the command stops itself")))
def test_the_shell_stops_and_continues_the_command(limit, stop, key):
    script = "echo begun; %s read line; echo got $line; exit 5" % stop
    terminal = Terminal(shell, limit.command("test 1 -- sh -c", [script]), limit.env)
    for pattern, answer in ((rb"begun", key), (rb"stopped.*continued", b"go on\n"),
                            (rb"got go on.*ended with 5\r", b"")):
        assert terminal.read_until(pattern), terminal.seen
        terminal.write(answer)
    assert terminal.ends() == 0
    terminal.close()


def shell(command, env):
    """Act as the shell that runs a command."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execve(command[0], command, env)
    status = os.waitpid(job, os.WUNTRACED)[1]
    os.tcsetpgrp(0, os.getpid())
    os.write(1, b"stopped\n" if os.WIFSTOPPED(status) else b"status %d\n" % status)
    os.tcsetpgrp(0, job)
    os.kill(-job, signal.SIGCONT)
    os.write(1, b"continued\n")
    status = os.waitpid(job, os.WUNTRACED)[1]
    os.tcsetpgrp(0, os.getpid())
    os.write(1, b"ended with %d\n" % (os.WEXITSTATUS(status) if os.WIFEXITED(status) else status))
    os._exit(0)

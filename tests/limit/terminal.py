# SPDX-License-Identifier: MIT
"""terminal.py - the progress line of fairsem-limit on a terminal, Ctrl-C, Ctrl-S and Ctrl-Z.

    terminal.py PROGRAM NAME    another process holds the only unit of NAME
"""
import os
import pty
import re
import select
import signal
import sys

from hang import limit_time


def begin(*arguments):
    """A process on a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        # A shell ignores SIGINT in its background commands.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(arguments[0], arguments)
    return pid, terminal


def read_until(terminal, pattern):
    """What it prints, up to the pattern, or without one to the end of the terminal."""
    seen = b""
    try:
        while pattern is None or not re.search(pattern, seen):
            more = os.read(terminal, 1000)
            if not more:
                break
            seen += more
    except OSError:     # the end of a terminal
        pass
    return seen


def check_signal(pid, expected, seen):
    """It has ended by this signal."""
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != expected:
        sys.exit("ended with status %d, not by signal %d; printed %r" % (status, expected, seen))


def interrupted(program, name):
    """Ctrl-C ends the wait, and the progress line is gone."""
    pid, terminal = begin(program, name, "1", "--", "echo", "it was not its turn")
    seen = read_until(terminal, rb": 1st in line, 1 running, waited [0-9]+ s")
    os.write(terminal, b"\x03")
    seen += read_until(terminal, None)
    check_signal(pid, signal.SIGINT, seen)
    if not re.search(rb"in line.*\r\x1b\[K", seen, re.S):
        sys.exit("the progress line was not removed: %r" % seen)
    os.close(terminal)


def held_up(program, name):
    """While Ctrl-S stops the terminal, a signal still ends the wait."""
    pid, terminal = begin(program, name, "1", "--", "true")
    seen = read_until(terminal, rb"in line")
    writer = os.open("/proc/%d/fd/2" % pid, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    os.write(terminal, b"\x13")
    while select.select([], [writer], [], 0)[1]:
        select.select([], [], [], 0.01)
    os.kill(pid, signal.SIGTERM)
    check_signal(pid, signal.SIGTERM, seen)
    os.close(writer)
    os.close(terminal)


def hung_up(program, name):
    """When the terminal is gone, a command with a parent ends as it does without one."""
    pid, terminal = begin(program, name + "-b", "1", "--", "sh", "-c",
                          "echo begun; exec sleep 100000")
    seen = read_until(terminal, rb"begun")
    os.close(terminal)
    check_signal(pid, signal.SIGHUP, seen)


def job_control(program, name):
    """Ctrl-Z stops both; the shell sees its job stopped, and continues it in the foreground."""
    pid, terminal = pty.fork()
    if pid == 0:
        shell(program, name)
    seen, at = b"", 0
    for command in b"both", b"alone":
        steps = (rb"begun", b"\x1a" if command == b"both" else b""), (rb"continued", b"go on\n"), \
            (command + rb" ended with [0-9]+\r\n", b"")
        for pattern, answer in steps:
            # One read may bring what belongs to several steps.
            while not re.search(pattern, seen[at:]):
                seen += os.read(terminal, 1000)
            at += re.search(pattern, seen[at:]).end()
            os.write(terminal, answer)
    for command in b"both", b"alone":
        if not re.search(rb"begun.*stopped.*continued.*got go on.*" + command + rb" ended with 5\r",
                         seen, re.S):
            sys.exit("job control: %r" % seen)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("the shell has failed: %r" % read_until(terminal, None))
    os.close(terminal)


def shell(program, name):
    """What a shell does for two commands: one is stopped by Ctrl-Z, the other one stops itself."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for which, stop in ("both", ""), ("alone", "kill -TSTP $$; "):
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(program, (program, name + "-b", "1", "--", "sh", "-c", "echo begun; " + stop
                               + "read line; echo got $line; exit 5"))
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.tcsetpgrp(0, os.getpid())
        print("stopped" if os.WIFSTOPPED(status) else "status %d" % status, flush=True)
        os.tcsetpgrp(0, job)
        os.kill(-job, signal.SIGCONT)
        print("continued", flush=True)
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.tcsetpgrp(0, os.getpid())
        print(which, "ended with", os.WEXITSTATUS(status) if os.WIFEXITED(status) else status,
              flush=True)
    os._exit(0)


for test in interrupted, held_up, hung_up, job_control:
    limit_time()
    test(*sys.argv[1:3])

# SPDX-License-Identifier: MIT
"""terminal.py - the progress line of fairsem-limit on a terminal, and Ctrl-C there.

    terminal.py PROGRAM NAME    another process holds the only unit of NAME
"""
import os
import pty
import re
import signal
import sys

signal.alarm(60)
program, name = sys.argv[1:3]
pid, terminal = pty.fork()
if pid == 0:
    # A shell ignores SIGINT in its background commands.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(program, [program, name, "1", "--", "echo", "it was not its turn"])

seen = b""
try:
    while not re.search(rb": 1st in line, 1 running, waited [0-9]+ s", seen):
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while True:
        more = os.read(terminal, 1000)
        if not more:
            break
        seen += more
except OSError:     # the end of a terminal
    pass
status = os.waitpid(pid, 0)[1]
if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGINT:
    sys.exit("ended with status %d, not by SIGINT; printed %r" % (status, seen))
if not re.search(rb"in line.*\r\x1b\[K", seen, re.S):
    sys.exit("the progress line was not removed: %r" % seen)

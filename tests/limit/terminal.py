# SPDX-License-Identifier: MIT
"""terminal.py - what a user sees of fairsem-limit on a terminal, and what Ctrl-C does there.

    terminal.py PROGRAM NAME    somebody else holds the only unit of NAME
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
    # Where the test runs in the background of a shell, it is ignored.
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
    sys.exit("the line of progress was not removed: %r" % seen)

# SPDX-License-Identifier: MIT
"""hang.py - after how long something in Python hangs; hang.h is the same for C."""

import math
import os
import signal
import time


def hang_s():
    """After so many seconds; as hang_s in result.sh."""
    return math.ceil(300 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER") or 1))


def hangs(*_):
    raise RuntimeError("it hangs")      # not TimeoutError, an OSError, which somebody may catch


def limit_time(more=0):
    """What comes now hangs after that time: an exception says where, and what was started is ended."""
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(hang_s() + more)


def wait_until(what, condition):
    """Return what the condition returns, once it is true."""
    end = time.monotonic() + hang_s()
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.02)
    return found

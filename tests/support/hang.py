# SPDX-License-Identifier: MIT
"""hang.py - the time after which a Python program counts as hanging; hang.h is the same for C."""

import math
import os
import signal
import time


def hang_s():
    """The limit in seconds; result.sh has the same function."""
    return math.ceil(300 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER") or 1))


def hangs(*_):
    raise RuntimeError("it hangs")      # not TimeoutError, an OSError, which a caller may catch


def limit_time(more=0):
    """Raise an exception after the limit from now on: its traceback shows the hang, and clean-ups run."""
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(hang_s() + more)


def wait_until(what, condition):
    """Wait until the condition returns a true value.  Returns that value."""
    end = time.monotonic() + hang_s()
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError("timed out: " + what)
        time.sleep(0.02)
    return found

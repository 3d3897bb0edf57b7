# SPDX-License-Identifier: MIT
"""hang.py - what tests in Python share: after how long something hangs, and what was not tried."""

import math
import os
import signal
import sys
import time


def hang_s():
    """After so many seconds; as hang_s in tests/support/script.sh."""
    return math.ceil(300 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER") or 1))


def hangs(*_):
    raise TimeoutError("it hangs")


def limit_time(more=0):
    """What comes now hangs after that time: an exception says where, and what was started is ended."""
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(hang_s() + more)


def wait_until(what, condition, seconds=None):
    seconds = seconds or hang_s()
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited %d s: %s" % (seconds, what))
        time.sleep(0.02)


def skip(why):
    """Nothing can be tried here; as in script.sh."""
    if os.environ.get("FAIRSEM_TRY_ALL") == "yes":
        sys.exit("FAILED: skipped: " + why)
    print("skipped: " + why)
    sys.exit(77)


def not_tried(what):
    """A part cannot be tried here; as in script.sh."""
    if os.environ.get("FAIRSEM_TRY_ALL") == "yes":
        sys.exit("FAILED: not tried: " + what)
    print("not tried: " + what, flush=True)

# SPDX-License-Identifier: MIT
"""The examples and the benchmark when no more threads can be created.

For each k, the k-th pthread_create fails, and in another run all calls from the k-th on fail.  A program either
works with fewer threads, or prints the reason and exits with a status.  It never hangs, and no signal ends it.
"""

import os

import pytest

from cases import TOP_BUILDDIR, run

SHIM = TOP_BUILDDIR + "/tests/inside/faults/.libs/libfaultthreads.so"


def without_threads(mark, first, count, *command):
    """Returns False if the program creates fewer threads than `first`."""
    done = run(*command, env={**os.environ, "LD_PRELOAD": SHIM, "FAULT_THREADS_MARK": str(mark),
                              "FAULT_THREADS_FROM": str(first), "FAULT_THREADS_COUNT": str(count)})
    if mark.exists():
        mark.unlink()
        assert done.returncode == 0 or done.returncode > 0 and "thread" in done.stderr.lower()
        return True
    return False


# Only the first few threads, because the same loops create the rest.
@pytest.mark.skipif(not os.path.exists(SHIM), reason="no shared library to put in front of the examples")
@pytest.mark.parametrize("command, most", (
    ("examples/worker-pool", 6), ("examples/compress-tree -t 4 .", 6), ("examples/consumer-priority", 6),
    ("examples/fetch-limiter", 6), ("examples/hog-and-victim --seconds 0.1 --svg /dev/null", 6),
    ("bench/fairsem-bench --quick uncontended", 1), ("bench/fairsem-bench --quick handoff", 1),
    ("bench/fairsem-bench --quick contended", 1), ("bench/fairsem-bench --quick victim", 1)))
def test_fewer_threads(command, most, tmp_path, monkeypatch):
    program, *arguments = command.split()
    program = os.path.join(TOP_BUILDDIR, program)
    if not os.path.exists(program):
        pytest.skip(command + " was not built")
    for number in range(5):
        (tmp_path / str(number)).write_text("a file\n")
    monkeypatch.chdir(tmp_path)
    tried, mark = 0, tmp_path / "mark"
    while tried < most and without_threads(mark, tried + 1, 1, program, *arguments):
        without_threads(mark, tried + 1, 1000000, program, *arguments)
        tried += 1
    assert tried > 0, "it creates no thread"

# SPDX-License-Identifier: MIT
"""A command inside of a command of the same name uses the place of the outer command, and does not wait.  A
command that only seems to be inside waits in the queue."""

import os

import pytest

from cases import run, wait_until
from conftest import let_go, row


@pytest.mark.parametrize("outer", ("", "--exec"))
@pytest.mark.parametrize("status, line, says, printed", (
    pytest.param(6, "test 1 -- @PROGRAM -w 0 test 1 -- sh -c 'exit 6'", "", "", id="once"),
    pytest.param(6, "test 1 -- @PROGRAM --exec -w 0 test 1 -- sh -c 'exit 6'", "", "", id="--exec"),
    pytest.param(0, "test 1 -- sh -c '@PROGRAM -w 0 test 1 -- sh -c \"exit 0\" && exit 0'", "", "",
                 id="below a shell"),
    pytest.param(0, "test 1 -- @PROGRAM -w 0 test 1 -- @PROGRAM -w 0 test 1 -- true", "", "",
                 id="three deep"),
    pytest.param(0, "-n 2 test 3 -- @PROGRAM test 3 -- @PROGRAM --status test", "",
                 "limit 3, free 1, running 1, waiting 0", id="it takes no more units"),
    pytest.param(125, "test 3 -- @PROGRAM -n 2 test 3 -- true",
                 "the outer command has 1 of the units, and this one requests 2", "", id="more units")))
def test_a_command_inside_does_not_wait_for_itself(limit, outer, status, line, says, printed):
    assert printed in limit.gives(status, "--keep %s %s" % (outer, line), says=says)
    limit.await_status(r"limit (\d), free \1, running 0")


@pytest.mark.parametrize("status, line, says", (
    row("two names, each inside the other one", 0,
        "test 1 -- @PROGRAM -w 0 b 1 -- @PROGRAM -w 0 test 1 -- @PROGRAM -w 0 b 1 -- true"),
    row("another limit inside", 125, "test 1 -- @PROGRAM -w 0 test 2 -- true", "the limit is 1, not 2"),
    row("a global name is another name", 124, "--global test 1 -- @PROGRAM test 1 -- "
        "env -u FAIRSEM_LIMIT_HELD @PROGRAM -w 0 --global test 1 -- true"),
    row("without the variable", 124,
        "test 1 -- env -u FAIRSEM_LIMIT_HELD @PROGRAM -w 0 test 1 -- true")))
def test_a_command_of_another_name_waits(limit, status, line, says):
    limit.gives(status, line, says=says)


# ---------------------------------------------------------------- commands that only seem to be inside
@pytest.mark.parametrize("held", (
    pytest.param("SEGMENT=HOLDER:1", id="a holder that is no ancestor"),
    pytest.param("SEGMENT=OURS:1", id="an ancestor that holds nothing"),
    pytest.param("SEGMENT=1:1", id="the first process"),
    pytest.param("SEGMENT=0:1", id="no process"),
    pytest.param("SEGMENT=-1:1", id="a negative process"),
    pytest.param("SEGMENT", id="an entry without a process"),
    pytest.param("SEGMENT=", id="an empty entry"),
    pytest.param("SEGMENT=OURS:1 SEGMENT=HOLDER:1 = == :", id="several entries"),
    pytest.param("0" * 20000, id="a long text")))
def test_a_false_variable_does_not_help(limit, held):
    """The variable names a place that the command does not have, while another process holds the unit."""
    holder = limit.hold()
    for word, value in ("SEGMENT", limit.segment()), ("HOLDER", holder.pid), ("OURS", os.getpid()):
        held = held.replace(word, str(value))
    limit.gives(124, "-w 0 test 1 -- touch @WORK/two-at-a-time", env={"FAIRSEM_LIMIT_HELD": held})
    assert not (limit.work / "two-at-a-time").exists()
    let_go(holder)


def test_an_entry_of_an_earlier_process_does_not_count(limit):
    """The entry has our own process ID, but we hold nothing."""
    holder = limit.hold()
    script = 'FAIRSEM_LIMIT_HELD="$0=$$:1" exec @PROGRAM -w 0 test 1 -- true'
    ended = run("sh", "-c", limit.replaced(script), limit.segment(), env=limit.env)
    assert ended.returncode == 124, ended
    let_go(holder)


def test_a_process_left_behind_waits(limit):
    """The process waits in the queue, and then has a place of its own."""
    left, result = limit.work / "left", limit.work / "result"
    os.mkfifo(left)
    script = """(read -r line < @WORK/left
        @PROGRAM test 1 -- @PROGRAM --status test) > @WORK/result 2>&1 &"""
    assert limit.start("test 1 -- sh -c", script).wait() == 0
    holder = limit.hold()
    left.write_text("\n")
    limit.await_status("waiting 1$")
    let_go(holder)
    wait_until("its end", lambda: "free 0, running 1" in result.read_text())

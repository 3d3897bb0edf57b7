# SPDX-License-Identifier: MIT
"""fairsem-limit runs at most LIMIT commands at a time, in order of arrival, and the units of a dead command
come back."""

import os
import re
import shlex
import signal
import subprocess

import pytest

from cases import TOP_SRCDIR, run
from conftest import in_manual, let_go, row, unshared


# ---------------------------------------------------------------- the command, and errors of its own
@pytest.mark.parametrize("status, line, says", (
    row("the exit status is the command's", 7, "test 1 -- sh -c 'exit 7'"),
    row("the -- may be missing", 0, "test 1 true"),
    row("no such command", 127, "test 1 -- @WORK/none"),
    row("a command that cannot be run", 126, "test 1 -- @WORK"),
    row("a signal that kills the command shows", -signal.SIGTERM, "test 1 -- sh -c 'kill -TERM $$'"),
    row("no arguments", 125, ""),
    row("no command", 125, "test 1 --"),
    row("no number", 125, "test one -- true"),
    row("limit 0", 125, "test 0 -- true"),
    row("no such option", 125, "--none test 1 -- true"),
    row("no number of units", 125, "-n x test 1 -- true"),
    row("more units than the limit", 125, "-n 2 test 1 -- true",
        "2 units are more than the limit of test, 1$"),
    row("no seconds", 125, "-w never test 1 -- true"),
    row("no unit of time", 125, "-w 5x test 1 -- true"),
    row("negative seconds", 125, "-w -1 test 1 -- true"),
    row("no exit status", 125, "-E 256 test 1 -- true"),
    row("no mode", 125, "--global=9 test 1 -- true"),
    row("a mode without the owner", 125, "--global=066 test 1 -- true"),
    row("a name with a slash", 125, "a/b 1 -- true", "no slash"),
    row("an empty name", 125, "'' 1 -- true"),
    row("a name with a newline", 125, "'a\nb' 1 -- true"),
    row("a name with a control character of UTF-8", 125, "'a\x9bb' 1 -- true"),
    row("a name that is too long", 125, "%0300d 1 -- true" % 0),
    row("the status of a name that does not exist", 125, "--status none"),
    row("remove a name that does not exist", 125, "--remove none"),
    row("remove no name", 125, "--remove"),
    row("watch without status", 125, "--watch test 1 -- true"),
    row("--version", 0, "--version")))
def test_the_exit_status_is_that_of_the_command_or_of_an_error(limit, status, line, says):
    limit.gives(status, line, says=says)


@pytest.mark.parametrize("line, printed", (
    pytest.param("-- printf '%s|' 'a  b' '' '*' --status", "a  b||*|--status|", id="as they are"),
    pytest.param("printf '%s|' --status", "--status|", id="options need no dashes before"),
    pytest.param("-- cat", "text", id="standard input")))
def test_arguments_and_input_arrive(limit, line, printed):
    assert limit.gives(0, "test 1 " + line, stdin=None, input="text") == printed


def test_the_manual_knows_each_option_of_help(limit):
    with open(os.path.join(TOP_SRCDIR, "doc/man/fairsem-limit.1"), encoding="utf-8") as file:
        manual = file.read()
    words = set(re.findall(r"^ *(?:-., )*--([a-z]*)", limit.gives(0, "--help"), re.M))
    assert len(words) >= 11
    assert [word for word in sorted(words) if "Fl -" + word not in manual] == []


# ---------------------------------------------------------------- the limit
def test_eight_commands_run_in_pairs(limit):
    """The first two commands run until all eight have started."""
    script = """echo begin >> @WORK/log; until [ -e @WORK/all ]; do sleep 0.02; done
        echo end >> @WORK/log"""
    processes = [limit.start("test 2 -- sh -c", script) for _ in range(8)]
    limit.await_status("running 2, waiting 6$")
    (limit.work / "all").touch()
    assert [process.wait() for process in processes] == [0] * 8
    now = []
    for word in (limit.work / "log").read_text().split():
        now.append((now[-1] if now else 0) + (1 if word == "begin" else -1))
    assert (len(now), now[-1], max(now)) == (16, 0, 2)


# ---------------------------------------------------------------- order
@pytest.fixture
def in_line(limit):
    """A holder and four waiters.  The last waiter has a better priority, and is granted first."""
    holder = limit.hold()
    waiters = [limit.wait(i, "-p %d test 1 -- sh -c 'echo %d >> @WORK/order'" % (-(i == 4), i))
               for i in (1, 2, 3, 4)]
    return holder, waiters


def test_waiters_begin_in_order(limit, in_line):
    holder, waiters = in_line
    let_go(holder)
    assert [waiter.wait() for waiter in waiters] == [0] * 4
    assert (limit.work / "order").read_text().split() == ["4", "1", "2", "3"]


def test_the_lines_of_two_keys_take_turns(limit):
    holder = limit.hold()
    waiters = [limit.wait(i + 1, "%s test 1 -- sh -c 'echo %s >> @WORK/order'" % (key, name))
               for i, (key, name) in enumerate([("--share=user", "me")] * 5 + [("--share=%d" % (2**64 - 1), "you")] * 2
                                               + [("", "nobody")])]
    let_go(holder)
    assert [waiter.wait() for waiter in waiters] == [0] * 8
    assert (limit.work / "order").read_text().split() == ["me", "you", "nobody", "me", "you", "me", "me", "me"]


@pytest.mark.parametrize("key", ("", "me", "-1", "+1", " 1", "1x", "0x1", "18446744073709551616"))
def test_a_wrong_key_is_an_error(limit, key):
    limit.gives(125, "--share=%s test 1 -- true" % shlex.quote(key), says="--share: '%s' is neither" % re.escape(key))


def test_the_status_shows_the_queue(limit, in_line):
    assert limit.shows("running *%d .* sh -c" % in_line[0].pid)
    assert limit.shows("gate    *$"), "other than its arguments"
    assert limit.shows("4th ")


@pytest.mark.parametrize("options, says", (
    pytest.param("-w 0", r"\A\Z", id="no wait, no message"),
    # For a log: stderr is no terminal.
    pytest.param("-w 0.001m", r"^fairsem-limit: test: timed out after 0[.]06 s; running: sh -c .* "
                 r"\(process %d\); 4 still before it in line$", id="a moment"),
    pytest.param("-q -w 0.001m", r"\A\Z", id="quietly"),
    pytest.param("-p -1 --wait=0.001m", "; 1 still before it in line$", id="behind one")))
def test_a_wait_times_out(limit, in_line, options, says):
    limit.gives(124, options + " test 1 -- touch @WORK/too-late",
                says=says.replace("%d", str(in_line[0].pid)))
    assert not (limit.work / "too-late").exists()


@pytest.mark.parametrize("status, line, says", (
    row("no wait", 7, "-E 7 -w 0 test 1 -- true", r"\A\Z"),
    row("a moment", 0, "--conflict-exit-code=0 -w 0.001m test 1 -- false", "timed out after [0-9.]+ s; running: "),
    row("that of an error", 125, "-E 125 -w 0.001m test 1 -- true", "timed out after [0-9.]+ s; running: "),
    row("an error keeps its own", 127, "-E 7 -w 0 test 1 -- @WORK/none")))
def test_a_busy_name_can_have_another_exit_status(limit, status, line, says):
    holder = limit.hold()
    limit.gives(status, line, says=says)
    let_go(holder)
    limit.gives(124, "-E 7 -w 0 test 1 -- sh -c 'exit 124'")


# ---------------------------------------------------------------- units
def test_one_of_three_units_is_free(limit):
    holder = limit.hold("-n 2 test 3", "limit 3, free 1, running 1")
    limit.gives(0, "test 3 -- true")
    limit.gives(124, "-w 0 -n 2 test 3 -- true")
    let_go(holder)


@pytest.fixture
def data(limit):
    """Returns a function that starts a line, and the reader's and the writer's line of the manual."""
    for program in "report", "import":
        (limit.work / program).write_text("#!/bin/sh\nread -r line\n")
        (limit.work / program).chmod(0o755)
    path = {"PATH": ":".join((str(limit.work), os.path.dirname(limit.path), os.environ["PATH"]))}
    reader, writer = in_manual("import").splitlines()
    return lambda line: limit.popen(["sh", "-c", line], path, stdin=subprocess.PIPE), reader, writer


def test_readers_run_together_and_a_writer_runs_alone(limit, data):
    start, reader, writer = data
    begun = []
    for line, shown in ((reader, "free 99, running 1, waiting 0"), (reader, "free 98, running 2, waiting 0"),
                        (writer, "free 98, running 2, waiting 1"), (reader, "free 98, running 2, waiting 2")):
        begun.append(start(line))
        limit.await_status(shown, "data")
    for ended, shown in zip(begun, ("free 99, running 1, waiting 2", "free 0, running 1, waiting 1",
                                    "free 99, running 1, waiting 0")):
        let_go(ended)
        limit.await_status(shown, "data")
    let_go(begun[3])


# ---------------------------------------------------------------- the dead
def test_the_unit_of_a_killed_holder_comes_back(limit):
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- touch @WORK/next")
    holder.kill()
    assert waiter.wait() == 0
    assert (limit.work / "next").exists()


def test_a_killed_waiter_delays_no_other_waiter(limit):
    holder = limit.hold()
    first, second = [limit.wait(i, "test 1 -- touch @WORK/%d" % i) for i in (1, 2)]
    first.kill()
    first.wait()
    limit.await_status("waiting 1$")
    let_go(holder)
    assert second.wait() == 0
    assert not (limit.work / "1").exists() and (limit.work / "2").exists()


def test_a_signal_ends_the_wait(limit):
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- touch @WORK/ended")
    waiter.terminate()
    assert waiter.wait() == -signal.SIGTERM
    let_go(holder)
    assert not (limit.work / "ended").exists()


def test_an_ignored_signal_does_not_end_the_wait(limit):
    """A waiter ignores SIGHUP, as under nohup(1)."""
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- touch @WORK/ignores",
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    waiter.send_signal(signal.SIGHUP)
    assert all(limit.shows("waiting 1$") for _ in range(5))
    let_go(holder)
    assert waiter.wait() == 0
    assert (limit.work / "ignores").exists()


def test_a_signal_ends_the_wait_of_a_first_process(limit):
    """The kernel does not end the first process of a container at a signal from within."""
    if os.environ.get("FAIRSEM_TESTS_EMULATED"):
        pytest.skip("not here: a first process, because the signal would go to the emulator")
    script = """(until @PROGRAM --status test | grep -q "waiting 1"; do sleep 0.02; done
        kill -TERM 1) & exec @PROGRAM test 1 -- touch @WORK/ended"""
    own_pids, holder = unshared("--pid", "--fork"), limit.hold()
    ended = run(*own_pids, "sh", "-c", limit.replaced(script), env=limit.env)
    # unshare ends by the signal that has ended its child, or with the status that a shell has for that.
    assert ended.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM), ended
    let_go(holder)
    assert not (limit.work / "ended").exists()


# ---------------------------------------------------------------- another limit, remove
def test_an_unused_name_takes_another_limit(limit):
    limit.gives(0, "--keep test 3 -- true")
    assert limit.shows("limit 3")
    limit.gives(0, "test 1 -- true")


def test_a_name_in_use_refuses_another_limit(limit):
    holder = limit.hold()
    limit.gives(125, "test 2 -- true", says="the limit is 1, not 2")
    limit.gives(125, "--remove test", says="commands run or wait")
    let_go(holder)


def test_a_name_in_use_is_removed_by_force(limit):
    """The waiter creates the name again."""
    holder = limit.hold()
    waiter = limit.wait(1, "--keep test 1 -- touch @WORK/moved")
    limit.gives(0, "--remove --force test")
    let_go(holder)
    assert waiter.wait() == 0
    assert (limit.work / "moved").exists()
    limit.gives(0, "--status test")
    limit.gives(0, "--remove test")
    limit.gives(125, "--status test")


# ---------------------------------------------------------------- damage, other users
def test_a_damaged_name_is_an_error_until_it_is_removed(limit):
    with open(limit.segment(), "wb") as file:
        file.write(b"x" * 4096)
    limit.gives(125, "test 1 -- true", says="damaged")
    limit.gives(0, "--remove --force test")
    limit.gives(0, "test 1 -- true")


def test_a_global_name_is_for_all_users(limit):
    umask = limit.gives(0, "--global --keep test 1 -- sh -c umask", preexec_fn=lambda: os.umask(0o077))
    assert umask.strip().endswith("77"), "the command has another umask"
    assert os.stat(os.path.join(limit.dir, "fairsem-limit.test")).st_mode & 0o777 == 0o666
    assert re.search(r"^test \(all users\): limit 1, free 1", limit.gives(0, "--status"), re.M)


# ---------------------------------------------------------------- a message that nobody reads
def full_pipe():
    """A pipe into which no byte fits."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    return reader, writer


@pytest.mark.parametrize("how", ("", "--exec"))
def test_the_units_are_released_before_a_message(limit, how):
    """The interpreter of a script is missing, and no process reads the message about the error."""
    program = limit.work / "script"
    program.write_text("#!/none\n")
    program.chmod(0o755)
    holder = limit.hold()
    reader, writer = full_pipe()
    speaker = limit.wait(1, how + " test 1 -- @WORK/script", stderr=writer)
    waiter = limit.wait(2, "test 1 -- true")
    let_go(holder)
    assert waiter.wait() == 0
    os.close(writer)
    os.close(reader)
    speaker.wait()

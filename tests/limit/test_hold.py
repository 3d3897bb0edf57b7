# SPDX-License-Identifier: MIT
"""fairsem-limit --hold: a script has a place until no process has the descriptor open.

The scripts begin with lines of the manual page, in which the name is "backup", and the limit 2.
"""

import os
import select
import signal
import socket
import subprocess

import pytest

from cases import wait_until
from conftest import in_manual, let_go, lives, row

HOLD = in_manual("--hold=9")
SHELLS = pytest.mark.parametrize("shell", ("sh", "bash"))
ONE = "limit 2, free 1, running 1, waiting 0"


def script(limit, text, shell="sh", **options):
    """Start a script that begins with the lines of the manual.  PATH leads to the program that is tested."""
    path = {"PATH": "%s:%s" % (os.path.dirname(limit.path), os.environ["PATH"])}
    return limit.popen([shell, "-c", limit.replaced(HOLD + "echo held\n" + text)], path, stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, **options)


def held(limit, *arguments, **options):
    """Starts such a script, and returns when the script has its place."""
    begun = script(limit, *arguments, **options)
    assert begun.stdout.readline() == b"held\n"
    return begun


def is_free(limit):
    """Wait for all units."""
    limit.gives(0, "-n 2 backup 2 -- true")


def keeper(limit):
    return int(limit.shows(r"running +(\d+) .* --hold=9 backup 2$", "backup")[1])


# ---------------------------------------------------------------- the script
@SHELLS
def test_the_place_lasts_until_the_script_ends(limit, shell):
    holder = held(limit, "read -r line", shell)
    assert limit.shows(ONE, "backup")
    limit.gives(124, "-w 0 -n 2 backup 2 -- true")
    limit.gives(0, "-w 0 backup 2 -- true")
    let_go(holder)
    is_free(limit)
    limit.gives(125, "--status backup", says="there is no such name")


@SHELLS
def test_the_script_is_killed(limit, shell):
    holder = held(limit, "read -r line", shell)
    waiter = limit.start("-n 2 backup 2 -- touch @WORK/next")
    limit.await_status("waiting 1$", "backup")
    holder.kill()
    assert waiter.wait() == 0
    assert (limit.work / "next").exists()


@SHELLS
def test_the_script_closes_the_descriptor(limit, shell):
    holder = held(limit, "exec 9<&-; read -r line; @PROGRAM -w 0 -n 2 backup 2 -- echo again; exec cat", shell)
    is_free(limit)
    holder.stdin.write(b"\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == b"again\n"
    let_go(holder)


@SHELLS
def test_the_script_waits_for_its_place(limit, shell):
    holder = limit.hold("-n 2 backup 2", name="backup")
    waiter = script(limit, "read -r line", shell)
    limit.await_status("waiting 1$", "backup")
    os.set_blocking(waiter.stdout.fileno(), False)
    assert waiter.stdout.read() is None, "it must not go on"
    os.set_blocking(waiter.stdout.fileno(), True)
    let_go(holder)
    assert waiter.stdout.readline() == b"held\n"
    let_go(waiter)
    is_free(limit)


def test_a_hold_of_a_busy_name_times_out(limit):
    holder = limit.hold()
    limit.gives(124, "-w 0 --hold=0 test 1", says=r"\A\Z")
    limit.gives(7, "-E 7 -w 0.001m --hold=0 test 1", says=r"timed out after [0-9.]+ s; running: sh -c ")
    let_go(holder)


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGKILL))
def test_a_signal_ends_the_wait(limit, number):
    holder = limit.hold()
    waiter = limit.wait(1, "--hold=0 test 1")
    waiter.send_signal(number)
    assert waiter.wait() == -number
    limit.await_status("waiting 0$")
    let_go(holder)


def test_ctrl_c_does_not_reach_the_keeper(limit):
    # Tests in the background of a shell ignore SIGINT, and a script that inherits this cannot trap SIGINT.
    holder = held(limit, "trap 'echo interrupted' INT; echo; while :; do read -r line && exit; done",
                  start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert holder.stdout.readline() == b"\n"
    # A shell that gets the signal just before it calls read(2) runs the trap only after the next signal.
    os.killpg(holder.pid, signal.SIGINT)
    while not select.select([holder.stdout], [], [], 0.1)[0]:
        os.killpg(holder.pid, signal.SIGINT)
    assert holder.stdout.readline() == b"interrupted\n"
    assert limit.shows(ONE, "backup")
    let_go(holder)


def test_the_keeper_has_no_descriptor_of_the_script(limit):
    """A reader of the script's output sees the end of the output although the keeper runs: the keeper has
    closed its copies of the script's descriptors."""
    holder = held(limit, "exec 8>&9 7>&1 > /dev/null 2>&1 7>&-; read -r line", stderr=subprocess.PIPE)
    assert holder.stdout.read() == holder.stderr.read() == b""
    assert limit.shows(ONE, "backup")
    ours = os.listdir("/proc/%d/fd" % holder.pid)
    files = {os.readlink("/proc/%d/fd/%s" % (holder.pid, fd)) for fd in ours} - {"/dev/null"}
    keeps = [os.readlink("/proc/%d/fd/%s" % (keeper(limit), fd)) for fd in os.listdir("/proc/%d/fd" % keeper(limit))]
    assert len([file for file in keeps if file in files]) <= 1, "only what leads to the descriptor's file"
    let_go(holder)


def test_the_keeper_is_killed(limit):
    holder = held(limit, "read -r line; exit 3")
    os.kill(keeper(limit), signal.SIGTERM)
    is_free(limit)
    let_go(holder)
    assert holder.returncode == 3


@SHELLS
def test_four_commands_run_at_a_time_in_the_background(limit, shell):
    """The loop of the manual, with another gzip.  The first four commands end only when a fifth waits."""
    (limit.work / "gzip").write_text(limit.replaced("""#!/bin/sh
echo begin >> @WORK/log; until [ -e @WORK/all ]; do sleep 0.02; done; echo end >> @WORK/log
"""))
    (limit.work / "gzip").chmod(0o755)
    for number in range(7):
        (limit.work / ("%d.log" % number)).touch()
    path = {"PATH": ":".join((str(limit.work), os.path.dirname(limit.path), os.environ["PATH"]))}
    loop = limit.popen([shell, "-c", in_manual("gzip")], path, cwd=limit.work)
    limit.await_status("limit 4, free 0, running 4, waiting 1$", "compress")
    (limit.work / "all").touch()
    assert loop.wait() == 0
    now = []
    for word in (limit.work / "log").read_text().split():
        now.append((now[-1] if now else 0) + (1 if word == "begin" else -1))
    assert (len(now), now[-1], max(now)) == (14, 0, 4)


# ---------------------------------------------------------------- who has the descriptor
CHILD = "sh -c 'echo $$; read -r line' <&8 %s &\nexec 8<&-"


@SHELLS
@pytest.mark.parametrize("how, lasts", (("", True), ("9<&-", False)))
def test_a_child_inherits_the_place(limit, shell, how, lasts):
    """A child does not inherit the place if its copy of the descriptor is closed."""
    begun = held(limit, "exec 8<&0\n" + CHILD % how + "\nexit 0", shell)
    child = int(begun.stdout.readline())
    begun.wait()
    if lasts:
        assert limit.shows(ONE, "backup")
    else:
        is_free(limit)
    assert lives(child)
    let_go(begun)
    is_free(limit)


@SHELLS
def test_a_subshell_that_closes_the_descriptor_keeps_the_place(limit, shell):
    holder = held(limit, "(exec 9<&-); echo; read -r line", shell)
    assert holder.stdout.readline() == b"\n"
    assert limit.shows(ONE, "backup")
    let_go(holder)


@SHELLS
def test_a_subshell_can_have_a_place_of_its_own(limit, shell):
    inner = HOLD.replace("9", "8")
    holder = held(limit, "(%secho inner; read -r line)\necho; read -r line" % inner, shell)
    assert holder.stdout.readline() == b"inner\n"
    assert limit.shows("free 0, running 2, waiting 0", "backup")
    holder.stdin.write(b"\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == b"\n"
    wait_until("the place of the subshell is free", lambda: limit.shows(ONE, "backup"))
    let_go(holder)


# ---------------------------------------------------------------- the descriptor
@pytest.mark.parametrize("opens", ("9>> @WORK/file", "9<> @WORK/file", "9< @WORK/file"))
def test_scripts_that_open_the_same_file_have_a_place_each(limit, opens):
    (limit.work / "file").touch()
    text = "exec %s; @PROGRAM --hold=9 test 2 && echo held; read -r line" % opens
    holders = [limit.popen(["sh", "-c", limit.replaced(text)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
               for _ in range(2)]
    assert [holder.stdout.readline() for holder in holders] == [b"held\n"] * 2
    assert limit.shows("free 0, running 2")
    let_go(holders[0])
    limit.await_status("free 1, running 1")
    let_go(holders[1])
    limit.gives(0, "-n 2 test 2 -- true")


@SHELLS
def test_one_descriptor_can_hold_two_names(limit, shell):
    holder = held(limit, "@PROGRAM --hold=9 other 1; echo; read -r line", shell)
    assert holder.stdout.readline() == b"\n"
    limit.gives(124, "-w 0 other 1 -- true")
    let_go(holder)
    is_free(limit)
    limit.gives(0, "other 1 -- true")


@pytest.mark.parametrize("status, line, says", (
    row("a descriptor that is not open", 125, "--hold=77 test 1", "--hold=77: Bad file descriptor"),
    row("no descriptor", 125, "--hold=x test 1", "not a whole number"),
    row("a command", 125, "--hold=0 test 1 -- true", "--hold takes no command"),
    row("--exec", 125, "--exec --hold=0 test 1", "--hold takes no command, and no --exec"),
    row("a directory", 125, "--hold=0 test 1", "--hold=0: Is a directory"),
    row("etcd", 125, "--cluster --hold=0 test 1", "not with --cluster: .*--hold")))
def test_an_invalid_hold_is_refused(limit, status, line, says):
    directory = os.open(limit.work, os.O_RDONLY)
    limit.gives(status, line, says=says, stdin=directory)
    os.close(directory)
    assert "running" not in limit.run("--status test").stdout


def test_a_file_that_cannot_be_opened_again_is_refused(limit):
    with socket.socket() as unnamed:
        limit.gives(125, "--hold=0 test 1", says="--hold=0: No such device or address", stdin=unnamed)


# ---------------------------------------------------------------- other options
def test_a_hold_inside_a_command_of_the_same_name_takes_no_units(limit):
    """The hold uses the units of the command around it."""
    told = limit.gives(0, "test 1 -- sh -c '@PROGRAM -w 0 --hold=0 test 1 && @PROGRAM --status test'")
    assert "limit 1, free 0, running 1, waiting 0" in told


def test_a_kept_name_stays_after_a_hold(limit):
    with open(limit.work / "file", "w+", encoding="ascii") as file:
        limit.gives(0, "--keep -n 3 --hold=0 test 3", stdin=file)
        assert limit.shows("limit 3, free 0, running 1")
    limit.await_status("limit 3, free 3, running 0")

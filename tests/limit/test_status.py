# SPDX-License-Identifier: MIT
"""What fairsem-limit --status says, as a table and as JSON."""

import datetime
import json
import re
import subprocess

import pytest

from cases import run
from conftest import let_go, unshared


# ---------------------------------------------------------------- JSON
def test_neither_a_table_nor_json(limit):
    limit.gives(125, "--status=xml")


def test_a_name_that_nobody_uses(limit):
    limit.gives(0, "--keep test 1 -- true")
    assert limit.gives(0, "--status=json test") \
        == '{"names": [{"name": "test", "global": false, "limit": 1, "free": 1, "users": []}]}\n'


def test_a_name_that_does_not_exist(limit):
    assert limit.gives(125, "--status=json none") \
        == '{"names": [], "error": "none: there is no such name"}\n'


def test_a_directory_that_does_not_exist(limit):
    told = json.loads(limit.gives(125, "--status=json --dir=@WORK/none"))
    assert told == {"names": [], "error": "%s/none: No such file or directory" % limit.work}


def test_a_name_that_cannot_be_read_beside_others(limit):
    """The error is that of the first one, and each is on stderr."""
    limit.gives(0, "--keep test 1 -- true")
    for name in "bad", "worse":
        with open(limit.segment(name), "w", encoding="ascii") as file:
            file.write(8192 * "x")
    told = json.loads(limit.gives(125, "--status=json", says="(?s)^fairsem-limit: bad: .*: worse: "))
    assert [name["name"] for name in told["names"]] == ["test"]
    assert told["error"].startswith("bad: ")


def test_watch_forgets_an_error(limit):
    watcher = limit.start("--watch --status=json none", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert "error" in json.loads(watcher.stdout.readline())
    limit.gives(0, "--keep none 1 -- true")
    while "error" in (told := json.loads(watcher.stdout.readline())):
        assert told["names"] == []
    assert told["names"][0]["name"] == "none"


@pytest.fixture
def used(limit):
    """One runs, and one waits."""
    holder = limit.hold()
    waiter = limit.wait(1, "-p -3 -w 100000 test 1 -- printf '%s'", '"\\\n\udcff\u00fc',
                        stdout=subprocess.DEVNULL)
    yield holder, waiter
    let_go(holder)
    assert waiter.wait() == 0


def test_all_names(limit, used):
    limit.gives(0, "--global --keep test 5 -- true")
    told = limit.gives(0, "--status=json")
    assert told.count("\n") == 1
    own, everybody = sorted(json.loads(told)["names"], key=lambda name: name["global"])
    runs, waits = own.pop("users")
    assert own == {"name": "test", "global": False, "limit": 1, "free": 0}
    assert everybody == {"name": "test", "global": True, "limit": 5, "free": 5, "users": []}
    for user, process in (runs, used[0]), (waits, used[1]):
        assert user["pid"] == user["local_pid"] == process.pid
    assert (runs["place"], waits["place"], waits["priority"], waits["units"]) == (0, 1, -3, 1)
    assert waits["command"] == 'printf %s "\\\n\ufffd\u00fc'
    since = datetime.datetime.strptime(runs["since"] + "+0000", "%Y-%m-%dT%H:%M:%SZ%z").timestamp()
    assert 0 <= runs["seconds"] < 100000 and abs(datetime.datetime.now().timestamp() - since) < 100000


def test_watch(limit, used):
    """One document per line each second."""
    watcher = limit.start("--watch --status=json test", stdout=subprocess.PIPE)
    for _ in range(2):
        assert json.loads(watcher.stdout.readline())["names"][0]["name"] == "test"


# ---------------------------------------------------------------- another PID namespace
@pytest.fixture
def own_pids(limit):
    """Process 2 of another namespace holds the unit; it gives the command that begins another one."""
    command = [*unshared("--pid", "--fork"), "sh", "-c"]
    script = limit.replaced("@PROGRAM test 1 -- sh -c 'read -r line' inner; true")
    holder = limit.popen([*command, script], stdin=subprocess.PIPE)
    limit.await_status("running 1")
    yield command
    let_go(holder)


def test_a_process_of_a_namespace_inside_of_ours(limit, own_pids):
    assert limit.shows(r"running  *2 .*\(here [0-9]*\) .*inner")


def test_a_process_outside(limit, own_pids):
    script = limit.replaced("@PROGRAM --status test; @PROGRAM --status=json test; true")
    told = run(*own_pids, script, env=limit.env).stdout
    assert re.search(r"running  *2 .*\(in another PID namespace\)$", told, re.M), told
    assert re.search('"pid": 2, "local_pid": 0, .*"command": null}', told), told


@pytest.mark.parametrize("how", ("", "exec"))
def test_a_process_with_the_same_number_holds_nothing(limit, own_pids, how):
    """A command there takes neither its parent nor itself for the holder, if that is process 2, too."""
    script = limit.replaced("sh -c '%s @PROGRAM -w 0 test 1 -- true; exit $?'; exit $?" % how)
    ended = run(*own_pids, script, env={**limit.env, "FAIRSEM_LIMIT_HELD": limit.segment() + "=2:1"})
    assert ended.returncode == 124, ended

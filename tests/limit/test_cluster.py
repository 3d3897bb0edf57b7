# SPDX-License-Identifier: MIT
"""fairsem-limit --cluster: wrong command lines; the other cases with an etcd played by fake.py.

test_etcd.py repeats some cases with a real etcd.
"""

import concurrent.futures
import contextlib
import ctypes
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import pytest

from cases import TOP_BUILDDIR, WORK, hang_s, needs, run, wait_until
from conftest import LIMIT, Limit, lives, row, unshared
from fake import Fake


def library():
    with open(os.path.join(TOP_BUILDDIR, "Makefile"), encoding="utf-8") as makefile:
        if "\nhave_cluster = no\n" not in makefile.read():
            return
    ended = run(LIMIT, "--cluster=://", "test", "1", "--", "true")
    assert ended.returncode == 125 and "was built without libfairsem-cluster" in ended.stderr
    pytest.skip("fairsem-limit was built without libfairsem-cluster")


class Played(Fake):
    """fake.py's etcd with the functions of Etcd that the cases need."""

    def running(self):
        return len(self.keys_with("/r/"))

    def waiting(self):
        return len(self.keys_with("/q/"))

    @property
    def endpoints(self):
        return self.url


class Cluster(Limit):
    """fairsem-limit at an etcd."""

    def __init__(self, etcd):
        library()
        super().__init__(WORK, FAIRSEM_LIMIT_CLUSTER=etcd.endpoints)
        self.etcd = etcd

    def begin(self, line, *more, **options):
        return self.start(line, *more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)

    def hold(self, name, command="sleep 100000", *words, limit=1, options="", **more):
        """Start a holder, in a process group of its own."""
        before = self.etcd.running()
        holder = self.begin("--ttl=600 %s '%s' %d -- %s" % (options, name, limit, command), *words,
                            start_new_session=True, **more)
        wait_until("it runs", lambda: self.etcd.running() > before or holder.poll() is not None)
        wait_until("its command is there", lambda: holder.poll() is not None or children(holder))
        return holder

    def wait_behind(self, name, script="exit 0", limit=1, options=""):
        before = self.etcd.waiting()
        waiter = self.begin("--ttl=600 %s '%s' %d -- sh -c" % (options, name, limit), script)
        wait_until("it waits", lambda: self.etcd.waiting() > before or waiter.poll() is not None)
        assert waiter.poll() is None
        return waiter


@pytest.fixture(scope="module")
def at():
    with played() as cluster:
        yield cluster


@contextlib.contextmanager
def played(**options):
    etcd = Played(**options)
    cluster = Cluster(etcd)
    try:
        yield cluster
    finally:
        cluster.end()
    etcd.stop()


def children(process):
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as file:
        return file.read().split()


def let_go(holder):
    holder.terminate()
    holder.communicate(timeout=hang_s())


# ---------------------------------------------------------------- command lines
@pytest.mark.parametrize("status, line, says", (
    row("--ttl without --cluster", 125, "--ttl=5 test 1 -- true"),
    row("--keep-running without --cluster", 125, "--keep-running test 1 -- true"),
    row("a lease that is too short", 125, "--cluster --ttl=1 test 1 -- true"),
    row("half seconds", 125, "--cluster --ttl=2.5 test 1 -- true"),
    row("a name of all users, of etcd", 125, "--cluster --global test 1 -- true"),
    row("to become the command", 125, "--cluster --exec test 1 -- true"),
    row("to keep a limit", 125, "--cluster --keep --set-limit=2 test"),
    row("a limit below 0", 125, "--cluster --set-limit=-1 test"),
    row("the limit of no name", 125, "--cluster --set-limit=2", "no name")))
def test_a_wrong_command_line_is_an_error(limit, status, line, says):
    limit.gives(status, line, says=says)


def test_with_global_the_variable_does_not_count(limit):
    limit.gives(0, "--global test 1 -- true", env={"FAIRSEM_LIMIT_CLUSTER": "http://127.0.0.1:1"})


@pytest.mark.parametrize("status, line, says", (
    row("no URL", 125, "--cluster=:// test 1 -- true", "not a list of URLs"),
    row("no domain", 125, "--cluster=srv://a:1 test 1 -- true", "'srv://a:1' is not a list of URLs"),
    row("a password in a URL", 125, "--cluster=http://me:secret@127.0.0.1 test 1 -- true",
        "a URL must have no user"),
    row("an empty name", 125, "--cluster '' 1 -- true"),
    row("a name with a newline", 125, "--cluster 'a\nb' 1 -- true"),
    row("a name that is too long", 125, "--cluster %0256d 1 -- true" % 0),
    row("no such command", 127, "--cluster test 1 -- /none")))
def test_a_line_that_the_library_refuses_is_an_error(limit, status, line, says):
    library()
    limit.gives(status, line, says=says)


@pytest.mark.parametrize("variable, value, says", (
    ("USER", "me", "FAIRSEM_LIMIT_CLUSTER_USER needs FAIRSEM_LIMIT_CLUSTER_PASSWORD_FILE"),
    ("CA_FILE", "/none", "CLUSTER_CA_FILE: /none: No such file"),
    ("CA_FILE", "/", "CLUSTER_CA_FILE: /: Is a directory")))
def test_a_wrong_variable_is_an_error(limit, variable, value, says):
    library()
    limit.gives(125, "--cluster test 1 -- true", says=says,
                env={"FAIRSEM_LIMIT_CLUSTER_" + variable: value})


def test_a_program_beside_a_link_or_in_path_is_not_run(limit):
    library()
    os.symlink(LIMIT, limit.work / "fairsem-limit")
    wrong = limit.work / "fairsem-limit-cluster"
    wrong.write_text("#!/bin/sh\nexit 99\n")
    wrong.chmod(0o755)
    limit.path = str(limit.work / "fairsem-limit")
    limit.gives(125, "--cluster=:// test 1 -- true", says="not a list of URLs",
                env={"PATH": "%s:%s" % (limit.work, os.environ["PATH"])})


@pytest.fixture
def copied(limit):
    """A copy of fairsem-limit, alone in its directory."""
    library()
    with open(LIMIT, "rb") as file:
        if file.read(4) != b"\177ELF":
            pytest.skip("the other program is not beside it: fairsem-limit is a script here")
    (limit.work / "bin").mkdir(0o755)
    limit.path = shutil.copy(LIMIT, limit.work / "bin")
    return limit


INSTALLED = (r"not a list of URLs|"
             r"--cluster needs libfairsem-cluster: /.*/fairsem/fairsem-limit-cluster: No such.*")


def test_the_other_program_is_run_from_its_installed_place(copied):
    copied.gives(125, "--cluster=:// test 1 -- true", says=INSTALLED)


def test_an_installation_may_be_moved(copied):
    ended = run(os.environ.get("MAKE", "make"), "-C", TOP_BUILDDIR, "install-binPROGRAMS",
                "install-pkglibexecPROGRAMS", "DESTDIR=%s/moved" % copied.work)
    assert ended.returncode == 0, ended.stderr
    copied.path, = copied.work.glob("moved/**/bin/fairsem-limit")
    copied.gives(125, "--cluster=:// test 1 -- true", says="^fairsem-limit: .*not a list of URLs")


@pytest.mark.parametrize("script", (
    pytest.param("chmod 1777 .", id="all may make files in its directory"),
    pytest.param("chgrp 12345 . && chmod 775 .", id="a group may make files in its directory"),
    pytest.param("chown 12345 .", id="its directory is somebody else's"),
    pytest.param("chmod 757 fairsem-limit-cluster", id="all may write it"),
    pytest.param("chgrp 12345 fairsem-limit-cluster && chmod 775 fairsem-limit-cluster", id="a group may write it"),
    pytest.param("chown 12345 fairsem-limit-cluster", id="it is somebody else's"),
    pytest.param("mv fairsem-limit-cluster true && ln -s true fairsem-limit-cluster", id="it is a link")))
def test_a_program_that_others_may_write_is_not_run(copied, script):
    shutil.copy(shutil.which("true"), copied.work / "bin" / "fairsem-limit-cluster")
    if run("sh", "-c", script, cwd=copied.work / "bin").returncode != 0:
        pytest.skip("not here: a file of others, without the right to make one")
    copied.gives(125, "--cluster=:// test 1 -- true", says=INSTALLED +
                 "\nfairsem-limit: a nearer one was not run, because others can write to it or its directory")


def test_a_program_that_others_may_not_write_is_run(copied):
    shutil.copy(shutil.which("true"), copied.work / "bin" / "fairsem-limit-cluster")
    copied.gives(0, "--cluster=:// test 1 -- false")


@pytest.mark.waits
@pytest.mark.parametrize("line", (pytest.param("test 1 -- true", id="a command"),
                                  pytest.param("--status=json test", id="the status")))
def test_a_silent_endpoint_is_an_error(line):
    library()
    told = Limit(WORK).gives(125, "--cluster=http://127.0.0.1:1 --ttl=2 " + line,
                             says=r"etcd does not answer: 127.0.0.1:1: .*connect")
    if "json" in line:
        said = json.loads(told)
        assert said["names"] == [] and said["error"].startswith("test: etcd does not answer: 127.0.0.1:1: ")


# ---------------------------------------------------------------- also at a real etcd
def test_the_command_has_its_arguments_and_gives_its_status(at):
    """The command also inherits descriptors.  A proxy in the environment is not used for etcd."""
    at.gives(7, "a 1 -- sh -c 'exit 7'")
    assert at.gives(0, "a 1 -- printf '%s|' 'x  y' '' '*'") == "x  y||*|"
    fences = [int(at.gives(0, "a 1 -- sh -c 'echo $FAIRSEM_LIMIT_FENCE'")) for _ in range(3)]
    assert fences == sorted(set(fences))
    assert at.gives(0, "a 1 -- ls /proc/self/fd") == run("ls", "/proc/self/fd").stdout
    nowhere = {"http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"}
    at.gives(0, "a 1 -- true", env=nowhere)
    at.gives(-signal.SIGTERM, "a 1 -- sh -c 'kill -TERM $$'")
    assert at.etcd.running() == 0


def test_commands_begin_in_order_within_the_limit(at, tmp_path):
    holder = at.hold("b", limit=3, options="-n 3")
    waiters = [at.wait_behind("b", "echo %d >> %s/order" % (i, tmp_path), 3, "-p %d -n 3" % priority)
               for i, priority in enumerate((0, 0, -1, 5))]
    at.gives(124, "-w 0 b 3 -- true")
    at.gives(7, "-E 7 -w 0 b 3 -- true")
    at.gives(124, "-w 0.2 b 3 -- true",
             says=r"timed out after [0-9.]+ s; running: sleep \(process %d of " % holder.pid)
    at.gives(125, "b 4 -- true", says="the limit is 3, not 4")
    let_go(holder)
    assert [waiter.wait() for waiter in waiters] == [0] * 4
    assert (tmp_path / "order").read_text().split() == ["2", "0", "1", "3"]
    at.gives(0, "b 4 -- true")


def test_the_limit_can_be_changed(at):
    """A command with the first limit follows the new one."""
    holder, waiter = at.hold("t"), at.wait_behind("t")
    at.gives(0, "--set-limit=2 t")
    assert waiter.wait() == 0
    at.gives(0, "-w 60 t 2 -- true")
    at.gives(125, "t 3 -- true", says="the limit is 2, not 3, and changes while .* only by --set-limit")
    at.gives(0, "--set-limit=1 t")
    at.gives(125, "-n 2 t 2 -- true", says="the limit is 1, not 2")
    at.gives(0, "--set-limit=0 t")
    first = at.wait_behind("t")
    let_go(holder)
    at.gives(124, "-w 0 t 1 -- true")
    assert "t (etcd): limit 0, free 0, running 0, waiting 1" in at.gives(0, "--status t")
    at.gives(0, "--set-limit=3 t")
    assert first.wait() == 0
    assert "limit 3, free 2" in at.gives(0, "t 1 -- @PROGRAM --status t")
    at.gives(0, "--remove t")
    at.gives(125, "--set-limit=1 t", says="there is no such name")
    at.gives(0, "t 3 -- true")
    at.gives(0, "--set-limit=2 t")
    at.gives(125, "-n 3 t 3 -- true",
             says="3 units are more than the limit of t, 2: --set-limit has changed it")
    at.gives(0, "--remove t")


def test_the_status_lists_all_names(at):
    holder = at.hold("u/2", limit=5)
    for name in "u", "u 3":
        at.gives(0, "'%s' 1 -- true" % name)
    listed = at.gives(0, "--status")
    assert [line for line in listed.splitlines() if re.match("u.*: limit", line)] \
        == ["u 3 (etcd): limit 1, free 1, running 0, waiting 0",
            "u/2 (etcd): limit 5, free 4, running 1, waiting 0",
            "u (etcd): limit 1, free 1, running 0, waiting 0"]
    names = [(name["name"], name["cluster"], len(name["users"]))
             for name in json.loads(at.gives(0, "--status=json"))["names"] if name["name"].startswith("u")]
    assert names == [("u 3", True, 0), ("u/2", True, 1), ("u", True, 0)]
    metrics = at.gives(0, "--status=prometheus")
    assert re.findall('^fairsem_limit_(running|free_units)\\{name="u/2",scope="(.*)"\\} (.*)', metrics, re.M) \
        == [("free_units", "cluster", "4"), ("running", "cluster", "1")] and "wait_seconds" not in metrics
    let_go(holder)
    for name in "u", "u 3", "u/2":
        at.gives(0, "--remove '%s'" % name)
    assert not re.search("^u.*: limit", at.gives(0, "--status"), re.M)


@pytest.fixture
def used(at):
    """A holder and a waiter."""
    holder = at.hold("c d", limit=2)
    at.gives(0, "'c d' 2 -- true")
    waiter = at.wait_behind("c d", limit=2, options="-n 2")
    return holder, waiter


def users(at, name):
    return json.loads(at.gives(0, "--status=json", name))["names"][0]["users"]


def test_the_status_shows_holders_and_waiters(at, used):
    holder, waiter = used
    table = at.gives(0, "--status 'c d'")
    assert re.search(r"^c d \(etcd\): limit 2, free 1, running 1, waiting 1\n  place .*\n"
                     r"  running  \S+ +%d +1 +0 .* \d+  sleep\n"
                     r"  1st .* 2 +0 .*  -  sh\n$" % holder.pid, table), table
    assert [(user["place"], user["pid"], user["units"], user["command"], user["fence"] > 0)
            for user in users(at, "c d")] == [(0, holder.pid, 1, "sleep", True),
                                              (1, waiter.pid, 2, "sh", False)]
    at.gives(125, "--remove 'c d'", says="commands run or wait")
    let_go(holder)
    assert waiter.communicate()[1] == ""
    at.gives(0, "--remove 'c d'")
    at.gives(125, "--status 'c d'", says="no such name")
    at.gives(125, "--remove 'c d'", says="no such name")


@pytest.mark.parametrize("status, line, says", (
    row("of the same name", 0, "d 1 -- @PROGRAM d 1 -- echo inside"),
    row("and of another name", 0, "d 1 -- @PROGRAM e 1 -- @PROGRAM d 1 -- echo inside"),
    row("more", 125, "d 2 -- @PROGRAM -n 2 d 2 -- true", "the outer command has 1 of the units"),
    row("another limit", 125, "d 2 -- @PROGRAM d 3 -- true", "the limit is 2, not 3")))
def test_a_command_inside_does_not_wait_for_itself(at, status, line, says):
    assert at.gives(status, line, says=says) == ("" if status else "inside\n")


def test_a_signal_ends_the_wait(at):
    holder, waiter = at.hold("f"), at.wait_behind("f")
    waiter.terminate()
    assert waiter.wait() == -signal.SIGTERM
    assert at.etcd.waiting() == 0
    let_go(holder)


def test_the_progress_line_shows_the_place(at):
    """The line also says that a real etcd does not answer.  The place stays."""
    holder = at.hold("i")
    terminal = at.terminal("--ttl=600 i 1 -- echo 'its turn'")
    assert terminal.read_until(rb"i: 1st in line, 1 running, waited [0-9]+ s")
    if not isinstance(at.etcd, Played):
        at.etcd.signal(0, signal.SIGSTOP)
        assert terminal.read_until(rb"etcd does not answer; the place is kept")
        at.etcd.signal(0, signal.SIGCONT)
    let_go(holder)
    assert terminal.read_until(rb"\r\x1b\[Kits turn")
    assert terminal.ends() == 0
    terminal.close()


def as_user(name, password):
    """The environment for this user and password."""
    path = os.path.join(WORK, "password." + password)
    with open(path, "w", encoding="ascii") as file:
        file.write(password + "\n")
    return {"FAIRSEM_LIMIT_CLUSTER_USER": name, "FAIRSEM_LIMIT_CLUSTER_PASSWORD_FILE": path}


def check_users(at):
    """Cases for an etcd where root has the password "secret"."""
    at.gives(0, "j 1 -- true", env=as_user("root", "secret"))
    at.gives(125, "j 1 -- true", says="etcd has refused the user")
    at.gives(125, "j 1 -- true", says="etcd has refused the user", env=as_user("root", "wrong"))


# ---------------------------------------------------------------- only with fake.py
def test_only_the_right_user_is_served():
    with played(user=("root", "secret")) as at:
        check_users(at)


def test_impossible_times_are_not_shown(at, used):
    """Other programs may write to the keys, and the clock of another machine may be ahead."""
    for since in int(time.time()) + 1000000, 2**62:
        for key in at.etcd.keys_with("/r/"):
            pair = at.etcd.keys[key]
            pair["value"] = re.sub('"since": ?[0-9]+', '"since":%d' % since, pair["value"])
        user = users(at, "c d")[0]
        assert (user["since"] is None, user["seconds"]) == (since == 2**62, 0)
    assert at.gives(0, "--status 'c d'").split("\n")[2].split()[5] == "-"
    for each in used:
        let_go(each)


def test_a_hold_ends_when_its_key_is_deleted(at):
    """The holder notices at its next confirmation."""
    holder = at.hold("r", options="--ttl=6")
    with at.etcd.change:
        at.etcd.revision += 1
        at.etcd.delete(at.etcd.keys_with("fairsem/r/r/"))
    assert "etcd has ended the lease; the command is ended" in holder.communicate()[1]
    assert holder.returncode == 125


def test_the_status_names_damaged_keys(at):
    """The status also shows the other keys."""
    holder = at.hold("o", limit=2)
    with at.etcd.change:
        at.etcd.put("fairsem/o/r/0000000000000007", "nonsense", "7")
    table = at.gives(0, "--status o")
    for text in "limit 2, free 1, running 2", "fairsem/o/r/0000000000000007", "sleep":
        assert text in table
    with at.etcd.change:
        at.etcd.put("fairsem/o/r-limit", "many", "0")
    assert "sleep" in at.gives(125, "--status o", says="the key 'r-limit' is damaged")
    assert "sleep" in at.gives(125, "--status", says="^fairsem-limit[^:]*: o: etcd's answer is invalid")
    let_go(holder)
    with at.etcd.change:
        at.etcd.delete(["fairsem/o/r-limit"])


def test_a_list_needs_the_right_to_all_names():
    with played(faults=[("/kv/txn/read", 0, "error", 7, 403, "etcdserver: permission denied")]) as at:
        at.gives(125, "--status", says="must let a user read all of fairsem/, not only one name")


def test_the_status_prints_no_control_characters(at):
    with at.etcd.change:
        at.etcd.put("fairsem/v%1B%5B2Jw/r-limit", "1 1", "0")
    assert "v [2Jw (etcd): limit 1" in at.gives(0, "--status")
    at.gives(0, "--status=json")
    with at.etcd.change:
        at.etcd.delete(["fairsem/v%1B%5B2Jw/r-limit"])


def test_many_waiters_are_shown_in_order(at):
    """The waiters are shown in the order of their arrival, not of their keys."""
    count = 5000
    with at.etcd.change:
        at.etcd.put("fairsem/q/r-limit", "1 1", "0")
        for i in range(count):
            at.etcd.revision += 1
            at.etcd.put("fairsem/q/q/2147483648/%016x" % (i * 2999 % count + 1), json.dumps(
                {"units": 1, "priority": 0, "host": "h", "pid": i, "program": "p", "since": 1}),
                        str(i * 2999 % count + 1))
    assert [(user["place"], user["pid"]) for user in users(at, "q")] \
        == [(i + 1, i) for i in range(count)]


def test_a_pending_request_delays_no_command():
    """A command starts while the request for its progress line has no answer."""
    for _ in range(5):      # in case a slow start leads to a second request
        with played(faults=[("/read/list", 0, "hang")]) as at:
            holder = at.hold("n")
            terminal = at.terminal("--ttl=600 n 1 -- echo 'its turn'")
            wait_until("it asks", lambda: at.etcd.lists >= 1 and at.etcd.waiting() == 1)
            let_go(holder)
            assert terminal.read_until(b"its turn")
            lists = at.etcd.lists
            assert terminal.ends() == 0
            terminal.close()
            if lists == 1:
                return
    raise AssertionError("the question came first, each time")


def same_as(url, other):
    """Different texts for the same two endpoints."""
    return ("%s,%s" % (url, other), "%s,%s" % (other, url), "%s//, %s/" % (url, other),
            "%s,%s,%s" % (other, url, other), ("%s,%s" % (url, other)).upper(),
            ("%s,%s" % (url, other)).replace("http://", ""))


@pytest.mark.waits
def test_a_command_inside_runs_while_etcd_is_silent():
    """The environment names the outer command.  fairsem-limit checks that without a request to etcd."""
    with played() as at:
        there = same_as(at.etcd.url.replace("127.0.0.1", "localhost"), "http://localhost:1")
        outer = at.hold("s", "sh -c", at.replaced("""read -r line
            for url in "$@"; do FAIRSEM_LIMIT_CLUSTER=$url @PROGRAM s 1 -- echo "$url"; done"""), "sh", *there,
                        stdin=subprocess.PIPE, options="--cluster=" + there[0])
        at.etcd.be_silent(True)
        outer.stdin.write("\n")
        outer.stdin.flush()
        assert [outer.stdout.readline() for _ in there] == [url + "\n" for url in there]
        at.etcd.be_silent(False)
        outer.communicate()
        assert outer.returncode == 0
        for status, change in ((0, "FAIRSEM_LIMIT_FENCE=1"),
                               (0, "FAIRSEM_LIMIT_CLUSTER=$FAIRSEM_LIMIT_CLUSTER/"),
                               (124, "FAIRSEM_LIMIT_HELD=${FAIRSEM_LIMIT_HELD%:*:*:*}:1:"
                                     "${FAIRSEM_LIMIT_HELD#*:*:*:*:*:}"),
                               (125, "FAIRSEM_LIMIT_CLUSTER=http://127.0.0.1:1")):
            at.gives(status, "s 1 -- sh -c", change + " exec @PROGRAM -w 0 s 1 -- true")


@pytest.mark.waits
def test_a_command_inside_with_other_endpoints_does_not_wait_without_etcd():
    """If it waited, it might wait for its own outer command."""
    with played(faults=[("/read/list", 0, "cut")]) as at:
        at.gives(125, "x 1 -- sh -c", "exec @PROGRAM --cluster=%s -w 0 x 1 -- true"
                 % at.etcd.url.replace("127.0.0.1", "localhost"), says="etcd does not answer")


@pytest.mark.waits
def test_a_process_left_behind_waits_while_its_place_is_released():
    """The process waits in the queue, because the place no longer belongs to it."""
    with played(faults=[("/lease/revoke", 1, "hang")]) as at:
        left = os.path.join(WORK, "left")
        os.mkfifo(left)
        outer = at.hold("y", "sh -c", '(read -r line < "$0"; @PROGRAM -w 0 y 1 -- echo beside; echo $?) & read -r line',
                        left, stdin=subprocess.PIPE)
        next_one = at.wait_behind("y", "sleep 100000")
        outer.stdin.close()
        wait_until("the next one runs", lambda: children(next_one) != [])
        with open(left, "w", encoding="ascii") as file:
            file.write("\n")
        assert outer.stdout.read() == "124\n"


@pytest.mark.parametrize("number", (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU, signal.SIGUSR1))
def test_a_signal_ends_the_wait_and_leaves_no_request(at, number):
    """A request that stayed would delay the other commands until its lease ends."""
    holder = at.hold("x")
    waiter = at.start("--ttl=600 x 1 -- true")
    wait_until("it waits", lambda: at.etcd.keys_with("fairsem/x/q/"))
    waiter.send_signal(number)
    assert waiter.wait() == -number
    assert not at.etcd.keys_with("fairsem/x/q/")
    holder.terminate()
    assert holder.wait() == -signal.SIGTERM


# ---------------------------------------------------------------- signals at the wrong moment
WALL = 0x40000000       # for waitpid: threads, too
PTRACE_SYSCALL, PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 24, 17, 0x4206, 0x4207


def trace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(ctypes.c_long(request), thread, None, None) != 0:
        if request == PTRACE_SEIZE:
            pytest.skip("not here: ptrace: " + os.strerror(ctypes.get_errno()))
        raise OSError(ctypes.get_errno(), "ptrace")


def stop_thread(thread):
    trace(PTRACE_SEIZE, thread)
    trace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)


def its_turn_after(at, steps):
    """Grant a waiter its units, let its first thread make `steps` steps from system call to system call, and
    send SIGTERM to the waiter.

    The units must be returned.  Returns whether the waiter had begun its command.
    """
    prefix = "fairsem/v%d/" % steps
    with at.etcd.change:
        at.etcd.revision += 1
        at.etcd.put(prefix + "r-limit", "1 1", "0")
        at.etcd.put(prefix + "r/0000000000000007", json.dumps(
            {"units": 1, "priority": 0, "host": "h", "pid": 1, "program": "p", "since": 1}), "7")
    waiter = at.start("--ttl=600 v%d 1 -- sleep 100000" % steps)
    wait_until("it waits", lambda: at.etcd.keys_with(prefix + "q/"))
    stop_thread(waiter.pid)
    with at.etcd.change:
        at.etcd.revision += 1
        at.etcd.delete([prefix + "r/0000000000000007"])
        at.etcd.change.notify_all()
    wait_until("its turn", lambda: at.etcd.keys_with(prefix + "r/"))
    for _ in range(steps):
        trace(PTRACE_SYSCALL, waiter.pid)
        os.waitpid(waiter.pid, WALL)
    begun = children(waiter) != []
    os.kill(waiter.pid, signal.SIGTERM)
    trace(PTRACE_DETACH, waiter.pid)
    assert (waiter.wait(), at.etcd.keys_with(prefix)) == (-signal.SIGTERM, [prefix + "r-limit"]), steps
    return begun


def test_a_signal_after_the_grant_leaves_no_place(at):
    """A place that is left would stay until its lease ends."""
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        for first in itertools.count(0, 8):
            if any(list(threads.map(lambda steps: its_turn_after(at, steps), range(first, first + 8)))):
                break
    assert first > 10


@pytest.mark.waits
def test_fairsem_limit_ends_if_the_release_hangs():
    """The library's threads are stopped.  fairsem-limit still ends with the exit status of the command, with
    SIGTERM or without."""
    # A search for leaks at the end would stop the threads, too.
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    with played() as at:
        held = [at.hold("w", "sh -c 'read -r line; exit 5'", limit=2, env=env, stdin=subprocess.PIPE)
                for _ in range(2)]
        threads = [{int(name) for name in os.listdir("/proc/%d/task" % holder.pid)} - {holder.pid}
                   for holder in held]
        for thread in set.union(*threads):
            stop_thread(thread)
        for holder in held:
            holder.stdin.close()
            wait_until("the command has ended", lambda: children(holder) == [])
        held[0].terminate()
        for thread in set.union(*threads):      # this process, their tracer, must reap them first
            os.waitpid(thread, WALL)
        for holder in held:
            with open("/proc/%d/status" % holder.pid, encoding="ascii") as file:
                assert int(re.search(r"ShdPnd:\s(.*)", file.read())[1], 16) & 1 << signal.SIGTERM - 1 == 0
            assert holder.wait() == 5


# ---------------------------------------------------------------- a lease is lost
# In one PID namespace, process 2 has the children 3 to 32.  In an inner PID namespace, with the same /proc,
# fairsem-limit is process 2, and these children are strangers.
STRANGERS = """sh -c 'for i in %(some)s; do sleep 100000 & done; echo > @WORK/strangers; wait' &
while ! [ -e @WORK/strangers ]; do sleep 0.02; done
exec unshare --pid --fork sh -c '
    @PROGRAM --ttl=3 strangers 1 -- sleep 100000 & command=$!
    for i in %(some)s; do sleep 100000 & all="$all $!"; done
    wait $command; echo status $?
    for one in $all; do kill -0 $one && echo lives; done'""" % {"some": "1 2 3 4 5 6 7 8 9 10 " * 3}


@pytest.mark.waits
def test_no_stranger_of_another_pid_namespace_is_killed():
    with played(faults=[("/keepalive", 0, "gone")]) as at:
        inside = unshared("--pid", "--fork", "--mount-proc", user="--map-root-user")
        ended = run(*inside, "sh", "-c", at.replaced(STRANGERS), env=at.env)
        assert ended.stdout == "status 125\n" + 30 * "lives\n", ended


# The file $0 gets its process ID when it ignores SIGTERM.
STUBBORN = """sh -c 'trap "" TERM; echo $$ > "$0.new"; mv "$0.new" "$0"
while :; do sleep 0.1; done' "$0" > /dev/null 2>&1 &"""
TREE = "trap 'echo terminated' TERM\n" + STUBBORN + "\nwait; wait"
# The shell dies at SIGTERM, and its child ignores the signal.
ORPHAN = STUBBORN + "\nwait"


def a_lease_is_lost(at, ttl, lose, why):
    """Check that all processes of the command are dead when fairsem-limit ends, except with --keep-running.

    Returns what a command writes at its SIGTERM, if there is time for a SIGTERM.
    """
    def path(name):
        return os.path.join(WORK, "%s.%d" % (name, ttl))

    holders, written = {}, {}
    for name, script in ("tree", TREE), ("orphan", ORPHAN):
        holders[name] = at.hold("l", "sh -c", script, path(name), limit=3, options="--ttl=%d" % ttl)
        wait_until("its child is there", lambda: os.path.exists(path(name)))
    keeper = at.hold("l", "sh -c 'read -r line; exit 5'", limit=3, stdin=subprocess.PIPE,
                     options="--ttl=%d --keep-running" % ttl)
    lose()
    for name, holder in holders.items():
        written[name], err = holder.communicate()
        assert holder.returncode == 125
        assert why + "; the command is ended" in err
        with open(path(name), encoding="ascii") as file:
            assert not lives(file.read().strip()), "a child of the command goes on"
    assert "another command may have the place now" in keeper.stderr.readline()
    keeper.communicate("\n")
    assert keeper.returncode == 5
    return written["tree"]


@pytest.mark.waits
def test_a_command_is_killed_when_etcd_ends_the_lease():
    with played() as at:
        a_lease_is_lost(at, 9, lambda: at.etcd.add("/keepalive", 0, "gone"), "etcd has ended the lease")


# The shell ends at SIGTERM.  One child then cleans up.  600 orphans ignore SIGTERM.
CROWD = """trap 'exit 0' TERM
sh -c 'trap "while kill -0 $PPID; do sleep 0.1; done; sleep 0.2; echo cleaned" TERM
    echo begun; while kill -0 $PPID; do sleep 0.1; done' 2> /dev/null &
(trap '' TERM; i=0; while [ $i -lt 600 ]; do sleep 100000 > /dev/null & i=$((i + 1)); echo $!; done; echo all)
while :; do sleep 0.1; done"""


@pytest.mark.waits
def test_processes_left_by_the_command_have_their_time():
    """All processes get SIGTERM, and then SIGKILL when the time is over, not when the command has ended."""
    with played() as at:
        holder = at.hold("t", "sh -c", CROWD, options="--ttl=16")
        written = []
        while "all\n" not in written or "begun\n" not in written:
            written.append(holder.stdout.readline())
            assert written[-1]
        at.etcd.add("/keepalive", 0, "cut")
        out, err = holder.communicate()
        assert (holder.returncode, out) == (125, "cleaned\n")
        assert "the lease was not renewed in time; the command is ended: " in err, err
        assert "could not be killed" not in err, err
        assert not any(map(lives, (line.strip() for line in written if line.strip().isdigit())))


@pytest.mark.waits
def test_a_process_that_cannot_be_killed_is_named():
    """fairsem-limit does not wait for such a process.  The process belongs to another user, so root may not
    kill it without CAP_KILL."""
    needs("setpriv")
    weak = "setpriv", "--bounding-set=-kill", "--inh-caps=-kill"
    other = "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", "echo $$; sleep 100000"
    if run(*weak, *other[:4], "true").returncode != 0:
        pytest.skip("not here: to become another user")
    with played(faults=[("/keepalive", 0, "gone")]) as at:
        held = [at.popen([*weak, *at.command("--ttl=3 u 2 --", command)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
                for command in (other, ("sh", "-c", '"$@" & wait', "", *other))]
        for holder in held:
            pid = holder.stdout.readline().strip()
            said = holder.stderr.readline(), holder.stderr.readline()
            assert "; the command is ended" in said[0], said
            assert re.search("u: these processes could not be killed, and still run:.* %s[ \n]" % pid, said[1]), said
            assert holder.wait() == 125 and lives(pid)


def full_pipe():
    """Returns both ends of a full pipe: the reading end, from which no process reads, and the writing end."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    for size in 65536, 1:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writes, b"x" * size)
    os.set_blocking(writes, True)
    return reads, writes


@pytest.mark.waits
def test_nothing_delays_the_supervisor():
    """Neither a full stderr nor a lack of descriptors."""
    with played() as at:        # with leases that live until the case ends them
        reads, writes = full_pipe()
        silent = at.start("--ttl=9 m 2 -- sleep 100000", stderr=writes)
        wait_until("it runs", lambda: len(children(silent)) == 1)
        poor = at.hold("m", "sh -c 'sleep 100000 & echo $!; wait; wait'", limit=2, options="--ttl=9")
        grandchild = poor.stdout.readline().strip()
        highest = max(int(name) for name in os.listdir("/proc/%d/fd" % poor.pid))
        resource.prlimit(poor.pid, resource.RLIMIT_NOFILE, (highest + 1, highest + 1))
        at.etcd.add("/keepalive", 0, "gone")
        assert (silent.wait(), poor.wait()) == (125, 125)
        assert not lives(grandchild), "a child of its command goes on"
        os.close(reads)
        os.close(writes)

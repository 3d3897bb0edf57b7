# SPDX-License-Identifier: MIT
"""Where fairsem-limit has its names, and how they come and go."""

import os
import re
import subprocess
import time

import pytest

from cases import hang_s, needs, run, wait_until
from conftest import let_go, row, unshared

CREATED = "fairsem-limit-%d.test" % os.getuid()


def there(*parts):
    return os.path.exists(os.path.join(*parts))


# ---------------------------------------------------------------- directories
@pytest.fixture
def other(limit):
    """Another directory, in which the name has another limit."""
    path = os.path.join(limit.dir, "other")
    os.mkdir(path)
    limit.gives(0, "--dir=@DIR/other test 3 -- true")
    return path


def test_a_name_is_a_file_in_the_directory(limit, other):
    assert there(limit.dir, CREATED) and there(other, CREATED)
    assert os.stat(os.path.join(other, CREATED)).st_mode & 0o777 == 0o600, "it is this user's alone"
    limit.gives(0, "--dir=@DIR/other// test 3 -- true")
    assert limit.gives(0, "--dir=@DIR/other --status") \
        == "test: limit 3, free 3, running 0, waiting 0\n"
    assert limit.shows("limit 1"), "a name in one directory is one in the other"
    limit.gives(0, "--dir=@DIR/other --remove test")
    assert there(limit.dir, CREATED) and not there(other, CREATED)


def test_a_link_to_a_directory(limit, other):
    limit.gives(0, "--dir=@DIR/other --remove test")
    os.symlink("other", os.path.join(limit.dir, "link"))
    limit.gives(0, "--dir=@DIR/link test 1 -- true")
    assert there(other, CREATED)


@pytest.mark.parametrize("status, line, says", (
    row("no such directory", 125, "--dir=@DIR/none test 1 -- true", "/none: No such file or directory"),
    row("the status of no directory", 125, "--dir=@DIR/none --status"),
    row("no directory", 125, "--dir=@DIR/%s test 1 -- true" % CREATED),
    row("a relative path", 125, "--dir=other test 1 -- true", "begins with a slash"),
    row("a path with a newline", 125, "--dir='@DIR/a\nb' test 1 -- true"),
    row("a file system without such files", 125, "--dir=/proc test 1 -- true",
        "" if os.getuid() else "the file system"),
    row("the limit of a name that does not exist", 125, "--set-limit 2 none"),
    row("the limit 0", 125, "--set-limit 0 test"),
    row("no limit", 125, "--set-limit test"),
    row("no name", 125, "--set-limit 2")))
def test_a_bad_line(limit, status, line, says):
    limit.gives(status, line, says=says)


def test_the_default_is_dev_shm(limit):
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("not here: /dev/shm, which cannot be written")
    limit.env["FAIRSEM_LIMIT_DIR"] = ""
    name = "test-%d" % os.getpid()
    file = "/dev/shm/fairsem-limit-%d.%s" % (os.getuid(), name)
    try:
        limit.gives(0, name + " 1 -- true")
        assert there(file)
        # A command inside another one, with the same directory in other words.
        limit.gives(0, "%s 1 -- @PROGRAM --dir=/dev/shm/ -w 0 %s 1 -- true" % (name, name))
        limit.gives(0, "--dir=/dev/shm/ --remove " + name)
        assert not there(file)
    finally:
        limit.run("--remove --force " + name)


@pytest.fixture
def own_mounts(limit):
    """The command that begins a script in a mount namespace, and a directory to mount something on."""
    mount = os.path.join(limit.dir, "mount")
    os.mkdir(mount)
    command = unshared("--mount", user="--map-root-user")
    if run(*command, "mount", "--bind", limit.dir, mount).returncode != 0:
        pytest.skip("not here: two mounts of one directory")
    return [*command, "sh", "-c"]


def test_two_containers_with_one_directory(limit, other, own_mounts):
    """One unit for both."""
    script = """mount --bind @DIR/other @DIR/mount &&
        exec @PROGRAM --global --dir=@DIR/mount shared 1 -- sh -c 'read -r line'"""
    holder = limit.popen([*own_mounts, limit.replaced(script)], stdin=subprocess.PIPE)
    wait_until("a holder in another container", lambda: "running 1" in limit.run(
        "--global --dir=@DIR/other --status shared").stdout)
    limit.gives(124, "-w 0 --global --dir=@DIR/other shared 1 -- true")
    let_go(holder)
    limit.gives(0, "-w %d --global --dir=@DIR/other shared 1 -- true" % hang_s())


def test_a_full_directory(limit, own_mounts):
    """Room for seven names.  Those that nobody uses make room; then all are to stay."""
    script = """mount -t tmpfs -o size=1m none @DIR/mount || exit 99
        for i in $(seq 10); do @PROGRAM --dir=@DIR/mount unused$i 1 -- true || exit 1; done
        for i in $(seq 10); do @PROGRAM --dir=@DIR/mount --keep kept$i 1 -- true || exit 2; done"""
    ended = run(*own_mounts, limit.replaced(script), env=limit.env)
    assert ended.returncode == 2, ended
    assert re.search("^fairsem-limit: kept[89]: .*/mount is full, and a name takes 130 kB there: "
                     "see --status, --remove", ended.stderr, re.M)


# ---------------------------------------------------------------- removed by others
@pytest.mark.parametrize("how", ("", "--exec"))
def test_the_file_of_a_name_in_use_is_locked(limit, how):
    """systemd-tmpfiles removes what it can lock; both the parent and the command are in the way."""
    needs("flock")
    limit.gives(0, how + " test 1 -- sh -c '! flock -n @DIR/%s true'" % CREATED)
    limit.gives(0, "test 1 -- true")
    assert run("flock", "-n", limit.segment(), "true").returncode == 0, "nobody uses it"


def test_the_name_is_removed_in_spite_of_that(limit):
    limit.gives(0, "test 1 -- rm @DIR/" + CREATED,
                says="@DIR/%s: somebody has removed this name while the command ran" % CREATED)


# ---------------------------------------------------------------- another limit
@pytest.mark.parametrize("now, status, line", (
    pytest.param(2, 0, "-w %d test 1 -- true" % hang_s(), id="the old limit"),
    pytest.param(2, 0, "-w %d test 2 -- true" % hang_s(), id="the new one"),
    pytest.param(2, 125, "test 3 -- true", id="a third one"),
    pytest.param(3, 0, "-w 0 -n 2 test 3 -- true", id="two of three"),
    pytest.param(3, 124, "-w 0 -n 3 test 3 -- true", id="three of three, of which one is held"),
    pytest.param(1, 124, "-w 0 test 1 -- true", id="lowered: nothing is free"),
    pytest.param(1, 125, "--remove test", id="no limit is removed while a command runs")))
def test_another_limit_while_it_is_used(limit, now, status, line):
    """Raised, so that a waiter runs, and changed again."""
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- touch @WORK/second")
    limit.gives(0, "--set-limit=2 test")
    assert waiter.wait() == 0
    assert there(limit.work, "second")
    assert limit.shows("limit 2, free 1, running 1, waiting 0")
    limit.gives(0, "--set-limit %d test" % now)
    limit.gives(status, line)
    let_go(holder)
    limit.gives(0, "test 1 -- true")


def test_a_set_limit_holds_while_nobody_uses_the_name(limit):
    limit.gives(0, "--set-limit 5 test")
    # The old one is still known.
    assert "limit 5, free 4" in limit.gives(0, "test 1 -- @PROGRAM --status test")
    limit.gives(0, "--remove test")
    assert "limit 1, free 0" in limit.gives(0, "test 1 -- @PROGRAM --status test")


def test_a_command_for_more_than_the_new_limit(limit):
    limit.gives(0, "b 3 -- true")
    limit.gives(0, "--set-limit 1 b")
    limit.gives(125, "-n 2 b 3 -- true",
                says="2 units are more than the limit of b, 1: --set-limit has changed it")


def test_the_limit_of_a_global_name_that_is_kept(limit):
    limit.gives(0, "--global test 1 -- true")
    limit.gives(0, "--global --set-limit 4 --keep test")
    assert "limit 4" in limit.gives(0, "--global --status test")
    assert os.stat(os.path.join(limit.dir, "fairsem-limit.test")).st_mode & 0o1000


# ---------------------------------------------------------------- names that nobody uses
def touch(hours, *paths):
    """They have last been used so many hours ago."""
    for path in paths:
        at = time.time() - hours * 3600
        os.utime(path, (at, at), follow_symlinks=False)


def test_a_name_that_nobody_has_used_for_a_day_goes(limit):
    segment = limit.segment
    # First: what it removes in passing, when it has begun, it must have looked for before any name is old.
    holder = limit.hold("held 1", name="held")
    for name in "old", "tomorrow":
        limit.gives(0, name + " 1 -- true")
    limit.gives(0, "--keep kept 1 -- true")
    limit.gives(0, "kept 1 -- true")
    limit.gives(0, "--global old 1 -- true")
    everybodys = os.path.join(limit.dir, "fairsem-limit.old")
    others = os.path.join(limit.dir, "other-program")
    open(others, "wb").close()
    os.mkdir(segment("directory"))
    (limit.work / "no-segment").touch()
    os.symlink(limit.work / "no-segment", segment("link"))
    touch(23, segment())
    touch(-24, segment("tomorrow"))
    touch(25, *map(segment, ("old", "kept", "held", "directory", "link")), everybodys, others)
    limit.gives(0, "--exec new 1 -- true")
    assert not there(segment("old")) and not there(everybodys)
    for name in "test", "kept", "tomorrow", "held", "directory", "link", "new":
        assert there(segment(name))
    assert there(others)
    let_go(holder)
    # The command that has ended has used the name; this is also what the parent removes in passing.
    limit.gives(0, "old 1 -- true")
    touch(25, segment("old"))
    limit.gives(0, "new 1 -- true")
    wait_until("the old name goes", lambda: not there(segment("old")))
    assert there(segment("held")), "the end of a command is no use of its name"


def test_the_status_removes_it_in_passing(limit):
    limit.gives(0, "old 1 -- true")
    touch(25, limit.segment("old"))
    limit.gives(0, "--status")
    wait_until("the old name goes", lambda: not there(limit.segment("old")))


def test_a_name_that_is_kept_is_removed(limit):
    limit.gives(0, "--keep kept 1 -- true")
    limit.gives(0, "--remove kept")
    assert not there(limit.segment("kept"))

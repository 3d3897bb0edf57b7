# SPDX-License-Identifier: MIT
"""The directories of fairsem-limit's names, and the creation and removal of names."""

import os
import re
import shutil
import subprocess

import pytest

from cases import hang_s, needs, run, wait_until
from conftest import let_go, row, unshared

CREATED = "fairsem-limit-%d.test" % os.getuid()


def there(*parts):
    return os.path.exists(os.path.join(*parts))


# ---------------------------------------------------------------- directories
@pytest.fixture
def other(limit):
    """Another directory, where the name has another limit."""
    path = os.path.join(limit.dir, "other")
    os.mkdir(path)
    limit.gives(0, "--dir=@DIR/other --keep test 3 -- true")
    return path


def test_a_name_is_a_file_in_the_directory(limit, other):
    limit.gives(0, "--keep test 1 -- true")
    assert there(limit.dir, CREATED) and there(other, CREATED)
    assert os.stat(os.path.join(other, CREATED)).st_mode & 0o777 == 0o600, "it is this user's alone"
    limit.gives(0, "--dir=@DIR/other// test 3 -- true")
    assert limit.gives(0, "--dir=@DIR/other --status") \
        == "test: limit 3, free 3, running 0, waiting 0\n"
    assert limit.shows("limit 1"), "a name in one directory is one in the other"
    limit.gives(0, "--dir=@DIR/other --remove test")
    assert there(limit.dir, CREATED) and not there(other, CREATED)


def test_a_link_to_a_directory_is_followed(limit, other):
    limit.gives(0, "--dir=@DIR/other --remove test")
    os.symlink("other", os.path.join(limit.dir, "link"))
    limit.gives(0, "--dir=@DIR/link --keep test 1 -- true")
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
    row("a limit below 0", 125, "--set-limit -1 test"),
    row("the limit 0 of a command", 125, "test 0 -- true"),
    row("no limit", 125, "--set-limit test"),
    row("no name", 125, "--set-limit 2")))
def test_a_wrong_command_line_is_an_error(limit, status, line, says):
    limit.gives(status, line, says=says)


@pytest.fixture
def default(limit):
    """A name for this case in the default directories, and the name of its file."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("not here: /dev/shm, which cannot be written")
    limit.env["FAIRSEM_LIMIT_DIR"] = ""
    name = "test-%d" % os.getpid()
    yield name, "fairsem-limit-%d.%s" % (os.getuid(), name)
    for where in "", "--dir=/dev/shm":
        limit.run("%s --remove --force %s" % (where, name))


def private_directory(limit):
    """The directory of this user's own names, if the machine has one."""
    if os.getuid() == 0:
        return "/run/fairsem-limit"
    parent = limit.work / "runtime"
    parent.mkdir(mode=0o700, exist_ok=True)
    limit.env["XDG_RUNTIME_DIR"] = str(parent)
    return str(parent / "fairsem-limit")


def test_own_names_are_where_only_their_user_can_write(limit, default):
    name, file = default
    path = os.path.join(private_directory(limit), file)
    limit.gives(0, "%s 1 -- test -f %s" % (name, path))
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    assert not there(path), "its last user removes it"
    # Files that another user puts into /dev/shm have no effect.
    for put in os.mkdir, os.mkfifo, lambda way: os.symlink("/etc/passwd", way):
        way = "/dev/shm/" + file
        put(way)
        try:
            limit.gives(0, "-w 0 %s 1 -- test -f %s" % (name, path))
            assert name not in limit.gives(0, "--status", env={"LC_ALL": "C"})
        finally:
            (os.rmdir if os.path.isdir(way) else os.unlink)(way)


def test_a_name_that_is_in_dev_shm_is_used_there(limit, default):
    """Version 1.0 may have created such a name."""
    name, file = default
    path = os.path.join(private_directory(limit), file)
    limit.gives(0, "--dir=/dev/shm/ --keep %s 1 -- true" % name)
    limit.gives(0, "%s 1 -- sh -c 'test -f /dev/shm/%s && test ! -e %s'" % (name, file, path))
    # A command inside of another one, with another text for the same directory.
    limit.gives(0, "%s 1 -- @PROGRAM --dir=/dev/shm/ -w 0 %s 1 -- true" % (name, name))
    assert name + ": limit 1" in limit.gives(0, "--status")
    limit.gives(0, "--remove " + name)
    assert not there("/dev/shm", file)


def test_a_file_that_others_may_write_is_not_an_old_name(limit, default):
    """Another user may make a hard link to a file that both may write."""
    name, file = default
    path = os.path.join(private_directory(limit), file)
    limit.gives(0, "--global --keep %s 3 -- true" % name)
    os.link("/dev/shm/fairsem-limit." + name, "/dev/shm/" + file)
    try:
        limit.gives(0, "%s 1 -- test -f %s" % (name, path))
    finally:
        limit.run("--global --remove --force " + name)


def test_a_private_directory_that_is_full_is_an_error(limit, own_mounts):
    """If fairsem-limit used /dev/shm instead, a name could be in two places."""
    limit.env["FAIRSEM_LIMIT_DIR"] = ""
    where = "/run" if os.getuid() == 0 else "$XDG_RUNTIME_DIR"
    private_directory(limit)
    script = """mount -t tmpfs -o nr_inodes=4,mode=755 none %s && mkdir -m 700 %s/fairsem-limit || exit 99
        @PROGRAM --keep test-inside 1 -- touch %s/full || exit 1
        @PROGRAM test-other 1 -- true""" % (where, where, where)
    ended = run(*own_mounts, limit.replaced(script), env=limit.env)
    assert ended.returncode == 125, ended
    assert re.search("^fairsem-limit: test-other: .*/fairsem-limit is full", ended.stderr, re.M), ended


@pytest.mark.parametrize("mode", (0o755, 0o770, 0o707))
def test_a_directory_that_others_may_use_is_not_private(limit, default, mode):
    if os.getuid() == 0:
        pytest.skip("not here: a directory of root that is not /run")
    name, file = default
    private = private_directory(limit)
    os.mkdir(private)
    os.chmod(private, mode)
    limit.gives(0, "%s 1 -- test -f /dev/shm/%s" % (name, file))


@pytest.mark.parametrize("mode", ("775", "757", "1777"))
def test_a_private_directory_is_not_where_others_may_write(limit, default, own_mounts, mode):
    """The script runs as root, perhaps in a namespace."""
    script = """mount -t tmpfs -o mode=%s none /run || exit 99
        @PROGRAM %s 1 -- test -f /dev/shm/fairsem-limit-0.%s""" % (mode, default[0], default[0])
    ended = run(*own_mounts, limit.replaced(script), env=limit.env)
    assert ended.returncode == 0, ended


# ---------------------------------------------------------------- other users
@pytest.fixture
def foreign(limit):
    """Returns a function that gives a file in the directory of names to another user."""
    if os.getuid() != 0:
        pytest.skip("not here: another user: only root can give a file away")

    def give(make, path):
        make(path)
        os.chown(path, 4711, 4711, follow_symlinks=False)
        return path
    return give


def make_link(path):
    os.symlink("/etc/passwd", path)


@pytest.mark.parametrize("make", (os.mkdir, os.mkfifo, make_link, lambda path: open(path, "wb").close(),
                                  lambda path: shutil.copyfile(path[:-len("test")] + "model", path)),
                         ids=("directory", "fifo", "link", "file", "segment"))
def test_files_of_another_user_are_refused(limit, foreign, make):
    limit.gives(0, "--keep model 1 -- true")
    foreign(make, limit.segment())
    for line in "-w 0 test 1 -- true", "--status test", "--set-limit 2 test", "--remove test":
        limit.gives(125, line, says="test: @DIR/%s belongs to user 4711$" % CREATED)
    ended = limit.run("--status")
    assert ended.returncode == 0 and ended.stdout == "model: limit 1, free 1, running 0, waiting 0\n"
    assert ended.stderr == "fairsem-limit: test: %s belongs to user 4711\n" % limit.segment()
    limit.gives(0, "--remove --force test")         # as root
    assert not there(limit.segment())


def test_the_status_of_all_reads_no_global_name_of_another_user(limit, foreign):
    """The owner could truncate the file while it is read."""
    limit.gives(0, "--global --keep test 1 -- true")
    path = os.path.join(limit.dir, "fairsem-limit.test")
    os.chown(path, 4711, 4711)
    ended = limit.run("--status")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr == "fairsem-limit: test: %s belongs to user 4711; see --global --status test\n" % path
    assert "limit 1" in limit.gives(0, "--global --status test")


def test_a_global_name_that_was_truncated_hides_no_other_name(limit):
    limit.gives(0, "--global --keep test 1 -- true")
    limit.gives(0, "--global --keep zz 1 -- true")
    # The file is too short when --status reads it.
    os.truncate(os.path.join(limit.dir, "fairsem-limit.test"), 4096)
    told = limit.gives(125, "--status", says="^fairsem-limit: test: it is damaged; ")
    assert "zz (all users): limit 1" in told


def test_keep_changes_no_file(limit, foreign):
    """The owner of a global name could replace its file by a link."""
    target = limit.work / "target"
    target.touch(mode=0o644)
    limit.gives(0, "--global --keep test 1 -- sh -c 'rm @DIR/fairsem-limit.test; ln -s %s @DIR/fairsem-limit.test'"
                % target, says="this name was removed")
    assert target.stat().st_mode & 0o7777 == 0o644
    limit.gives(125, "--global --keep test 1 -- true")
    limit.gives(125, "--global --set-limit=2 --keep test")
    assert target.stat().st_mode & 0o7777 == 0o644


def test_a_damaged_name_says_what_removes_it(limit):
    for options in "", "--global":
        path = limit.segment() if not options else os.path.join(limit.dir, "fairsem-limit.test")
        open(path, "wb").close()
        line = "%s --dir=%s --remove --force test" % (options, limit.dir)
        for asks in " test 1 -- true", " --status test", " --set-limit=2 test", " --remove test", " --status":
            if asks != " --status" or not options:
                limit.gives(125, "--dir=@DIR " + options + asks,
                            says="test: it is damaged; this removes it: fairsem-limit %s$" % line.strip())
        limit.gives(0, line)


@pytest.fixture
def own_mounts(limit):
    """Makes a directory for a mount.  Returns the command that runs a script in a mount namespace."""
    mount = os.path.join(limit.dir, "mount")
    os.mkdir(mount)
    command = unshared("--mount", user="--map-root-user")
    if run(*command, "mount", "--bind", limit.dir, mount).returncode != 0:
        pytest.skip("not here: two mounts of one directory")
    return [*command, "sh", "-c"]


def test_two_containers_share_the_units_of_a_directory(limit, other, own_mounts):
    script = """mount --bind @DIR/other @DIR/mount &&
        exec @PROGRAM --global --dir=@DIR/mount shared 1 -- sh -c 'read -r line'"""
    holder = limit.popen([*own_mounts, limit.replaced(script)], stdin=subprocess.PIPE)
    wait_until("a holder in another container", lambda: "running 1" in limit.run(
        "--global --dir=@DIR/other --status shared").stdout)
    limit.gives(124, "-w 0 --global --dir=@DIR/other shared 1 -- true")
    let_go(holder)
    limit.gives(0, "-w %d --global --dir=@DIR/other shared 1 -- true" % hang_s())


def test_unused_names_make_room_in_a_full_directory(limit, own_mounts):
    """The directory has room for six names.  Unused names make room; kept ones do not."""
    script = """mount -t tmpfs -o size=1m none @DIR/mount || exit 99
        for i in $(seq 10); do @PROGRAM --exec --dir=@DIR/mount unused$i 1 -- true || exit 1; done
        for i in $(seq 10); do @PROGRAM --dir=@DIR/mount --keep kept$i 1 -- true || exit 2; done"""
    ended = run(*own_mounts, limit.replaced(script), env=limit.env)
    assert ended.returncode == 2, ended
    assert re.search("^fairsem-limit: kept[67]: .*/mount is full, and a name takes 170 kB there: "
                     "see --status, --remove", ended.stderr, re.M)


# ---------------------------------------------------------------- removed by others
@pytest.mark.parametrize("how", ("", "--exec"))
def test_the_file_of_a_name_in_use_is_locked(limit, how):
    """systemd-tmpfiles removes files that it can lock.  The parent and the command both hold the lock."""
    needs("flock")
    limit.gives(0, "--keep %s test 1 -- sh -c '! flock -n @DIR/%s true'" % (how, CREATED))
    assert run("flock", "-n", limit.segment(), "true").returncode == 0, "nobody uses it"


def test_a_name_that_was_removed_is_reported(limit):
    limit.gives(0, "test 1 -- rm @DIR/" + CREATED,
                says="@DIR/%s: this name was removed while the command ran" % CREATED)


# ---------------------------------------------------------------- another limit
@pytest.mark.parametrize("now, status, line", (
    pytest.param(2, 0, "-w %d test 1 -- true" % hang_s(), id="the old limit"),
    pytest.param(2, 0, "-w %d test 2 -- true" % hang_s(), id="the new one"),
    pytest.param(2, 125, "test 3 -- true", id="a third one"),
    pytest.param(3, 0, "-w 0 -n 2 test 3 -- true", id="two of three"),
    pytest.param(3, 124, "-w 0 -n 3 test 3 -- true", id="three of three, of which one is held"),
    pytest.param(1, 124, "-w 0 test 1 -- true", id="lowered: nothing is free"),
    pytest.param(1, 125, "--remove test", id="no limit is removed while a command runs")))
def test_the_limit_of_a_name_in_use_can_be_changed(limit, now, status, line):
    """The limit is raised, and then changed again."""
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


def test_a_set_limit_holds_while_no_command_uses_the_name(limit):
    limit.gives(0, "test 1 -- @PROGRAM --set-limit 5 test")
    limit.gives(125, "--set-limit 5 none", says="none: there is no such name$")
    # The name still knows its first limit.
    assert "limit 5, free 4" in limit.gives(0, "test 1 -- @PROGRAM --status test")
    limit.gives(0, "--remove test")
    assert "limit 1, free 0" in limit.gives(0, "test 1 -- @PROGRAM --status test")


def test_a_command_for_more_than_the_new_limit_is_refused(limit):
    limit.gives(0, "b 3 -- @PROGRAM --set-limit 1 b")
    limit.gives(125, "-n 2 b 3 -- true",
                says="2 units are more than the limit of b, 1: --set-limit has changed it")


def test_a_name_with_the_limit_0_is_drained(limit):
    """Running commands go on, and no command begins.  Waiters stay in the queue, and new commands join it."""
    holder = limit.hold()
    first = limit.wait(1, "test 1 -- sh -c 'echo first >> @WORK/order'")
    limit.gives(0, "--set-limit=0 test")
    assert limit.shows("limit 0, free -1, running 1, waiting 1")
    second = limit.wait(2, "test 1 -- sh -c 'echo second >> @WORK/order'")
    limit.gives(125, "--remove test")
    let_go(holder)
    assert limit.await_status("limit 0, free 0, running 0, waiting 2")
    limit.gives(124, "-w 0 test 1 -- true")
    limit.gives(0, "--set-limit=1 test")
    assert (first.wait(), second.wait()) == (0, 0)
    assert (limit.work / "order").read_text() == "first\nsecond\n"


def test_a_drained_name_stays_drained_while_no_command_uses_it(limit):
    limit.gives(0, "test 1 -- @PROGRAM --set-limit=0 test")
    limit.gives(124, "-w 0 test 1 -- true")
    limit.gives(125, "test 2 -- true", says="the limit is 0, not 2, and changes .* only by --set-limit")
    assert limit.shows("limit 0")
    limit.gives(0, "--remove test")
    limit.gives(0, "-w 0 test 1 -- true")


def test_the_limit_of_a_kept_global_name_can_be_changed(limit):
    limit.gives(0, "--global test 1 -- @PROGRAM --global --set-limit 1 --keep test")
    limit.gives(0, "--global --set-limit 4 test")
    assert "limit 4" in limit.gives(0, "--global --status test")


def test_a_limit_is_set_while_the_last_user_leaves(limit):
    """If --set-limit succeeds, the name has the new limit.  Otherwise the user had removed the name."""
    for _ in range(50):
        holder = limit.start("test 1 -- true")
        status = limit.run("--set-limit=7 test").returncode
        assert holder.wait() == 0
        if status == 0:
            assert "limit 7" in limit.gives(0, "--status test")
            limit.gives(0, "--remove test")


def test_the_first_limit_is_set_again_and_the_last_user_leaves(limit):
    """The user may have removed the name before --set-limit checks that the name still exists."""
    for _ in range(50):
        holder = limit.hold()
        limit.gives(0, "--set-limit=0 test")
        waiter = limit.wait(1, "test 1 -- true")
        let_go(holder)
        limit.gives(0, "--set-limit=1 test")
        assert (holder.wait(), waiter.wait()) == (0, 0)
        assert not there(limit.segment())


# ---------------------------------------------------------------- names that nobody uses
def test_the_last_user_removes_the_name(limit):
    for number in 1, 2, 3:
        holder = limit.hold("test 2")
        second = limit.hold("test 2", "running 2")
        let_go(holder)
        assert there(limit.segment())
        let_go(second)
        second.wait()
        assert not there(limit.segment()), number


def test_a_name_that_is_kept_stays(limit):
    limit.gives(0, "--keep test 1 -- true")
    limit.gives(0, "test 1 -- true")
    assert there(limit.segment())
    limit.gives(0, "--remove test")
    assert not there(limit.segment())


def test_a_name_of_killed_users_stays_until_the_next_user(limit):
    holder = limit.hold()
    holder.kill()
    holder.wait()
    assert there(limit.segment())
    limit.gives(0, "test 1 -- true")
    assert not there(limit.segment())


def test_a_command_that_cannot_be_executed_leaves_no_name(limit):
    command = limit.work / "command"
    command.write_text("#!/no/such/interpreter\n")
    command.chmod(0o755)
    for options in "", "--exec":
        assert limit.run("%s test 1 -- %s" % (options, command)).returncode in (126, 127)
        assert not there(limit.segment())

# SPDX-License-Identifier: MIT
"""The limit between machines at one member of a real etcd: order, ends, names, damage."""

import os
import signal

import pytest

from cases import WORK, wait_until
from etcd import DAMAGE, HOLD, judge_history, judge_log
from proxy import Proxy

ENDS = 10          # a lease whose end a case awaits, long enough for the user's work


# ---------------------------------------------------------------- the judge
def put(revision, key, value=""):
    return (revision, "PUT", "fairsem/n/" + key, value)


def begin(revision, lease, priority="5", units=1):
    return [(revision, "DELETE", "fairsem/n/q/%s/%s" % (priority, lease), ""),
            put(revision, "r/" + lease, '{"units":%d}' % units)]


TWO = [put(2, "r-limit", "2 2"), put(2, "q/5/b"), put(3, "q/5/a"), put(4, "q/4/c")]


def test_the_judge_counts(tmp_path):
    assert judge_history(TWO + begin(5, "c", "4") + begin(6, "b")) == 2
    assert judge_history(TWO + [put(5, "r-limit", "3 2")] + begin(6, "c", "4", 3)) == 1
    log = tmp_path / "log"
    log.write_text("begin 10 1 1\nbegin 12 2 2\nuse 13 1 1\nuse 14 2 2\n")
    assert judge_log(log, 3) == 2
    with pytest.raises(AssertionError):
        judge_log(log, 2)


@pytest.mark.parametrize("events", (
    pytest.param(TWO[:3] + begin(5, "a"), id="the later first"),
    pytest.param(TWO + begin(5, "b"), id="the worse priority first"),
    pytest.param(TWO[:1] + begin(5, "b"), id="without waiting"),
    pytest.param(TWO[:3] + begin(5, "b", units=2) + begin(6, "a"), id="too many"),
    pytest.param(TWO + [put(5, "r-limit", "1 2")] + begin(6, "c", "4", 2), id="too many now"),
    pytest.param(TWO + [put(5, "r-limit", "3 3")], id="another limit"),
    pytest.param(TWO + [(5, "DELETE", "fairsem/n/r-limit", "")], id="without a limit")))
def test_the_judge_finds_each_violation(events):
    with pytest.raises(AssertionError):
        judge_history(events)


# ---------------------------------------------------------------- at etcd
def test_requests_are_served_by_priority_then_by_arrival(etcd):
    holder = etcd.holder(name="order")
    others = [etcd.waiter(name="order", priority=priority) for priority in (0, 0, -5, 7, -5, 0)]
    assert holder.finish()[0] == 0
    fences = [int(other.result()[1].split()[1]) for other in others]
    assert sorted(range(6), key=lambda i: fences[i]) == [2, 4, 0, 1, 5, 3]
    assert etcd.running() + etcd.waiting() == 0


def test_a_limit_is_set_while_it_is_used(etcd):
    """After a raise one more user begins.  With 0 no user begins, and new users join the queue."""
    holders = [etcd.holder(name="set", limit=1)]
    waiter = etcd.waiter(name="set", hold=HOLD)
    assert etcd.user(name="set", set=2).result() == (0, "Success")
    wait_until("it runs", lambda: etcd.running() == 2)
    assert etcd.user(name="set", set=0).result() == (0, "Success")
    behind = [etcd.waiter(name="set", limit=limit) for limit in (1, 1)]
    assert etcd.user(name="set", limit=2).result() == (1, "EINVAL")
    for holder in holders + [waiter]:
        assert holder.finish()[0] == 0
    wait_until("nobody runs", lambda: etcd.running() == 0)
    assert etcd.waiting() == 2
    assert etcd.user(name="set", timeout=-1).result() == (1, "ETIMEDOUT")
    assert etcd.user(name="set", set=1).result() == (0, "Success")
    assert [each.result()[0] for each in behind] == [0, 0]
    assert etcd.user(name="set-none", set=1).result() == (1, "ENOENT")


def test_no_request_overtakes_a_large_request(etcd):
    """Of three units one is held.  A user waits for three units; another user, behind the first, for one."""
    holder = etcd.holder(name="large", limit=3)
    large = etcd.waiter(name="large", limit=3, units=3)
    small = etcd.waiter(name="large", limit=3, units=1)
    assert holder.finish()[0] == 0
    assert int(large.result()[1].split()[1]) < int(small.result()[1].split()[1])


def test_a_wait_that_ends_leaves_nothing(etcd):
    """A time-out, a try, or another limit ends a wait.  None of its keys stays, and the next user is served."""
    holder = etcd.holder(name="leave")
    timeout = 300
    while True:
        assert etcd.user(name="leave", timeout=timeout).result() == (1, "ETIMEDOUT")
        if sum(kind == "PUT" and key.startswith("fairsem/leave/q/")
               for _, kind, key, _ in etcd.history()) > 1:
            break
        timeout *= 2        # the user timed out before it joined
    assert etcd.user(name="leave", timeout=-1).result() == (1, "ETIMEDOUT")
    assert etcd.user(name="leave", limit=2).result() == (1, "EINVAL")
    assert etcd.waiting() == 0
    assert holder.finish()[0] == 0
    assert etcd.user(name="leave", limit=2).result()[0] == 0


def test_units_of_killed_users_come_back(etcd):
    """The waiter behind the killed users is served when their leases end."""
    holder = etcd.holder(name="dead", ttl=ENDS)
    first = etcd.waiter(name="dead", ttl=ENDS)
    second = etcd.waiter(name="dead")
    first.kill()
    holder.kill()
    assert second.result()[0] == 0
    for each in (first, holder):
        each.communicate()


def test_a_stopped_holder_finds_its_hold_lost(etcd):
    """The next user begins, and the holder does not go on."""
    log = os.path.join(WORK, "stopped.log")
    holder = etcd.holder(name="stopped", log=log, ttl=ENDS)
    next_one = etcd.waiter(name="stopped", log=log)
    holder.send_signal(signal.SIGSTOP)
    assert next_one.result()[0] == 0
    holder.send_signal(signal.SIGCONT)
    status, printed = holder.result()
    assert (status, printed.split()[0]) == (2, "lost")
    assert judge_log(log, 1) == 2


def test_a_dead_watch_is_detected(etcd):
    """The bytes of a waiter are dropped silently, once while it is second, and once while it is first."""
    proxy = Proxy(etcd.urls[0])
    holder = etcd.holder(name="dead-watch")
    first = etcd.waiter(name="dead-watch", hold=HOLD)
    second = etcd.waiter(name="dead-watch", endpoints=proxy.url, ttl=30)
    wait_until("it watches", lambda: proxy.watches > 0)
    before = proxy.watches
    proxy.drop()
    assert holder.finish()[0] == 0
    wait_until("the first runs", lambda: etcd.running() == 1 and etcd.waiting() == 1)
    wait_until("it has noticed, and watches what runs", lambda: proxy.watches > before)
    proxy.drop()
    assert first.finish()[0] == 0
    assert second.result()[0] == 0
    proxy.stop()


def test_a_partition_ends_a_hold_before_another_hold_begins(etcd):
    """The next user begins only when the holder's lease ends."""
    log = os.path.join(WORK, "partition.log")
    proxy = Proxy(etcd.urls[0])
    holder = etcd.holder(name="partition", ttl=ENDS, log=log, endpoints=proxy.url)
    next_one = etcd.waiter(name="partition", log=log)
    lost = etcd.waiter(name="partition", ttl=ENDS, endpoints=proxy.url)
    proxy.drop(new=True)
    assert holder.result() == (2, "lost ENETUNREACH")
    assert lost.result() == (1, "ENETUNREACH")
    assert next_one.result()[0] == 0
    assert judge_log(log, 1) == 2
    proxy.let_pass()
    assert etcd.user(name="partition", endpoints=proxy.url).result()[0] == 0
    proxy.stop()


def test_names_are_bytes(etcd):
    """Names that are prefixes of each other, or have bytes with a meaning in keys, URLs or JSON."""
    names = [b"a", b"a/", b"a/q", b"%", b"%2F", b"\xff\xfe", b"a b?#&+\"'\\\n\t", b"\x01",
             b"x" * 255]
    holders = [etcd.user(name=os.fsdecode(name), hold=HOLD) for name in names]
    wait_until("all run", lambda: etcd.running() == len(names))
    listed = etcd.user(names=1).communicate()[0]
    assert all(name + b" 1\n" in listed for name in names)
    for holder in holders:
        assert holder.finish()[0] == 0
    assert etcd.user(name="x" * 256).result() == (1, "open EINVAL")
    assert etcd.user(name="").result() == (1, "open EINVAL")


def test_users_are_listed(etcd):
    holder = etcd.holder(name="list", limit=5, units=4)
    waiter = etcd.waiter(name="list", limit=5, units=2, priority=3)
    assert etcd.user(name="list", list=1).result()[1].split("\n") == [
        "count 2", "units 4 place 0 priority 0 pid %d cluster_user" % holder.pid,
        "units 2 place 1 priority 3 pid %d cluster_user" % waiter.pid]
    # A key that the library has not made: a list shows the key, and an acquire fails.
    etcd.ctl("put", "fairsem/list/r/0000000000000007", DAMAGE)
    assert etcd.user(name="list", list=1).result()[1].split("\n")[2] \
        == "units -1 place 0 priority 0 pid 0 fairsem/list/r/0000000000000007"
    assert etcd.user(name="list", limit=5).result() == (1, "EPROTO")
    etcd.ctl("del", "fairsem/list/r/0000000000000007")
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0


def test_many_threads_share_a_handle(etcd):
    log = os.path.join(WORK, "threads.log")
    assert etcd.user(name="threads", limit=3, threads=40, log=log).result()[0] == 0
    assert judge_log(log, 3) == 40


def test_all_requests_begin_in_order_within_the_limit(etcd):
    assert judge_history(etcd.history()) > 0


def test_a_compaction_breaks_no_watch(etcd):
    proxy = Proxy(etcd.urls[0])
    holder = etcd.holder(name="compact")
    waiter = etcd.user(name="compact", endpoints=proxy.url)
    wait_until("it watches", lambda: proxy.watches > 0)
    for i in range(20):
        etcd.ctl("put", "other", str(i))
    revision = etcd.ctl("get", "other", "-w", "fields").split('"Revision" : ')[1].split()[0]
    etcd.ctl("compact", revision)
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0
    proxy.stop(drops=False)


def test_a_full_disk_is_an_error(etcd):
    """No key can be put, but a hold can be released."""
    holder = etcd.holder(name="full")
    etcd.signal(0, signal.SIGKILL)
    etcd.commands[0] += ["--quota-backend-bytes", "1000000"]
    etcd.start(0)
    etcd.wait_healthy()
    big = "x" * 100000
    for i in range(30):
        etcd.run("put", "big%d" % i, big)
    assert "NOSPACE" in etcd.ctl("alarm", "list")
    assert holder.finish()[0] == 0
    assert etcd.user(name="full").result() == (1, "ENOSPC")

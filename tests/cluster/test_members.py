# SPDX-License-Identifier: MIT
"""The limit between machines at three members of etcd that end, hang, and change their leader."""

import signal
import time

import pytest

from cases import wait_until
from etcd import judge_history, judge_log
from proxy import Proxy

TTL = 24
MEMBERS = 3


@pytest.fixture
def log(tmp_path):
    yield tmp_path / "log"
    judge_log(tmp_path / "log", 1)


@pytest.fixture
def hold_and_wait(etcd, log):
    def both(first, **options):
        """Starts a holder and a waiter, both with this member as the first endpoint."""
        options = {"name": log.parent.name, "ttl": TTL, "log": log, **options}
        return etcd.holder(first, **options), etcd.waiter(first, **options)
    return both


def both_succeed(etcd, holder, waiter):
    etcd.wait_renewed()
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0


@pytest.mark.parametrize("behind_the_leader", (pytest.param(0, id="the leader"),
                                               pytest.param(1, id="another")))
def test_a_member_ends(etcd, hold_and_wait, behind_the_leader):
    member = (etcd.leader() + behind_the_leader) % 3
    holder, waiter = hold_and_wait(member)
    etcd.signal(member, signal.SIGKILL)
    both_succeed(etcd, holder, waiter)
    etcd.start(member)
    etcd.wait_healthy()


def test_the_leader_changes(etcd, hold_and_wait):
    leader = etcd.leader()
    holder, waiter = hold_and_wait(leader)
    status = etcd.ctl("endpoint", "status", "-w", "fields")
    ids = [line.split(" : ")[1] for line in status.split("\n") if line.startswith('"MemberID"')]
    etcd.run("--endpoints", etcd.urls[leader], "move-leader", "%x" % int(ids[(leader + 1) % 3]))
    wait_until("it has moved", lambda: etcd.leader() != leader)
    both_succeed(etcd, holder, waiter)


def test_a_member_hangs(etcd, hold_and_wait):
    """The member's clients get no answers, and their watches would never end.  The renewals notice the hang."""
    member = (etcd.leader() + 1) % 3
    holder, waiter = hold_and_wait(member)
    etcd.signal(member, signal.SIGSTOP)
    both_succeed(etcd, holder, waiter)
    etcd.signal(member, signal.SIGCONT)
    etcd.wait_healthy()


def test_the_way_to_a_member_is_cut(etcd, hold_and_wait):
    """The proxy drops all bytes, but no connection breaks."""
    proxy = Proxy(etcd.urls[0])
    urls = ",".join([proxy.url] + etcd.urls[1:])
    holder, waiter = hold_and_wait(0, endpoints=urls)
    proxy.drop(new=True)
    both_succeed(etcd, holder, waiter)
    proxy.stop()


def test_most_members_hang_for_a_while(etcd, hold_and_wait):
    holder, waiter = hold_and_wait(0)
    etcd.wait_renewed()
    for member in (0, 1):
        etcd.signal(member, signal.SIGSTOP)
    time.sleep(TTL * 0.4)   # renewals come after a third of the lease, and three quarters would be too long
    for member in (0, 1):
        etcd.signal(member, signal.SIGCONT)
    both_succeed(etcd, holder, waiter)
    etcd.wait_healthy()


def test_all_members_hang(etcd, log, hold_and_wait):
    """The holder stops before its lease ends; the waiter reports that no member answers."""
    holder, waiter = hold_and_wait(0, ttl=10)
    wait_until("it knows", lambda: "begin" in log.read_text())
    for member in range(3):
        etcd.signal(member, signal.SIGSTOP)
    assert holder.result() == (2, "lost ENETUNREACH")
    assert waiter.result() == (1, "ENETUNREACH")
    assert etcd.user(name=log.parent.name, log=log, ttl=10).result() == (1, "ENETUNREACH")
    for member in range(3):
        etcd.signal(member, signal.SIGCONT)
    etcd.wait_healthy()
    assert etcd.user(name=log.parent.name, log=log).result()[0] == 0


def test_all_requests_begin_in_order_within_the_limit(etcd):
    assert judge_history(etcd.history()) > 0

# SPDX-License-Identifier: MIT
"""members.py WORK [SCENARIO...] - the limit between machines at three members that end and hang."""

import os
import signal
import sys
import time

from etcd import LONG, Etcd, User, judge_history, judge_log
from hang import limit_time, wait_until
from proxy import Proxy

work = sys.argv[1]
TTL = 24
etcd = None


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError("%s: %r, not %r" % (what, found, wanted))


def user(first=0, **options):
    """A user that begins with this endpoint."""
    urls = etcd.urls[first:] + etcd.urls[:first]
    return User(**{"endpoints": ",".join(urls), "ttl": TTL, "log": os.path.join(work, "log"),
                   **options})


def hold_and_wait(name, first, **options):
    """One that holds for a while and one that waits, both at a member."""
    holder = user(first, name=name, hold=1000000000, **options)
    wait_until("it runs", lambda: etcd.running() == 1)
    waiter = user(first, name=name, **options)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    return holder, waiter


def both_succeed(holder, waiter):
    etcd.wait_renewed()
    expect("holder", holder.finish()[0], 0)
    expect("waiter", waiter.result()[0], 0)


def the_leader_ends():
    leader = etcd.leader()
    holder, waiter = hold_and_wait("leader", leader)
    etcd.signal(leader, signal.SIGKILL)
    both_succeed(holder, waiter)
    etcd.start(leader)
    etcd.wait_healthy()


def another_member_ends():
    member = (etcd.leader() + 1) % 3
    holder, waiter = hold_and_wait("member", member)
    etcd.signal(member, signal.SIGKILL)
    both_succeed(holder, waiter)
    etcd.start(member)
    etcd.wait_healthy()


def the_leader_changes():
    leader = etcd.leader()
    holder, waiter = hold_and_wait("moves", leader)
    status = etcd.ctl("endpoint", "status", "-w", "fields")
    ids = [line.split(" : ")[1] for line in status.split("\n") if line.startswith('"MemberID"')]
    etcd.run("--endpoints", etcd.urls[leader], "move-leader", "%x" % int(ids[(leader + 1) % 3]))
    wait_until("it has moved", lambda: etcd.leader() != leader)
    both_succeed(holder, waiter)


def a_member_hangs():
    """Its clients hear nothing from it, and the watch would never end: the renewals notice."""
    member = (etcd.leader() + 1) % 3
    holder, waiter = hold_and_wait("hangs", member)
    etcd.signal(member, signal.SIGSTOP)
    both_succeed(holder, waiter)
    etcd.signal(member, signal.SIGCONT)
    etcd.wait_healthy()


def the_way_to_a_member_is_cut():
    """Without a word, so that no connection breaks; the other members are used."""
    proxy = Proxy(etcd.urls[0])
    urls = ",".join([proxy.url] + etcd.urls[1:])
    holder, waiter = hold_and_wait("cut", 0, endpoints=urls)
    proxy.drop(new=True)
    both_succeed(holder, waiter)
    proxy.stop()


def most_members_hang_for_a_while():
    """Nobody can do anything; what is held stays held, and the place in the queue stays."""
    holder, waiter = hold_and_wait("while", 0)
    etcd.wait_renewed()
    for member in (0, 1):
        etcd.signal(member, signal.SIGSTOP)
    time.sleep(TTL * 0.4)   # a renewal is due after a third, and three quarters are too long
    for member in (0, 1):
        etcd.signal(member, signal.SIGCONT)
    both_succeed(holder, waiter)
    etcd.wait_healthy()


def all_members_hang():
    """The holder stops itself before the lease ends; the waiter says that nobody answers."""
    holder, waiter = hold_and_wait("all", 0, ttl=10)
    log = os.path.join(work, "log")
    wait_until("it knows", lambda: "begin" in open(log).read())
    for member in range(3):
        etcd.signal(member, signal.SIGSTOP)
    expect("holder", holder.result(), (2, "lost ENETUNREACH"))
    expect("waiter", waiter.result(), (1, "ENETUNREACH"))
    expect("new", user(name="all", ttl=10).result(), (1, "ENETUNREACH"))
    for member in range(3):
        etcd.signal(member, signal.SIGCONT)
    etcd.wait_healthy()
    expect("later", user(name="all", ttl=LONG).result()[0], 0)


def main():
    global etcd
    limit_time()
    etcd = Etcd(work, 3)
    try:
        for name in sys.argv[2:] or [
                "the_leader_ends", "another_member_ends", "the_leader_changes", "a_member_hangs",
                "the_way_to_a_member_is_cut", "most_members_hang_for_a_while", "all_members_hang"]:
            log = os.path.join(work, "log")
            if os.path.exists(log):
                os.remove(log)
            begin = time.monotonic()
            limit_time()
            globals()[name]()
            judge_log(log, 1)
            print("ok: %s, %.1f s" % (name, time.monotonic() - begin), flush=True)
        print("ok: %d began in order, within the limit" % judge_history(etcd.history()))
    finally:
        etcd.stop()


main()

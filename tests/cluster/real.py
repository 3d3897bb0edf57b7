# SPDX-License-Identifier: MIT
"""real.py WORK [SCENARIO...] - the limit between machines at one member of a real etcd."""

import os
import signal
import sys
import time

from etcd import DAMAGE, LONG, Etcd, User, judge_history, judge_log, judge_the_judge
from hang import limit_time, wait_until
from proxy import Proxy

work = sys.argv[1]
HOLD = 1000000000  # until it is told to end
ENDS = 10          # a lease whose end is waited for; until then a user does what it has to
etcd = None


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError("%s: %r, not %r" % (what, found, wanted))


def user(**options):
    return User(**{"endpoints": etcd.endpoints, "ttl": LONG, **options})


def serves_by_priority_then_by_arrival():
    """One holds; six wait with two priorities, and the later ones of the better begin first."""
    holder = user(name="order", hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    others = []
    for number, priority in enumerate((0, 0, -5, 7, -5, 0)):
        others.append(user(name="order", priority=priority))
        wait_until("it waits", lambda: etcd.waiting() == number + 1)
    expect("holder", holder.finish()[0], 0)
    fences = [int(other.result()[1].split()[1]) for other in others]
    expect("order", sorted(range(6), key=lambda i: fences[i]), [2, 4, 0, 1, 5, 3])
    expect("keys", etcd.running() + etcd.waiting(), 0)


def large_requests_are_not_passed():
    """Of three units one is held; two wait for three, then one for one that is free."""
    holder = user(name="large", limit=3, hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    large = user(name="large", limit=3, units=3)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    small = user(name="large", limit=3, units=1)
    wait_until("it waits, too", lambda: etcd.waiting() == 2)
    expect("holder", holder.finish()[0], 0)
    expect("before", int(large.result()[1].split()[1]) < int(small.result()[1].split()[1]), True)


def a_wait_that_ends_leaves_nothing():
    """By time-out, by a try, by another limit: no key of it stays, and the next is not held up."""
    holder = user(name="leave", hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    timeout = 300
    while True:
        expect("time", user(name="leave", timeout=timeout).result(), (1, "ETIMEDOUT"))
        if sum(kind == "PUT" and key.startswith("fairsem/leave/q/")
               for _, kind, key, _ in etcd.history()) > 1:
            break
        timeout *= 2        # it had not even joined
    expect("try", user(name="leave", timeout=-1).result(), (1, "ETIMEDOUT"))
    expect("limit", user(name="leave", limit=2).result(), (1, "EINVAL"))
    expect("waiting", etcd.waiting(), 0)
    expect("holder", holder.finish()[0], 0)
    expect("limit", user(name="leave", limit=2).result()[0], 0)


def what_the_dead_held_comes_back():
    """A holder and the first waiter are killed; the next is served when their leases end."""
    holder = user(name="dead", hold=HOLD, ttl=ENDS)
    wait_until("it runs", lambda: etcd.running() == 1)
    first = user(name="dead", ttl=ENDS)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    second = user(name="dead")
    wait_until("both wait", lambda: etcd.waiting() == 2)
    first.kill()
    holder.kill()
    expect("second", second.result()[0], 0)
    for each in (first, holder):
        each.communicate()


def a_stopped_holder_finds_its_hold_lost():
    """Stopped for longer than its lease: the next begins, and the holder does not go on."""
    log = os.path.join(work, "stopped.log")
    holder = user(name="stopped", hold=HOLD, log=log, ttl=ENDS)
    wait_until("it runs", lambda: etcd.running() == 1)
    next_one = user(name="stopped", log=log)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    holder.send_signal(signal.SIGSTOP)
    expect("next", next_one.result()[0], 0)
    holder.send_signal(signal.SIGCONT)
    status, printed = holder.result()
    expect("holder", (status, printed.split()[0]), (2, "lost"))
    expect("began", judge_log(log, 1), 2)


def a_compaction_breaks_no_watch():
    """The history is cut while one waits."""
    proxy = Proxy(etcd.urls[0])
    holder = user(name="compact", hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    waiter = user(name="compact", endpoints=proxy.url)
    wait_until("it watches", lambda: proxy.watches > 0)
    for i in range(20):
        etcd.ctl("put", "other", str(i))
    revision = etcd.ctl("get", "other", "-w", "fields").split('"Revision" : ')[1].split()[0]
    etcd.ctl("compact", revision)
    expect("holder", holder.finish()[0], 0)
    expect("waiter", waiter.result()[0], 0)
    proxy.stop(drops=False)


def a_dead_watch_is_found_out():
    """Its connections are dropped without a word, once as the second in line, once as the head."""
    proxy = Proxy(etcd.urls[0])
    holder = user(name="dead-watch", hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    first = user(name="dead-watch", hold=HOLD)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    second = user(name="dead-watch", endpoints=proxy.url, ttl=30)
    wait_until("both wait", lambda: etcd.waiting() == 2)
    wait_until("it watches", lambda: proxy.watches > 0)
    before = proxy.watches
    proxy.drop()
    expect("holder", holder.finish()[0], 0)
    wait_until("the first runs", lambda: etcd.running() == 1 and etcd.waiting() == 1)
    wait_until("it has noticed, and watches what runs", lambda: proxy.watches > before)
    proxy.drop()
    expect("first", first.finish()[0], 0)
    expect("second", second.result()[0], 0)
    proxy.stop()


def a_partition_ends_a_hold_before_another_begins():
    """What the holder sends is dropped: it stops, and the next one begins when its lease ends."""
    log = os.path.join(work, "partition.log")
    proxy = Proxy(etcd.urls[0])
    holder = user(name="partition", hold=HOLD, ttl=ENDS, log=log, endpoints=proxy.url)
    wait_until("it runs", lambda: etcd.running() == 1)
    next_one = user(name="partition", log=log)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    lost = user(name="partition", ttl=ENDS, endpoints=proxy.url)
    wait_until("both wait", lambda: etcd.waiting() == 2)
    proxy.drop(new=True)
    expect("holder", holder.result(), (2, "lost ENETUNREACH"))
    expect("the one behind the proxy", lost.result(), (1, "ENETUNREACH"))
    expect("next", next_one.result()[0], 0)
    expect("began", judge_log(log, 1), 2)
    proxy.let_pass()
    expect("again", user(name="partition", endpoints=proxy.url).result()[0], 0)
    proxy.stop()


def names_are_bytes():
    """Names that are prefixes of each other, or have bytes that mean something elsewhere."""
    names = [b"a", b"a/", b"a/q", b"%", b"%2F", b"\xff\xfe", b"a b?#&+\"'\\\n\t", b"\x01",
             b"x" * 255]
    holders = []
    for name in names:
        holders.append(user(name=os.fsdecode(name), hold=HOLD))
    wait_until("all run", lambda: etcd.running() == len(names))
    for holder in holders:
        expect("holder", holder.finish()[0], 0)
    expect("too long", user(name="x" * 256).result(), (1, "open EINVAL"))
    expect("empty", user(name="").result(), (1, "open EINVAL"))


def users_are_listed():
    holder = user(name="list", limit=5, units=4, hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    waiter = user(name="list", limit=5, units=2, priority=3)
    wait_until("it waits", lambda: etcd.waiting() == 1)
    expect("list", user(name="list", list=1).result()[1].split("\n"), [
        "count 2", "units 4 place 0 priority 0 pid %d cluster_user" % holder.pid,
        "units 2 place 1 priority 3 pid %d cluster_user" % waiter.pid])
    # Somebody else's key among ours: a list shows it, and an acquire fails instead of guessing.
    etcd.ctl("put", "fairsem/list/r/0000000000000007", DAMAGE)
    expect("damage", user(name="list", list=1).result()[1].split("\n")[2],
           "units -1 place 0 priority 0 pid 0 fairsem/list/r/0000000000000007")
    expect("damage", user(name="list", limit=5).result(), (1, "EPROTO"))
    etcd.ctl("del", "fairsem/list/r/0000000000000007")
    expect("holder", holder.finish()[0], 0)
    expect("waiter", waiter.result()[0], 0)


def many_threads_share_a_handle():
    log = os.path.join(work, "threads.log")
    expect("threads", user(name="threads", limit=3, threads=40, log=log).result()[0], 0)
    expect("began", judge_log(log, 3), 40)


def a_full_disk_is_an_error():
    """With the alarm nothing can be put; what is held can be given back."""
    holder = user(name="full", hold=HOLD)
    wait_until("it runs", lambda: etcd.running() == 1)
    etcd.signal(0, signal.SIGKILL)
    etcd.commands[0] += ["--quota-backend-bytes", "1000000"]
    etcd.start(0)
    etcd.wait_healthy()
    big = "x" * 100000
    for i in range(30):
        etcd.run("put", "big%d" % i, big)
    expect("alarm", "NOSPACE" in etcd.ctl("alarm", "list"), True)
    expect("holder", holder.finish()[0], 0)
    expect("new", user(name="full").result(), (1, "ENOSPC"))


def main():
    global etcd
    judge_the_judge(work)
    limit_time()
    etcd = Etcd(work, 1)
    names = sys.argv[2:] or [
        "serves_by_priority_then_by_arrival", "large_requests_are_not_passed",
        "a_wait_that_ends_leaves_nothing", "users_are_listed", "names_are_bytes",
        "what_the_dead_held_comes_back", "a_stopped_holder_finds_its_hold_lost",
        "many_threads_share_a_handle", "a_dead_watch_is_found_out",
        "a_partition_ends_a_hold_before_another_begins"]
    try:
        for name in names:
            begin = time.monotonic()
            limit_time()
            globals()[name]()
            print("ok: %s, %.1f s" % (name, time.monotonic() - begin), flush=True)
        print("ok: %d began in order, within the limit" % judge_history(etcd.history()))
        for name in ("a_compaction_breaks_no_watch", "a_full_disk_is_an_error"):
            if not sys.argv[2:]:
                limit_time()
                globals()[name]()
                print("ok: " + name, flush=True)
    finally:
        etcd.stop()


main()

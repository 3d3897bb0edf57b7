# SPDX-License-Identifier: MIT
"""faults.py WORK [SCENARIO...] - the limit between machines at an engine that fake.py plays."""

import concurrent.futures
import sys

from etcd import User, wait_until
from fake import Fake
from proxy import Proxy

GRANT, TXN, RENEW, END, WATCH = "/lease/grant", "/kv/txn", "/keepalive", "/revoke", "/watch"
# The n-th request to a path is that of a step, if nobody else is there.
STEPS = {"grant": (GRANT, 1), "join": (TXN, 1), "begin": (TXN, 2), "end": (END, 1)}


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError("%s: %r, not %r" % (what, found, wanted))


def user(*fakes, **options):
    return User(endpoints=",".join(fake.url for fake in fakes), **{"ttl": 10, **options})


def nothing_is_left(fake):
    wait_until("nothing is left", lambda: not [key for key in fake.keys if "/limit" not in key])


def a_command_without_waiting_costs_four_requests():
    for who, credentials, count in ((None, {}, 4), (("me", "secret"), True, 5)):
        fake = Fake(user=who)
        if credentials:
            with open(sys.argv[1] + "/password", "w") as file:
                file.write("secret\n")
            credentials = {"user": "me", "password": file.name}
        expect("result", user(fake, **credentials).result()[0], 0)
        expect("requests", sum(fake.counts.values()), count)
        nothing_is_left(fake)
        fake.stop()


def each_step_survives_one_fault():
    """Cut, lost, late, endless, senseless: it is asked again, and nothing is taken twice."""
    faults = [("cut",), ("lose",), ("half",), ("hang",), ("late", 0.6), ("endless",), ("deep",),
              ("text", "nonsense"), ("text", "{}"), ("text", ""), ("text", "[1]"),
              ("error", 14, 503, "etcdserver: no leader"),
              ("error", 4, 504, "etcdserver: request timed out")]
    running = []
    for step, where in STEPS.items():
        for fault in faults:
            fake = Fake([where + fault])
            running.append((step, fault, fake, user(fake)))
        for step_, fault, fake, one in running:
            status, printed = one.result()
            expect("%s %s" % (step_, fault), (status, printed.split()[0]), (0, "ok"))
            began = [at for at, kind, key in fake.history if kind == "PUT" and "/r/" in key]
            expect("%s %s: the fence" % (step_, fault), [int(printed.split()[1])], began)
            nothing_is_left(fake)
            fake.stop()
        running = []


def a_fault_that_stays_is_an_error():
    for fault, wanted in ((("text", "nonsense"), "EPROTO"), (("deep",), "EPROTO"),
                          (("text", '{"header":{"revision":"7"}}'), "EPROTO"),
                          (("text", '{"header":{"revision":"99999999999999999999"}}'), "EPROTO"),
                          (("endless",), "EPROTO"), (("cut",), "ENETUNREACH"),
                          (("error", 7, 403, "etcdserver: permission denied"), "EACCES"),
                          (("error", 8, 429, "etcdserver: mvcc: database space exceeded"),
                           "ENOSPC")):
        for path in (GRANT, TXN):
            fake = Fake([(path, 0) + fault])
            expect("%s %s" % (path, fault), user(fake).result(), (1, wanted))
            fake.stop()


def an_endpoint_that_answers_nonsense_is_passed_over():
    bad, good = Fake([("", 0, "text", "nonsense")]), Fake()
    expect("result", user(bad, good).result()[0], 0)
    expect("the bad one was asked", bad.counts, {"/v3/lease/grant": 1})
    bad.stop()
    good.stop()


def a_slow_engine_is_waited_for():
    """Each answer takes longer than the first question waits; what was asked is done, though."""
    fake = Fake([("", 0, "late", 2)])
    expect("result", user(fake, ttl=24, hold=19000).result()[0], 0)
    fake.stop()


def an_older_revision_is_not_believed():
    fake = Fake([(TXN, 2, "old")])
    fake.revision = 50
    expect("once", user(fake).result()[0], 0)
    fake.stop()


def somebody_else(fake, key):
    """Puts a key of his own, or another limit."""
    value = '{"units":1,"priority":-1,"host":"","pid":1,"program":"","since":1}'
    fake.put("fairsem/test/" + key, "2" if key == "limit" else value, "7")


def takes_its_place(fake):
    """Deletes the key that waits, and waits instead of it."""
    fake.delete([key for key in fake.keys if "/q/" in key])
    somebody_else(fake, "q/2147483648/0000000000000007")


def what_comes_before_a_begin_keeps_it_back():
    """After its view somebody begins, or joins before it, or changes the limit."""
    for key, wanted in (("r/0000000000000007", "ETIMEDOUT"), ("limit", "EPROTO"),
                        ("q/2147483647/0000000000000007", "ETIMEDOUT")):
        fake = Fake([(TXN, 2, "meanwhile", lambda fake, key=key: somebody_else(fake, key))])
        expect(key, user(fake, timeout=-1).result(), (1, wanted))
        began = [put for _, kind, put in fake.history if kind == "PUT" and "/r/" in put]
        expect(key + ": began", len(began), 1 if key[0] == "r" else 0)
        fake.stop()


def who_has_no_place_does_not_begin():
    fake = Fake([(TXN, 2, "meanwhile", takes_its_place)])
    expect("result", user(fake).result(), (1, "ESTALE"))
    fake.stop()


def who_began_just_before_a_view_keeps_nobody_back():
    """The view and that begin have the same revision; and there is room."""
    fake = Fake([(TXN, 1, "lose"), (TXN, 3, "meanwhile",
                                    lambda fake: somebody_else(fake, "r/0000000000000007"))])
    expect("result", user(fake, limit=2).result()[0], 0)
    fake.stop()


def a_limit_stays_while_one_runs_or_waits():
    for key in ("r/0000000000000007", "q/2147483647/0000000000000007"):
        fake = Fake()
        somebody_else(fake, "limit")
        somebody_else(fake, key)
        expect(key, user(fake, limit=1, timeout=-1).result(), (1, "EINVAL"))
        fake.stop()


def a_lease_counts_from_the_first_attempt():
    """It is granted, and 1.7 s later, as nobody has said so, asked for again: that is too late."""
    fake = Fake([(GRANT, 1, "hang"), (RENEW, 0, "hang")])
    expect("result", user(fake, ttl=2).result(), (1, "ENETUNREACH"))
    nothing_is_left(fake)
    fake.stop()


def all_go_on_at_the_next_endpoint():
    """The first one hangs: a hold is renewed in time, and what was watched there is, elsewhere."""
    fake = Fake()
    proxy = Proxy(fake.url)
    both = {"endpoints": proxy.url + "," + fake.url, "ttl": 4}
    holder = User(**both, hold=100000)
    wait_until("it runs", lambda: any("/r/" in key for key in fake.keys))
    waiter = User(**both)
    wait_until("it watches", lambda: "/v3/watch" in fake.counts)
    proxy.drop(new=True)
    wait_until("four renewals", lambda: fake.counts.get("/v3/lease/keepalive", 0) >= 4
               or holder.poll() is not None)
    expect("it watches elsewhere", fake.counts["/v3/watch"] >= 2, True)
    expect("holder", holder.finish()[0], 0)
    expect("waiter", waiter.result()[0], 0)
    proxy.stop()
    fake.stop()


def a_join_that_comes_late_joins_nothing():
    """The first attempt is taken when the second has begun to run already."""
    fake = Fake([(TXN, 1, "later", 0.5)])
    expect("result", user(fake, hold=1500, ttl=4).result()[0], 0)
    joins = [key for _, kind, key in fake.history if kind == "PUT" and "/q/" in key]
    expect("joined", len(joins), 1)
    fake.stop()


def a_hold_ends_with_its_lease():
    for fault, wanted in ((("gone",), "ESTALE"), (("cut",), "ENETUNREACH"),
                          (("text", "nonsense"), "EPROTO"), (("hang",), "ENETUNREACH")):
        fake = Fake([(RENEW, 0) + fault])
        expect(fault, user(fake, hold=100000, ttl=2).result(), (2, "lost " + wanted))
        fake.stop()


def late_renewals_are_enough():
    fake = Fake([(RENEW, 0, "late", 0.2), (RENEW, 2, "lose")])
    expect("result", user(fake, hold=4000, ttl=3).result()[0], 0)
    fake.stop()


def a_broken_watch_is_no_reason_to_spin():
    running = []
    for fault in (("cut",), ("compact",), ("text",), ("endless",)):
        fake = Fake([(WATCH, 0) + fault])
        holder = user(fake, hold=100000, ttl=10)
        wait_until("it runs", lambda: any("/r/" in key for key in fake.keys))
        running.append((fault, fake, holder, user(fake, ttl=10)))
    for fault, fake, holder, waiter in running:
        wait_until("it watches", lambda: fake.played > 2)
        expect("holder", holder.finish()[0], 0)
        expect("waiter", waiter.result()[0], 0)
        if fake.counts["/v3/kv/txn"] > 40:
            raise AssertionError("%s: %s" % (fault, fake.counts))
        fake.stop()


def a_token_is_asked_for_again():
    with open(sys.argv[1] + "/password", "w") as file:
        file.write("secret\n")
    fake = Fake(user=("me", "secret"))
    holder = user(fake, user="me", password=file.name, hold=100000)
    wait_until("it runs", lambda: any("/r/" in key for key in fake.keys))
    fake.tokens += 10       # those that were given are worth nothing now
    wait_until("a new one", lambda: fake.tokens == 12)
    expect("holder", holder.finish()[0], 0)
    fake.stop()
    fake = Fake(user=("me", "other"))
    expect("wrong password", user(fake, user="me", password=file.name).result(), (1, "EACCES"))
    fake.stop()
    fake = Fake(user=("me", "secret"))
    expect("nobody", user(fake).result(), (1, "EACCES"))
    fake.stop()


def main():
    """All at once: they mostly wait."""
    names = sys.argv[2:] or SCENARIOS
    failed = False
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        running = [(name, pool.submit(globals()[name])) for name in names]
        for name, result in running:
            error = result.exception()
            print("%s: %s" % (name, error) if error else "ok: " + name, flush=True)
            failed = failed or error
    sys.exit(1 if failed else 0)


SCENARIOS = [
    "a_command_without_waiting_costs_four_requests", "each_step_survives_one_fault",
    "a_fault_that_stays_is_an_error", "an_endpoint_that_answers_nonsense_is_passed_over",
    "a_slow_engine_is_waited_for", "an_older_revision_is_not_believed",
    "what_comes_before_a_begin_keeps_it_back",
    "who_has_no_place_does_not_begin", "who_began_just_before_a_view_keeps_nobody_back",
    "a_limit_stays_while_one_runs_or_waits",
    "a_lease_counts_from_the_first_attempt", "all_go_on_at_the_next_endpoint",
    "a_join_that_comes_late_joins_nothing",
    "a_hold_ends_with_its_lease", "late_renewals_are_enough",
    "a_broken_watch_is_no_reason_to_spin", "a_token_is_asked_for_again"]
main()

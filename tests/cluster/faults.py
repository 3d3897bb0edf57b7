# SPDX-License-Identifier: MIT
"""faults.py WORK [SCENARIO...] - the limit between machines at an engine that fake.py plays."""

import concurrent.futures
import functools
import sys
import time
import traceback

from etcd import LONG, TOO_SLOW, User
from fake import Fake
from hang import wait_until
from proxy import Proxy

GRANT, RENEW, END, WATCH = "/lease/grant", "/keepalive", "/revoke", "/watch"
TXN, JOIN, BEGIN, READ = "/kv/txn", "/kv/txn/join", "/kv/txn/begin", "/kv/txn/read"
STEPS = {"grant": (GRANT, 1), "join": (JOIN, 1), "begin": (BEGIN, 1), "end": (END, 1)}
HOLD = 1000000000   # until it is told to end
users = []


class TooSlow(Exception):
    """A lease has ended that should not."""


def with_leases(*seconds):
    """For a scenario that needs renewals: if the lease is too short on this machine, a longer one."""
    def decorate(scenario):
        @functools.wraps(scenario)
        def run():
            for ttl in seconds:
                try:
                    return scenario(ttl)
                except TooSlow as error:
                    print("%s: with %d s: %s" % (scenario.__name__, ttl, error), flush=True)
            raise AssertionError("also with the longest lease")
        return run
    return decorate


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError("%s: %r, not %r" % (what, found, wanted))


def user(*fakes, **options):
    users.append(User(**{"endpoints": ",".join(fake.url for fake in fakes), "ttl": LONG,
                         **options}))
    return users[-1]


def expect_ok(what, result):
    if result[1].split("\n")[-1] in TOO_SLOW:
        raise TooSlow("%s: %r" % (what, result))
    expect(what, result[0], 0)


def nothing_is_left(fake):
    wait_until("nothing is left", lambda: not fake.keys_with("/r/") + fake.keys_with("/q/"))


def a_command_without_waiting_costs_four_requests():
    for who, credentials, count in ((None, {}, 4), (("me", 'a "\\/\x01é'), True, 5)):
        if credentials:
            with open(sys.argv[1] + "/password", "w") as file:
                file.write(who[1] + "\n")
            credentials = {"user": "me", "password": file.name}
        # What is not answered in 1.7 s is asked again.
        for _ in range(5):
            fake = Fake(user=who)
            expect("result", user(fake, **credentials).result()[0], 0)
            nothing_is_left(fake)
            fake.stop()
            if sum(fake.counts.values()) == count:
                break
        expect("requests", sum(fake.counts.values()), count)


def each_step_survives_one_fault():
    """Cut, lost, late, endless, senseless: it is asked again, and nothing is taken twice."""
    def begin(step, fault):
        fake = Fake([STEPS[step] + fault])
        return step, fault, fake, user(fake)

    def end(step, fault, fake, one):
        status, printed = one.result()
        expect("%s %s" % (step, fault), (status, printed.split()[0]), (0, "ok"))
        began = [at for at, kind, key in fake.history if kind == "PUT" and "/r/" in key]
        expect("%s %s: the fence" % (step, fault), [int(printed.split()[1])], began)
        nothing_is_left(fake)
        fake.stop()

    def all_of(step):
        hanging = begin(step, ("hang",))        # this is waited for
        for fault in (("cut",), ("lose",), ("half",), ("late", 0.2), ("endless",), ("deep",),
                      ("text", "nonsense"), ("text", "{}"), ("text", ""), ("text", "[1]"),
                      ("error", 14, 503, "etcdserver: no leader"),
                      ("error", 4, 504, "etcdserver: request timed out")):
            end(*begin(step, fault))
        end(*hanging)

    with concurrent.futures.ThreadPoolExecutor(len(STEPS)) as pool:
        for result in [pool.submit(all_of, step) for step in STEPS]:
            result.result()


def a_fault_that_stays_is_an_error():
    def end(path, fault, wanted, fake, one):
        expect("%s %s" % (path, fault), one.result(), (1, wanted))
        fake.stop()

    running = []
    for fault, wanted in ((("text", "nonsense"), "EPROTO"), (("deep",), "EPROTO"),
                          (("text", '{"header":{"revision":"7"}}'), "EPROTO"),
                          (("text", '{"header":{"revision":"99999999999999999999"}}'), "EPROTO"),
                          (("endless",), "EPROTO"), (("cut",), "ENETUNREACH"),
                          (("error", 7, 403, "etcdserver: permission denied"), "EACCES"),
                          (("error", 8, 429, "etcdserver: mvcc: database space exceeded"),
                           "ENOSPC")):
        for path in (GRANT, TXN):
            fake = Fake([(path, 0) + fault])
            # A question that is asked with a lease is asked until that ends.
            running.append((path, fault, wanted, fake, user(fake, ttl=2 if fault[0] == "cut" else LONG)))
            if fault[0] != "cut":
                end(*running.pop())
    for each in running:
        end(*each)


def nobody_waits_for_the_whole_lease():
    """Who has no place in the queue, or only tries, has an error in seconds; the lease is longer."""
    running = []
    for path, options, wanted in ((GRANT, {}, "ENETUNREACH"), (JOIN, {}, "ENETUNREACH"),
                                  (JOIN, {"timeout": -1}, "ENETUNREACH"),
                                  (BEGIN, {"timeout": -1}, "ENETUNREACH"),
                                  ("", {"timeout": 1000}, "ETIMEDOUT")):
        fake = Fake([(path, 0, "hang")])
        running.append((path, wanted, fake, user(*[fake] * 20, ttl=LONG, **options)))
    for path, wanted, fake, one in running:
        expect(path, one.result(), (1, wanted))
        fake.stop()


def an_endpoint_that_answers_nonsense_is_passed_over():
    bad, good = Fake([("", 0, "text", "nonsense")]), Fake()
    expect("result", user(bad, good).result()[0], 0)
    expect("the bad one was asked", bad.counts, {"/v3/lease/grant": 1})
    bad.stop()
    good.stop()


@with_leases(30, 60, 60)
def a_slow_engine_is_waited_for(ttl):
    """Each answer takes longer than the first question waits; what was asked is done, though."""
    running = []
    for path in (GRANT, JOIN, BEGIN):
        fake = Fake([(path, 0, "late", 1.9)])
        running.append((path, fake, user(fake, ttl=ttl)))
    for path, fake, one in running:
        expect_ok(path, one.result())
        fake.stop()


def an_older_revision_is_not_believed():
    fake = Fake([(BEGIN, 1, "old")])
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
        fake = Fake([(BEGIN, 1, "meanwhile", lambda fake, key=key: somebody_else(fake, key))])
        expect(key, user(fake, timeout=-1).result(), (1, wanted))
        began = [put for _, kind, put in fake.history if kind == "PUT" and "/r/" in put]
        expect(key + ": began", len(began), 1 if key[0] == "r" else 0)
        fake.stop()


def a_damaged_key_in_the_queue_is_not_waited_for():
    good = '{"units":1,"priority":0,"host":"","pid":1,"program":"","since":1}'
    for lease, value in (("0", good), ("7", "nonsense"), ("7", good.replace("1,", "0,", 1))):
        fake = Fake()
        somebody_else(fake, "limit")
        fake.put("fairsem/test/q/2147483648/0000000000000007", value, lease)
        expect(value, user(fake, limit=2, ttl=LONG).result(), (1, "EPROTO"))
        fake.stop()


def who_has_no_place_does_not_begin():
    fake = Fake([(BEGIN, 1, "meanwhile", takes_its_place)])
    expect("result", user(fake).result(), (1, "ESTALE"))
    fake.stop()


def who_began_just_before_a_view_keeps_nobody_back():
    """The view and that begin have the same revision; and there is room."""
    fake = Fake([(JOIN, 1, "lose"), (READ, 1, "meanwhile",
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
    expect("asked again", fake.counts["/v3" + GRANT] >= 2, True)
    nothing_is_left(fake)
    fake.stop(unplayed=[1])     # there may be no time for a renewal


@with_leases(12, 60)
def all_go_on_at_the_next_endpoint(ttl):
    """The first one hangs: a hold is renewed in time, and what was watched there is, elsewhere."""
    fake = Fake()
    proxy = Proxy(fake.url)
    both = {"endpoints": proxy.url + "," + fake.url, "ttl": ttl}
    holder = user(**both, hold=HOLD)
    wait_until("it runs", fake.is_held)
    waiter = user(**both)
    wait_until("it watches", lambda: "/v3/watch" in fake.counts)
    proxy.drop(new=True)
    wait_until("two renewals, and a watch elsewhere", lambda: holder.poll() is not None
               or fake.counts.get("/v3/lease/keepalive", 0) >= 2 and fake.counts["/v3/watch"] >= 2)
    expect_ok("holder", holder.finish())
    expect_ok("waiter", waiter.result())
    proxy.stop()
    fake.stop()


def a_join_that_comes_late_joins_nothing():
    """The first attempt is taken when the second has begun to run already."""
    fake = Fake([(JOIN, 1, "later", lambda fake: any("/r/" in key for key in fake.keys))])
    holder = user(fake, hold=HOLD)
    wait_until("it comes", lambda: fake.done_later == 1)
    expect("result", holder.finish()[0], 0)
    joins = [key for _, kind, key in fake.history if kind == "PUT" and "/q/" in key]
    expect("joined", len(joins), 1)
    fake.stop()


@with_leases(6, 24, 96)
def a_hold_ends_with_its_lease(ttl):
    running = []
    for fault, wanted in ((("gone",), "ESTALE"), (("cut",), "ENETUNREACH"),
                          (("text", "nonsense"), "EPROTO"), (("hang",), "ENETUNREACH")):
        fake = Fake([(RENEW, 0) + fault])
        running.append((fault, wanted, fake, user(fake, hold=HOLD, ttl=ttl)))
    for fault, wanted, fake, one in running:
        result = one.result()
        if result != (2, "lost " + wanted):
            expect_ok(fault, result)
        expect(fault, result, (2, "lost " + wanted))
        fake.stop()


@with_leases(6, 24, 96)
def late_renewals_are_enough(ttl):
    """It lives longer than its lease, in which one is lost, and two are refused, each of them twice."""
    fake = Fake([(RENEW, n, "text", "nonsense") for n in (1, 2, 4, 5)]
                + [(RENEW, 7, "lose"), (RENEW, 0, "late", 0.2)])
    holder = user(fake, hold=HOLD, ttl=ttl)
    wait_until("ten renewals", lambda: holder.poll() is not None
               or fake.counts.get("/v3/lease/keepalive", 0) >= 10)
    expect_ok("holder", holder.finish())
    fake.stop()


def a_broken_watch_is_no_reason_to_spin():
    running = []
    for fault in (("cut",), ("compact",), ("text",), ("endless",)):
        fake = Fake([(WATCH, 0) + fault])
        holder = user(fake, hold=HOLD)
        wait_until("it runs", fake.is_held)
        running.append((fault, fake, holder, user(fake), time.monotonic()))
    for fault, fake, holder, waiter, begin in running:
        wait_until("it watches, for a second", lambda: fake.played > 2
                   and time.monotonic() > begin + 1)
        # There are pauses, which become longer, of up to a second.
        most = 15 + 4 * (time.monotonic() - begin)
        expect("holder", holder.finish()[0], 0)
        expect("waiter", waiter.result()[0], 0)
        if fake.counts["/v3/kv/txn"] > most:
            raise AssertionError("%s: %s" % (fault, fake.counts))
        fake.stop()


@with_leases(6, 24, 96)
def a_token_is_asked_for_again(ttl):
    with open(sys.argv[1] + "/password", "w") as file:
        file.write("secret\n")
    fake = Fake(user=("me", "secret"))
    holder = user(fake, user="me", password=file.name, hold=HOLD, ttl=ttl)
    wait_until("it runs", fake.is_held)
    fake.tokens += 10       # those that were given are worth nothing now
    wait_until("a new one", lambda: fake.tokens == 12 or holder.poll() is not None)
    expect_ok("holder", holder.finish())
    fake.stop()
    fake = Fake(user=("me", "other"))
    expect("wrong password", user(fake, user="me", password=file.name).result(), (1, "EACCES"))
    fake.stop()
    fake = Fake(user=("me", "secret"))
    expect("nobody", user(fake).result(), (1, "EACCES"))
    fake.stop()


SCENARIOS = [
    "a_command_without_waiting_costs_four_requests", "each_step_survives_one_fault",
    "an_endpoint_that_answers_nonsense_is_passed_over", "an_older_revision_is_not_believed",
    "a_damaged_key_in_the_queue_is_not_waited_for", "what_comes_before_a_begin_keeps_it_back",
    "who_has_no_place_does_not_begin",
    "who_began_just_before_a_view_keeps_nobody_back", "a_limit_stays_while_one_runs_or_waits",
    "a_join_that_comes_late_joins_nothing"]
# These mostly wait.
WAITING = [
    "a_fault_that_stays_is_an_error", "nobody_waits_for_the_whole_lease",
    "a_slow_engine_is_waited_for",
    "a_lease_counts_from_the_first_attempt", "all_go_on_at_the_next_endpoint",
    "a_hold_ends_with_its_lease", "late_renewals_are_enough",
    "a_broken_watch_is_no_reason_to_spin", "a_token_is_asked_for_again"]


def main():
    """Those that wait all at once, and the others one by one meanwhile."""
    names = sys.argv[2:] or WAITING + SCENARIOS
    failed = False
    with concurrent.futures.ThreadPoolExecutor(1 + len(WAITING)) as pool, \
            concurrent.futures.ThreadPoolExecutor(1) as queue:
        running = [(name, (pool if name in WAITING else queue).submit(globals()[name]))
                   for name in names]
        for name, result in running:
            error = result.exception()
            print("%s: %s" % (name, error) if error else "ok: " + name, flush=True)
            failed = failed or error
            if error:
                traceback.print_exception(None, error, error.__traceback__)
    for each in users:
        each.kill()
    sys.exit(1 if failed else 0)


main()

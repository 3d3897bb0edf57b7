# SPDX-License-Identifier: MIT
"""The limit between machines with an etcd played by fake.py, whose answers are lost, late, cut, endless, or
nonsense."""

import functools
import os
import tempfile
import time

import pytest

from cases import WORK, wait_until
from etcd import HOLD, LONG, TOO_SLOW, User
from fake import Fake
from proxy import Proxy

rows = functools.partial(pytest.mark.parametrize, ids=str)
GRANT, RENEW, END, WATCH = "/lease/grant", "/keepalive", "/revoke", "/watch"
TXN, JOIN, BEGIN, READ, SET = "/kv/txn", "/kv/txn/join", "/kv/txn/begin", "/kv/txn/read", "/kv/txn/limit"
AWAY = ("error", 14, 503, "etcdserver: no leader")
STEPS = {"grant": (GRANT, 1), "join": (JOIN, 1), "begin": (BEGIN, 1), "end": (END, 1)}


class TooSlow(Exception):
    """A lease has ended because this machine is too slow."""


def with_leases(*seconds):
    """Repeat a case that needs renewals with a longer lease, if the lease is too short on this machine.

    The case has a default for `ttl`, so that pytest does not take it for a fixture.
    """
    def decorate(case):
        @functools.wraps(case)
        def run(**row):
            for ttl in seconds:
                try:
                    return case(**row, ttl=ttl)
                except TooSlow as error:
                    print("with %d s: %s" % (ttl, error))
            raise AssertionError("also with the longest lease")
        return run
    return decorate


def user(*fakes, **options):
    return User(**{"endpoints": ",".join(fake.url for fake in fakes), "ttl": LONG, **options})


def password(text):
    with tempfile.NamedTemporaryFile("w", dir=WORK, delete=False) as file:
        file.write(text + "\n")
    return file.name


def in_time(result):
    if result[1].split("\n")[-1] in TOO_SLOW:
        raise TooSlow(result)
    return result


def nothing_is_left(fake):
    wait_until("nothing is left", lambda: not fake.keys_with("/r/") + fake.keys_with("/q/"))


@rows("who, count", ((None, 4), (("me", 'a "\\/\x01é'), 5)))
def test_a_command_without_waiting_costs_four_requests(who, count):
    credentials = {"user": "me", "password": password(who[1])} if who else {}
    # On a slow machine a request may get no answer in 1.7 s, and be repeated: try again.
    for _ in range(5):
        fake = Fake(user=who)
        assert user(fake, **credentials).result()[0] == 0
        nothing_is_left(fake)
        fake.stop()
        if sum(fake.counts.values()) == count:
            return
    assert sum(fake.counts.values()) == count


@rows("step", STEPS)
@rows("fault", (("cut",), ("lose",), ("half",), pytest.param(("hang",), marks=pytest.mark.waits),
                ("late", 0.2), ("endless",), ("deep",), ("text", "nonsense"), ("text", "{}"),
                ("text", ""), ("text", "[1]"), AWAY,
                ("error", 4, 504, "etcdserver: request timed out")))
def test_each_step_survives_one_fault(step, fault):
    """The step is repeated, and no unit is taken twice."""
    fake = Fake([STEPS[step] + fault])
    status, printed = user(fake).result()
    assert (status, printed.split()[0]) == (0, "ok")
    began = [at for at, kind, key in fake.history if kind == "PUT" and "/r/" in key]
    assert began == [int(printed.split()[1])], "the fence"
    nothing_is_left(fake)
    fake.stop()


@rows("path", (GRANT, TXN))
@rows("fault, wanted", (
    (("text", "nonsense"), "EPROTO"), (("deep",), "EPROTO"),
    (("text", '{"header":{"revision":"7"}}'), "EPROTO"),
    (("text", '{"header":{"revision":"99999999999999999999"}}'), "EPROTO"),
    (("endless",), "EPROTO"), (("page", 404, "404 page not found"), "EPROTO"),
    (("page", 501, "<html>"), "EPROTO"), (("page", 403, "<html>"), "EACCES"),
    (("error", 5, 404, "Not Found"), "EPROTO"),
    pytest.param(("cut",), "ENETUNREACH", marks=pytest.mark.waits),
    (("error", 7, 403, "etcdserver: permission denied"), "EACCES"),
    (("error", 8, 429, "etcdserver: mvcc: database space exceeded"), "ENOSPC")))
def test_a_fault_that_stays_is_an_error(path, fault, wanted):
    fake = Fake([(path, 0) + fault])
    # A request with a lease is repeated until the lease ends.
    assert user(fake, ttl=2 if fault[0] == "cut" else LONG).result() == (1, wanted)
    fake.stop()


@rows("fault, words", (
    (("page", 404, "404 page not found\n"), "HTTP 404: 404 page not found"),
    (("page", 501, "<html>"), "HTTP 501: <html>"),
    (("error", 7, 403, "etcdserver: permission denied"), "etcdserver: permission denied"),
    (("text", "non\x1bsense"), "HTTP 200: non?sense")))
@rows("path", (GRANT, JOIN))
def test_the_reason_says_what_has_answered(path, fault, words, capfd):
    fake = Fake([(path, 0) + fault])
    assert user(fake).result()[0] == 1
    said = capfd.readouterr().err
    assert said.startswith(fake.url.split("/")[2] + ": ") and words in said
    fake.stop()


@rows("fault", (("text", "nonsense"), ("page", 403, "<html>"), ("page", 404, "404 page not found"),
                ("error", 8, 429, "etcdserver: mvcc: database space exceeded")))
@rows("path", (READ, BEGIN))
def test_only_etcd_itself_takes_a_place_away(path, fault):
    """For a while another server answers, or etcd cannot do the request.  The lease of the waiter lives."""
    fake = Fake()
    holder = user(fake, hold=HOLD)
    wait_until("it runs", fake.is_held)
    waiter = user(fake)
    wait_until("it watches", lambda: "/v3/watch" in fake.counts)
    for n in range(1, 6):
        fake.add(path, n, *fault)
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0
    fake.stop()


def in_two_clusters(where, ttl):
    """A holder or a waiter gets answers from an endpoint of another cluster once or twice."""
    ours, other = Fake(), Fake(cluster="2")
    other.revision = 50             # so that its data do not look like an older copy
    both = {"endpoints": ours.url + "," + other.url, "ttl": ttl}
    holder = user(ours, hold=HOLD, **({} if where == "waits" else both))
    wait_until("it runs", ours.is_held)
    waiter = user(ours, **(both if where == "waits" else {}))
    wait_until("it watches", lambda: "/v3/watch" in ours.counts)
    ours.add(RENEW if where == "holds" else READ, 1, *AWAY)
    if where == "holds":
        wait_until("a renewal is asked at both, and again", lambda: holder.poll() is not None
                   or other.counts and ours.counts.get("/v3/lease/keepalive", 0) >= 2)
    held, waited = in_time(holder.finish()), in_time(waiter.result())
    for fake in (ours, other):
        fake.stop()
    assert other.counts and not other.keys
    return held[0], waited[0]


@pytest.mark.waits
@rows("where", ("holds", "waits"))
def test_another_cluster_is_not_believed(where):
    """The other cluster would answer that there is no such lease or request."""
    assert in_two_clusters(where, 12 if where == "holds" else LONG) == (0, 0)


def test_another_cluster_grants_nothing(capfd):
    """The user's first hold is in one cluster.  Only the other cluster answers the second request."""
    ours, other = Fake([(GRANT, 2, *AWAY), (GRANT, 3, *AWAY)]), Fake(cluster="2")
    assert user(ours, other, times=2).result() == (1, "ok 3\nEPROTO")
    assert "another cluster of etcd has answered before" in capfd.readouterr().err
    assert other.counts == {"/v3/lease/grant": 2}
    for fake in (ours, other):
        fake.stop()


@pytest.mark.waits
@rows("path, options, wanted", ((GRANT, {}, "ENETUNREACH"), (JOIN, {}, "ENETUNREACH"),
                                (JOIN, {"timeout": -1}, "ENETUNREACH"),
                                (BEGIN, {"timeout": -1}, "ENETUNREACH"),
                                ("", {"timeout": 1000}, "ETIMEDOUT")))
def test_no_user_waits_for_the_whole_lease(path, options, wanted):
    """Without a place in the queue, or with a try, a user gets an error in seconds, long before its lease ends."""
    fake = Fake([(path, 0, "hang")])
    assert user(*[fake] * 20, **options).result() == (1, wanted)
    fake.stop()


def test_an_endpoint_that_answers_nonsense_is_passed_over():
    bad, good = Fake([("", 0, "text", "nonsense")]), Fake()
    assert user(bad, good).result()[0] == 0
    assert bad.counts == {"/v3/lease/grant": 1}
    bad.stop()
    good.stop()


@pytest.mark.waits
@rows("path", (GRANT, JOIN, BEGIN))
@with_leases(30, 60, 60)
def test_a_slow_engine_is_waited_for(path, ttl=None):
    """Each answer comes too late for the time limit of the first attempt, but etcd has done the request."""
    fake = Fake([(path, 0, "late", 1.9)])
    assert in_time(user(fake, ttl=ttl).result())[0] == 0
    fake.stop()


def test_an_older_revision_is_not_believed():
    fake = Fake([(BEGIN, 1, "old")])
    fake.revision = 50
    assert user(fake).result()[0] == 0
    fake.stop()


VALUE = '{"units":1,"priority":-1,"host":"","pid":1,"program":"","since":1}'


def somebody_else(fake, key):
    """Puts a key, as another user."""
    fake.put("fairsem/test/" + key, VALUE, "7")


def limit_is(fake, value):
    """Set the limit, as another user."""
    fake.put("fairsem/test/r-limit", value, "0")


def takes_its_place(fake):
    """Delete the key of the waiting user, and put another user's key into the queue."""
    fake.delete([key for key in fake.keys if "/q/" in key])
    somebody_else(fake, "q/2147483648/0000000000000007")


@rows("key", ("r/0000000000000007", "q/2147483647/0000000000000007", "r-limit"))
def test_a_change_before_a_begin_holds_it_back(key):
    """After the user's view, another user begins, joins ahead of the user, or sets the limit to 0."""
    fake = Fake([(BEGIN, 1, "meanwhile", lambda fake: limit_is(fake, "0 1") if key == "r-limit"
                  else somebody_else(fake, key))])
    assert user(fake, timeout=-1).result() == (1, "ETIMEDOUT")
    began = [put for _, kind, put in fake.history if kind == "PUT" and "/r/" in put]
    assert len(began) == (1 if key[:2] == "r/" else 0)
    fake.stop()


@rows("lease, value", (("0", VALUE), ("7", "nonsense"), ("7", VALUE.replace("1,", "0,", 1))))
def test_a_damaged_key_in_the_queue_is_not_waited_for(lease, value):
    fake = Fake()
    limit_is(fake, "2 2")
    fake.put("fairsem/test/q/2147483648/0000000000000007", value, lease)
    assert user(fake, limit=2).result() == (1, "EPROTO")
    fake.stop()


def test_a_request_without_a_place_does_not_begin():
    fake = Fake([(BEGIN, 1, "meanwhile", takes_its_place)])
    assert user(fake).result() == (1, "ESTALE")
    fake.stop()


def test_a_begin_just_before_a_view_holds_no_other_request_back():
    """The view and the begin have the same revision, and the limit is enough for both requests."""
    fake = Fake([(JOIN, 1, "lose"), (READ, 1, "meanwhile",
                                     lambda fake: somebody_else(fake, "r/0000000000000007"))])
    assert user(fake, limit=2).result()[0] == 0
    fake.stop()


@rows("key", ("r/0000000000000007", "q/2147483647/0000000000000007"))
def test_a_limit_stays_while_a_request_runs_or_waits(key):
    fake = Fake()
    limit_is(fake, "2 2")
    somebody_else(fake, key)
    assert user(fake, limit=1, timeout=-1).result() == (1, "EINVAL")
    fake.stop()


@rows("value, limit, units, wanted", (
    ("5 3", 3, 1, "ok"), ("5 3", 5, 5, "ok"), ("5 3", 4, 4, "ok"), ("2 3", 3, 3, "E2BIG"),
    ("0 3", 3, 3, "ETIMEDOUT"), ("0 3", 4, 1, "EINVAL"), ("0 3", 0, 1, "E2BIG")))
def test_a_limit_that_was_set_is_followed(value, limit, units, wanted):
    """A limit that was set applies to users with that limit, and to users with the first limit.  A user with
    any other limit replaces both, unless the name is in use or the limit is 0."""
    fake = Fake()
    limit_is(fake, value)
    assert user(fake, limit=limit, units=units, timeout=-1).result()[1].split()[0] == wanted
    assert fake.keys["fairsem/test/r-limit"]["value"] == ("4 4" if limit == 4 and wanted == "ok" else value)
    if wanted == "ok":
        somebody_else(fake, "r/0000000000000007")
        assert user(fake, limit=6, timeout=-1).result() == (1, "EINVAL")
    fake.stop()


def test_another_limit_is_set_before_a_join():
    """The first and the second attempt each find another limit than they expect."""
    fake = Fake([(JOIN, n, "meanwhile", lambda fake, n=n: limit_is(fake, "%d 1" % (n + 2))) for n in (1, 2)])
    assert user(fake).result()[0] == 0
    assert fake.counts["/v3/kv/txn"] == 4
    fake.stop()


def test_a_limit_is_set_after_another_one():
    """Another user sets a limit after the view; an answer is lost; a first attempt is done very late."""
    fake = Fake([(SET, 1, "meanwhile", lambda fake: limit_is(fake, "4 1")), (SET, 3, "lose"), (
        SET, 6, "later", lambda fake: fake.keys["fairsem/test/r-limit"]["value"] == "3 1")])
    assert user(fake, set=5).result() == (1, "ENOENT")
    limit_is(fake, "1 1")
    assert user(fake, set=5).result() == (0, "Success")
    assert user(fake, set=6).result() == (0, "Success")
    assert user(fake, set=7).result() == (0, "Success")
    assert fake.keys["fairsem/test/r-limit"]["value"] == "7 1"
    assert user(fake, set=3).result() == (0, "Success")
    wait_until("the late one comes", lambda: fake.done_later == 1)
    assert fake.keys["fairsem/test/r-limit"]["value"] == "3 1"
    fake.stop()


@pytest.mark.waits
@with_leases(6, 24, 96)
def test_a_limit_that_the_watch_misses_is_found_by_a_renewal(ttl=None):
    fake = Fake([(WATCH, 0, "hang")])
    holder = user(fake, hold=HOLD)
    wait_until("it runs", fake.is_held)
    waiter = user(fake, ttl=ttl)
    wait_until("it watches", lambda: "/v3/watch" in fake.counts)
    assert user(fake, set=2).result() == (0, "Success")
    assert in_time(waiter.result())[0] == 0
    assert holder.poll() is None
    assert holder.finish()[0] == 0
    fake.stop()


def test_keys_that_belong_to_no_name_are_passed_over():
    fake = Fake()
    for name in ("", "a", "a b/x", "%/x", "%4/x", "%61/x", "%00/x", "%2f/x", "%2F/r-limit", "b/r-limit", "b-/x",
                 "b0", "c" * 256 + "/x"):
        fake.put("fairsem/" + name, "2 1", "0")
    assert user(fake, names=1).result() == (0, "/ 2\nb- has none\nb 2")
    fake.stop()


@pytest.mark.waits
def test_a_lease_counts_from_the_first_attempt():
    """The lease is granted, but the answer is missing, and the next attempt 1.7 s later is too late."""
    fake = Fake([(GRANT, 1, "hang"), (RENEW, 0, "hang")])
    assert user(fake, ttl=2).result() == (1, "ENETUNREACH")
    assert fake.counts["/v3" + GRANT] >= 2
    nothing_is_left(fake)
    fake.stop(unplayed=[1])     # there may be no time for a renewal


@pytest.mark.waits
@with_leases(12, 60)
def test_holder_and_waiter_go_on_at_the_next_endpoint(ttl=None):
    """The first endpoint hangs.  At the next one, the hold is renewed in time, and the watch begins again."""
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
    assert in_time(holder.finish())[0] == 0
    assert in_time(waiter.result())[0] == 0
    proxy.stop()
    fake.stop()


def test_a_join_that_comes_late_joins_nothing():
    """The first attempt reaches etcd when the second attempt has succeeded, and the request runs."""
    fake = Fake([(JOIN, 1, "later", lambda fake: any("/r/" in key for key in fake.keys))])
    holder = user(fake, hold=HOLD)
    wait_until("it comes", lambda: fake.done_later == 1)
    assert holder.finish()[0] == 0
    joins = [key for _, kind, key in fake.history if kind == "PUT" and "/q/" in key]
    assert len(joins) == 1
    fake.stop()


@pytest.mark.waits
@rows("fault, wanted", ((("gone",), "ESTALE"), (("cut",), "ENETUNREACH"),
                        (("error", 7, 403, "etcdserver: permission denied"), "EACCES"),
                        (("text", "nonsense"), "EPROTO"), (("hang",), "ENETUNREACH")))
@with_leases(6, 24, 96)
def test_a_hold_ends_with_its_lease(fault, wanted, ttl=None):
    fake = Fake([(RENEW, 0) + fault])
    result = user(fake, hold=HOLD, ttl=ttl).result()
    lost = 2, "lost " + wanted
    assert result == lost or in_time(result) == lost
    fake.stop()


@pytest.mark.waits
@with_leases(6, 24, 96)
def test_late_renewals_are_enough(ttl=None):
    """The hold outlives its first lease although some renewals, and their repetitions, are lost or refused."""
    fake = Fake([(RENEW, n, "text", "nonsense") for n in (1, 2, 4, 5)]
                + [(RENEW, 7, "lose"), (RENEW, 0, "late", 0.2)])
    holder = user(fake, hold=HOLD, ttl=ttl)
    wait_until("ten renewals", lambda: holder.poll() is not None
               or fake.counts.get("/v3/lease/keepalive", 0) >= 10)
    assert in_time(holder.finish())[0] == 0
    fake.stop()


@pytest.mark.waits
@rows("fault", ("cut", "compact", "text", "endless"))
def test_a_broken_watch_is_no_reason_to_spin(fault):
    fake = Fake([(WATCH, 0, fault)])
    holder = user(fake, hold=HOLD)
    wait_until("it runs", fake.is_held)
    waiter, begin = user(fake), time.monotonic()
    wait_until("it watches, for a second", lambda: fake.played > 2 and time.monotonic() > begin + 1)
    # Between the watches there are pauses of increasing length, up to a second.
    most = 15 + 4 * (time.monotonic() - begin)
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0
    assert fake.counts["/v3/kv/txn"] <= most
    fake.stop()


@pytest.mark.waits
@with_leases(6, 24, 96)
def test_an_expired_token_is_renewed(ttl=None):
    fake = Fake(user=("me", "secret"))
    holder = user(fake, user="me", password=password("secret"), hold=HOLD, ttl=ttl)
    wait_until("it runs", lambda: fake.is_held() or holder.poll() is not None)
    old = fake.tokens = fake.tokens + 10    # earlier tokens are invalid now
    wait_until("a new one", lambda: fake.tokens > old or holder.poll() is not None)
    assert in_time(holder.finish())[0] == 0
    fake.stop()


@rows("who", ("me", None))
def test_a_wrong_password_and_no_password_are_refused(who):
    fake = Fake(user=("me", "secret"))
    options = {"user": who, "password": password("other")} if who else {}
    assert user(fake, **options).result() == (1, "EACCES")
    fake.stop()


def rotate(fake, file, text=None):
    """Change the password in etcd and in the file.  Without `text`, a read of the file hangs."""
    new = password(text) if text else file + ".fifo"
    if text is None:
        os.mkfifo(new)
    with fake.change:
        os.rename(new, file)
        fake.user = "me", "new"
        fake.tokens += 10       # earlier tokens are invalid now


@pytest.mark.waits
@with_leases(6, 24, 96)
def test_a_password_is_rotated(ttl=None):
    fake = Fake(user=("me", "secret"))
    file = password("secret")
    holder = user(fake, user="me", password=file, hold=HOLD, ttl=ttl)
    wait_until("it runs", lambda: fake.is_held() or holder.poll() is not None)
    old = fake.tokens + 10
    rotate(fake, file, "new")
    wait_until("a new token", lambda: fake.tokens > old or holder.poll() is not None)
    assert in_time(holder.finish())[0] == 0
    fake.stop()


@pytest.mark.waits
def test_a_password_file_that_hangs_delays_nothing():
    """The hold is lost in time, and its release ends."""
    fake = Fake(user=("me", "secret"))
    file = password("secret")
    holder = user(fake, user="me", password=file, hold=HOLD, ttl=6)
    wait_until("it runs", lambda: fake.is_held() or holder.poll() is not None)
    rotate(fake, file)
    assert holder.result() == (2, "lost ENETUNREACH")
    fake.stop()

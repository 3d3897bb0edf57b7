# SPDX-License-Identifier: MIT
"""The table of doc/operating.md: each row is a case, named by the first column.

In this file fake.py plays etcd.  The rows in test_operating_etcd.py need a real etcd.
"""

import calendar
import functools
import json
import os
import re
import shutil
import signal
import time

import pytest

import test_cluster
import test_members
import test_operating_etcd
import test_real
from cases import NOT_HERE, TOP_SRCDIR, WORK, wait_until
from compiled import CC, compiles, file
from conftest import lives
from proxy import Proxy
from test_cluster import as_user, children, let_go, played
from test_faults import TooSlow, with_leases
from test_operating_etcd import add_row, ends, page

ROWS = {}
row = functools.partial(add_row, ROWS)
# Cases in other files.
ELSEWHERE = {
    "a place's key is deleted": test_cluster.test_a_hold_ends_when_its_key_is_deleted,
    "a member of etcd hangs": test_members.test_a_member_hangs,
    "etcd elects a new leader": test_members.test_the_leader_changes,
    "etcd's history is compacted": test_real.test_a_compaction_breaks_no_watch,
}


def lease_ends(at, kind="/r/"):
    """End the lease of the running user; or with the kind "/q/", of the first user in the queue."""
    with at.etcd.change:
        place = min((pair for key, pair in at.etcd.keys.items() if kind in key), key=lambda pair: pair["create"])
        at.etcd.end_lease(place["lease"])


# ---------------------------------------------------------------- processes
@row("kill -9 of fairsem-limit")
def killed():
    with played() as at:
        holder = at.hold("n", "sh -c", "sleep 100000 & echo $!; wait")
        command, left = children(holder)[0], holder.stdout.readline().strip()
        waiter = at.wait_behind("n")
        holder.kill()
        assert holder.wait() == -signal.SIGKILL
        wait_until("the command is dead", lambda: not lives(command))
        assert lives(left), "what the command has started"
        assert at.shows("running 1, waiting 1$", "n")
        lease_ends(at)
        ends(waiter, 0)
        os.kill(int(left), signal.SIGKILL)


@row("kill -9 of the command")
def command_killed():
    with played() as at:
        holder = at.hold("n")
        waiter = at.wait_behind("n")
        os.kill(int(children(holder)[0]), signal.SIGKILL)
        ends(holder, -signal.SIGKILL)
        ends(waiter, 0)


@row("SIGTERM to fairsem-limit")
def terminated():
    with played() as at:
        holder = at.hold("n", "sh -c", "trap 'exit 3' TERM; echo; while :; do sleep 0.1; done")
        holder.stdout.readline()
        first, second = at.wait_behind("n"), at.wait_behind("n")
        first.terminate()
        ends(first, -signal.SIGTERM)
        holder.terminate()
        ends(holder, 3)
        ends(second, 0)


def is_stopped(signal_it):
    """Stop a holder by a signal, until its lease has ended and the next command has run.  Then let it go on: it
    must end its command."""
    with played() as at:
        holder = at.hold("n", options="--ttl=6")
        command, waiter = children(holder)[0], at.wait_behind("n")
        signal_it(holder.pid, signal.SIGSTOP)
        lease_ends(at)
        ends(waiter, 0)
        assert lives(command)
        signal_it(holder.pid, signal.SIGCONT)
        ends(holder, 125, "(etcd has ended the lease|the lease was not renewed in time); the command is ended")
        assert not lives(command)


@row("SIGSTOP to fairsem-limit only")
def stopped():
    is_stopped(os.kill)


# ---------------------------------------------------------------- machines
@row("a machine sleeps, or SIGSTOP to the process group")
def sleeps():
    is_stopped(os.killpg)


def with_own_line(at):
    """Returns a proxy for the connection of one machine, and options that use the proxy."""
    proxy = Proxy(at.etcd.url)
    return proxy, "--ttl=2 --cluster=" + proxy.url


@row("a machine is cut off from etcd")
def cut_off():
    with played() as at:
        proxy, here = with_own_line(at)
        holder = at.hold("n", "sh -c", "exec 2> /dev/null; trap 'exit 0' TERM; while :; do sleep 0.1; done",
                         options=here)
        waiter, other = at.wait_behind("n", options=here), at.wait_behind("n")
        proxy.drop(new=True)
        late = at.begin("-w 1 --cluster=%s n 1 -- true" % proxy.url)
        ends(holder, 125, "the lease was not renewed in time; the command is ended")
        ends(waiter, 125, "etcd does not answer")
        ends(late, 124, "timed out after 1 s; etcd does not answer$")
        assert at.shows("running 1, waiting 2$", "n")
        lease_ends(at, "/q/")
        lease_ends(at)
        ends(other, 0)
        proxy.stop()


@row("a machine is reset or loses power")
def reset():
    with played() as at:
        proxy, here = with_own_line(at)
        holder = at.hold("n", options=here + " --ttl=600")
        command, other = children(holder)[0], at.wait_behind("n")
        proxy.drop(new=True)
        os.killpg(holder.pid, signal.SIGKILL)
        wait_until("nothing lives", lambda: not lives(holder.pid) and not lives(command))
        assert at.shows("running 1, waiting 1$", "n")
        lease_ends(at)
        ends(other, 0)
        proxy.stop(drops=False)


# CLOCK_REALTIME jumps as soon as the file exists.
CLOCK = """#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_clock_gettime64
#define SYS_clock_gettime64 SYS_clock_gettime
#endif

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME && access(getenv("CLOCK_FILE"), F_OK) == 0)
        now->tv_sec += atoi(getenv("CLOCK_BY"));
    return (int)result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    *now = (struct timeval){ exact.tv_sec, exact.tv_nsec / 1000 };
    return 0;
}

time_t time(time_t *now)
{
    struct timespec exact;

    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != NULL)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
"""


def since(at):
    """Returns when each user began, in seconds since 1970, the earliest time first."""
    told = json.loads(at.gives(0, "--status=json n"))["names"][0]["users"]
    return sorted(calendar.timegm(time.strptime(user["since"], "%Y-%m-%dT%H:%M:%SZ")) for user in told)


@row("a machine's clock is set")
@with_leases(6, 24, 96)
def clock_is_set(ttl=None):
    if "FAIRSEM_TESTS_EMULATED" in os.environ or "-fsanitize" in os.environ.get("CFLAGS", ""):
        pytest.skip(NOT_HERE + "preloaded into an emulator, or before a sanitizer")
    library, jump = WORK + "/clock.so", "%s/clock.%d" % (WORK, ttl)
    compiles(" ".join(CC), "-shared", "-fPIC", file("clock.c", CLOCK), "-o", library)
    with played() as at:
        def hold(by):
            return at.hold("n", limit=4, options="--ttl=%d" % ttl,
                           env={"LD_PRELOAD": library, "CLOCK_FILE": jump, "CLOCK_BY": str(by)})

        held = [hold(86400), hold(-86400)]
        open(jump, "w", encoding="ascii").close()
        before = at.etcd.counts.get("/v3/lease/keepalive", 0)
        wait_until("they renew", lambda: at.etcd.counts.get("/v3/lease/keepalive", 0) >= before + 5
                   or any(holder.poll() is not None for holder in held))
        if any(holder.poll() is not None for holder in held):
            raise TooSlow(held)
        held += [hold(86400), hold(-86400)]
        times = since(at)
        assert times[0] + 80000 < times[1] <= times[2] < times[3] - 80000, times
        for holder in held:
            let_go(holder)


# ---------------------------------------------------------------- etcd and its permissions
def passwords(*texts):
    """A file for each password."""
    return [as_user("root", text)["FAIRSEM_LIMIT_CLUSTER_PASSWORD_FILE"] for text in texts]


@row("a password is changed")
def password_changed():
    with played(user=("root", "old")) as at:
        at.env.update(as_user("root", "old"))
        old, new = passwords("old", "new")
        holder, waiter = at.hold("n"), at.wait_behind("n")
        shutil.copy(new, old)
        at.gives(125, "n 1 -- true", says="n: etcd has refused the user")
        with at.etcd.change:        # change the password in etcd, too, which forgets its earlier tokens
            at.etcd.user, at.etcd.tokens = ("root", "new"), at.etcd.tokens + 1
        holder.terminate()
        ends(holder, -signal.SIGTERM)
        ends(waiter, 0)
        at.gives(0, "n 1 -- true")


@row("a role loses its permission")
def no_permission():
    with played() as at:
        holder, waiter = at.hold("n", options="--ttl=6"), at.wait_behind("n", options="--ttl=6")
        at.etcd.add("/kv/txn", 0, "error", 7, 403, "etcdserver: permission denied")
        for line in "n 1 -- true", "--status n":
            at.gives(125, line, says="n: etcd has refused the user.*: HTTP 403: .*permission denied")
        ends(waiter, 125, "etcd has refused the user.*permission denied")
        ends(holder, 125, "the lease was not renewed in time; the command is ended: .*: HTTP 403: .*permission d")


@row("a URL leads to something else")
def another_server():
    with played() as at, played(faults=[("", 0, "page", 404, "404 page not found\n")]) as wrong:
        holder = at.hold("n", options="--cluster=%s,%s" % (wrong.etcd.url, at.etcd.url))
        waiter = at.wait_behind("n", options="--cluster=%s,%s" % (wrong.etcd.url, at.etcd.url))
        at.gives(125, "--cluster=%s n 1 -- true" % wrong.etcd.url,
                 says="n: etcd's answer is invalid: .*: HTTP 404: 404 page not found$")
        holder.terminate()
        ends(holder, -signal.SIGTERM)
        ends(waiter, 0)


# ---------------------------------------------------------------- the page
def first_columns(heading):
    """Returns the first column of the table below the heading, row by row, without backquotes."""
    table = page().split("\n## %s\n" % heading)[1].split("\n## ")[0]
    lines = re.findall(r"^\| (.*?) \|", table, re.M)
    assert len(lines) > 1
    return [line.replace("`", "") for line in lines[1:]]


def test_each_row_is_a_case_and_each_case_is_a_row():
    cases = [*ROWS, *ELSEWHERE, *test_operating_etcd.ROWS]
    assert sorted(first_columns("What happens after")) == sorted(cases)


def messages():
    """Returns the text of the sources, with adjacent literals joined; and its messages and reasons."""
    text = "".join(open("%s/src/limit/%s.c" % (TOP_SRCDIR, part), encoding="utf-8").read()
                   for part in ("cluster", "cluster_supervise", "cluster_open", "cluster_status", "cluster_acquire",
                                "output"))
    text = re.sub(r'"\s*"', "", re.sub('" PRId64\\s*"?', "", text))
    said = r'(?:warnx|say|output_failure|why =)[( ][^";]*"([^"]*[a-z]{3} [^"]*)"'
    return text, re.findall(said + r'|case E\w+: +return "(.*?)"', text)


def test_each_message_is_on_the_page_and_each_of_the_page_is_in_the_source():
    told = [line.replace("...", "%s") for line in first_columns("What it says")]
    source, found = messages()
    assert len(found) > 15
    assert [said for said, _ in found if said and not any(line in said for line in told)] == []
    assert [reason for _, reason in found if reason and reason not in told] == []
    assert [line for line in told if line not in source] == []


@pytest.mark.waits
@pytest.mark.parametrize("name", ROWS)
def test_what_happens_after(name):
    ROWS[name]()

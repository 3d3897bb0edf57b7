# SPDX-License-Identifier: MIT
"""etcd.py - helpers for tests of the limit between machines: a real etcd, its users, and a judge.

The judge reads etcd's complete history of a name, and the log of the users.  The judge knows the keys and the
promises of the library, but not how the library works.
"""

import base64
import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request

from hang import hang_s, wait_until

USER = os.path.join(os.environ.get("top_builddir", "."), "tests/cluster/cluster_user")
LONG = 600              # a lease that is longer than any test
HOLD = 1000000000       # a hold that lasts until SIGTERM
# Results of a user that could not keep its lease, or got no answer in time.
TOO_SLOW = ("lost ENETUNREACH", "lost ESTALE", "ENETUNREACH", "ESTALE")
ALL_KEYS = {"key": base64.b64encode(b"fairsem/").decode(),
            "range_end": base64.b64encode(b"fairsem0").decode()}
DAMAGE = "nonsense"     # an invalid value that a test stores in a key of the library


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Etcd:
    """Members of etcd on loopback addresses, whose files are below `work`."""

    def __init__(self, work, count, *options, tls=()):
        for name in list(os.environ):
            if name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
                del os.environ[name]
        ports = free_ports(2 * count)
        scheme = "https" if tls else "http"
        self.tls = tls
        self.urls = ["%s://127.0.0.1:%d" % (scheme, port) for port in ports[:count]]
        peers = ["http://127.0.0.1:%d" % port for port in ports[count:]]
        cluster = ",".join("m%d=%s" % (i, peer) for i, peer in enumerate(peers))
        self.commands = [
            ["etcd", "--name", "m%d" % i, "--data-dir", os.path.join(work, "m%d" % i),
             "--listen-client-urls", self.urls[i], "--advertise-client-urls", self.urls[i],
             "--listen-peer-urls", peers[i], "--initial-advertise-peer-urls", peers[i],
             "--initial-cluster", cluster, "--initial-cluster-state", "new", *options]
            for i in range(count)]
        self.work = work
        self.members = [None] * count
        self.up = set()                 # members that run and are not stopped
        for i in range(count):
            self.start(i)
        try:
            self.wait_healthy()
        except AssertionError:
            self.stop()
            raise

    @property
    def endpoints(self):
        return ",".join(self.urls)

    def user(self, first=0, **options):
        """Starts a user whose first endpoint is this member."""
        urls = self.urls[first:] + self.urls[:first]
        return User(**{"endpoints": ",".join(urls), "ttl": LONG, **options})

    def holder(self, first=0, **options):
        before, user = self.running(), self.user(first, hold=HOLD, **options)
        wait_until("it runs", lambda: self.running() > before)
        return user

    def waiter(self, first=0, **options):
        before, user = self.waiting(), self.user(first, **options)
        wait_until("it waits", lambda: self.waiting() > before)
        return user

    def start(self, i):
        log = open(os.path.join(self.work, "m%d.log" % i), "ab")
        self.members[i] = subprocess.Popen(self.commands[i], stdout=log, stderr=log)
        log.close()
        self.up.add(i)

    def signal(self, i, number):
        self.members[i].send_signal(number)
        if number == signal.SIGCONT:
            self.up.add(i)
        else:
            self.up.discard(i)
        if number == signal.SIGKILL:
            self.members[i].wait()

    def stop(self):
        for member in self.members:
            if member is not None and member.poll() is None:
                member.send_signal(signal.SIGCONT)
                member.kill()
                member.wait()

    def run(self, *arguments):
        urls = ",".join(self.urls[i] for i in sorted(self.up))
        command = ["etcdctl", "--endpoints", urls, *self.tls, *arguments]
        return subprocess.run(command, env=dict(os.environ, ETCDCTL_API="3"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=hang_s())

    def ctl(self, *arguments):
        done = self.run(*arguments)
        if done.returncode != 0:
            raise AssertionError("%s: %s" % (arguments, done.stderr.decode()))
        return done.stdout.decode(errors="replace")

    def wait_healthy(self):
        wait_until("etcd is healthy", lambda: self.run("endpoint", "health").returncode == 0)

    def leader(self):
        found = []
        wait_until("there is a leader", lambda: found.append(self.find_leader())
                   or found[-1] is not None)
        return found[-1]

    def find_leader(self):
        status = json.loads(self.ctl("endpoint", "status", "-w", "json"))
        for entry in status:
            if entry["Status"]["leader"] == entry["Status"]["header"]["member_id"]:
                return self.urls.index(entry["Endpoint"])
        return None

    def post(self, member, path, body):
        request = urllib.request.Request(self.urls[member] + path, json.dumps(body).encode())
        return urllib.request.urlopen(request, timeout=hang_s())

    def keys(self):
        if self.tls:
            return self.ctl("get", "--prefix", "fairsem/", "--keys-only").split()
        answer = None

        def has_answered():
            nonlocal answer
            try:
                answer = json.load(self.post(min(self.up), "/v3/kv/range",
                                             {**ALL_KEYS, "keys_only": True}))
            except urllib.error.HTTPError as error:
                if error.code != 503:   # there is no leader, for a while
                    raise
            return answer is not None

        wait_until("etcd answers", has_answered)
        return [base64.b64decode(pair["key"]).decode() for pair in answer.get("kvs", [])]

    def waiting(self):
        return sum("/q/" in key for key in self.keys())

    def running(self):
        return sum("/r/" in key for key in self.keys())

    def left(self):
        """Returns the remaining seconds of each lease that a key below fairsem/ has."""
        left = {}
        for pair in json.loads(self.ctl("get", "--prefix", "fairsem/", "-w", "json")).get("kvs", []):
            if "lease" in pair:
                told = self.ctl("lease", "timetolive", "%x" % pair["lease"], "-w", "json")
                left[pair["lease"]] = json.loads(told)["ttl"]
        return left

    def wait_renewed(self, times=1):
        """Wait until the lease of each user that runs or waits now has been renewed `times` times."""
        last, renewed = {}, {}

        def are_renewed():
            try:
                now = self.left()
            except AssertionError:      # there is no leader, for a while
                return False
            for lease, left in now.items():
                renewed[lease] = renewed.get(lease, 0) + (left > last.get(lease, left))
                last[lease] = left
            return min(renewed.values(), default=0) >= times

        wait_until("all are renewed", are_renewed)

    def history(self, member=0):
        """All changes below fairsem/, in their order: (revision, type, key, value)."""
        # The change by this put marks the end of the history.
        put = json.load(self.post(member, "/v3/kv/put", {
            "key": base64.b64encode(b"fairsem/!").decode(), "value": ""}))
        last = int(put["header"]["revision"])
        events = []
        stream = self.post(member, "/v3/watch",
                           {"create_request": {**ALL_KEYS, "start_revision": "1"}})
        for line in stream:
            result = json.loads(line)["result"]
            if result.get("canceled"):
                raise AssertionError("the history is gone: %s" % result)
            for event in result.get("events", []):
                pair = event["kv"]
                revision = int(pair["mod_revision"])
                if revision >= last:
                    stream.close()
                    return events
                events.append((revision, event.get("type", "PUT"),
                               base64.b64decode(pair["key"]).decode(),
                               base64.b64decode(pair.get("value", "")).decode()))
        raise AssertionError("the history has no end")


class User(subprocess.Popen):
    """A running cluster_user with these arguments."""

    def __init__(self, **options):
        super().__init__([USER] + ["%s=%s" % option for option in options.items()],
                         stdout=subprocess.PIPE)

    def finish(self):
        """Let the user release its units, and wait for the result."""
        self.terminate()
        return self.result()

    def result(self):
        """Returns the exit status and the output, at the end."""
        out = self.communicate(timeout=hang_s())[0].decode().strip()
        return self.returncode, out


def judge_history(events):
    """Check that the limit was never exceeded, and that holds began in strict order.  Returns their number."""
    limit, first, waiting, running, began = {}, {}, {}, {}, 0
    at = 0
    while at < len(events):
        revision = events[at][0]
        group = []
        while at < len(events) and events[at][0] == revision:
            group.append(events[at])
            at += 1
        before = {name: dict(queue) for name, queue in waiting.items()}
        new = []
        for _, kind, key, value in group:
            parts = key.split("/")
            if len(parts) < 3:
                continue
            name, what = parts[1], parts[2]
            queue, runs = waiting.setdefault(name, {}), running.setdefault(name, {})
            if what == "r-limit":
                now, made_with = map(int, value.split()) if kind == "PUT" else (0, 0)
                if (queue or runs) and first.get(name) != made_with:
                    raise AssertionError("%s was made anew while it is used" % name)
                limit[name], first[name] = now, made_with
            elif what == "q":
                lease = parts[4]
                if kind == "PUT":
                    queue[lease] = (int(parts[3]), revision)
                else:
                    queue.pop(lease, None)
            elif what == "r":
                if value == DAMAGE:
                    continue
                if kind == "PUT":
                    runs[parts[3]] = json.loads(value)["units"]
                    new.append((name, parts[3]))
                else:
                    runs.pop(parts[3], None)
        for name, lease in new:
            began += 1
            queue = before.get(name, {})
            if lease not in queue:
                raise AssertionError("%s began at %d without waiting" % (lease, revision))
            if queue[lease] != min(queue.values()):
                raise AssertionError("%s began at %d before %s" % (lease, revision,
                                                                   min(queue.values())))
            if sum(running[name].values()) > limit[name]:
                raise AssertionError("%d: %s of %d units run" % (revision, running[name],
                                                                 limit[name]))
    return began


def judge_log(path, limit):
    """Check that never more than `limit` units were used at a time.  Returns the number of holds."""
    uses = {}
    with open(path) as log:
        for line in log:
            what, at, fence, units = line.split()
            if what != "end":
                use = uses.setdefault(int(fence), [int(at), int(at), int(units)])
                use[1] = max(use[1], int(at))
    # At equal times sort ends before beginnings: the two uses have no time in common.
    steps = sorted([(first, 1, units) for first, _, units in uses.values()]
                   + [(last, 0, -units) for first, last, units in uses.values()])
    total = 0
    for at, _, units in steps:
        total += units
        if total > limit:
            raise AssertionError("%d units were used at %d, of %d" % (total, at, limit))
    return len(uses)

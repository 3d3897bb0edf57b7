# SPDX-License-Identifier: MIT
"""Clients come, end, and are killed and stopped, at a real etcd.

    FAIRSEM_CLUSTER_STORM="SECONDS CLIENTS MEMBERS" FAIRSEM_SEED=SEED

With three members, the members are killed and stopped, too, one at a time.  Afterwards the judge reads the
history of etcd and the log of the clients.  All undisturbed clients must have been served.
"""

import os
import random
import signal
import time

import pytest

from cases import WORK, hang_s, limit_time
from etcd import TOO_SLOW, User, judge_history, judge_log

LIMIT = 5
seed = int(os.environ.get("FAIRSEM_SEED") or random.randrange(1 << 30))
seconds, clients, MEMBERS = map(int, os.environ.get("FAIRSEM_CLUSTER_STORM", "3 64 1").split())
dice = random.Random(seed)
TTL = 4                 # clients for which this is too short on a slow machine are counted


class Storm:
    def __init__(self, etcd):
        self.etcd = etcd
        self.log = os.path.join(WORK, "storm.log")
        self.running, self.hurt, self.stopped = [], set(), {}
        self.served = self.killed = self.late = self.slow = 0

    def begin_one(self):
        urls = list(self.etcd.urls)
        dice.shuffle(urls)
        self.running.append(User(
            endpoints=",".join(urls), name="storm", limit=LIMIT, units=dice.randint(1, 3),
            priority=dice.choice((0, 0, 0, -1, 1)), hold=dice.choice((0, 5, 20, 60)), ttl=TTL,
            log=self.log))

    def reap(self):
        for user in list(self.running):
            if user.poll() is None:
                continue
            self.running.remove(user)
            printed = user.communicate()[0].decode().strip()
            if user.returncode == 0:
                self.served += 1
            elif user.returncode == -signal.SIGKILL:
                self.killed += 1
            elif printed in TOO_SLOW:
                self.late += user in self.hurt  # the user was stopped until its lease had ended
                self.slow += user not in self.hurt
            else:
                raise AssertionError("%d: %s" % (user.returncode, printed))

    def hurt_one(self):
        if not self.running:
            return
        user = dice.choice(self.running)
        self.hurt.add(user)
        if dice.random() < 0.6:
            user.kill()
        elif user not in self.stopped:
            user.send_signal(signal.SIGSTOP)
            self.stopped[user] = time.monotonic() + dice.choice((0.1, TTL * 0.7, TTL * 1.3))

    def go_on(self, all_of_them=False):
        for user, until in list(self.stopped.items()):
            if all_of_them or time.monotonic() > until:
                user.send_signal(signal.SIGCONT)
                del self.stopped[user]

    def bring_back(self, member):
        """Continue a member that was stopped, or start one that was killed."""
        if self.etcd.members[member].poll() is None:
            self.etcd.signal(member, signal.SIGCONT)
        else:
            self.etcd.start(member)

    def run(self):
        end = time.monotonic() + seconds
        next_hurt, member_back, member = time.monotonic() + 0.3, 0, None
        while time.monotonic() < end or self.killed < 3:
            while len(self.running) < clients:
                self.begin_one()
            self.reap()
            self.go_on()
            now = time.monotonic()
            if now > next_hurt:
                self.hurt_one()
                next_hurt = now + dice.expovariate(8)
            if MEMBERS > 1 and now > member_back:
                if member is not None:
                    self.bring_back(member)
                    member = None
                    member_back = now + 3
                else:
                    member = dice.randrange(MEMBERS)
                    self.etcd.signal(member, dice.choice((signal.SIGKILL, signal.SIGSTOP)))
                    member_back = now + 2
            time.sleep(0.01)
        if member is not None:
            self.bring_back(member)
        self.go_on(all_of_them=True)
        limit_time(60)
        end = time.monotonic() + hang_s()
        while self.running or self.served < clients:
            # On a slow machine some clients are not served, so start more.
            if self.served + len(self.running) < clients:
                self.begin_one()
            self.reap()
            if time.monotonic() > end:
                raise AssertionError("%d were served, %d wait" % (self.served, len(self.running)))
            time.sleep(0.01)


@pytest.fixture(scope="module")
def storm(etcd):
    limit_time(seconds)
    storm = Storm(etcd)
    print("seed", seed)
    storm.run()
    etcd.wait_healthy()
    return storm


def test_all_undisturbed_clients_are_served(storm):
    assert storm.served >= clients
    print("%d served, %d killed, %d stopped for too long; for %d this machine was too slow"
          % (storm.served, storm.killed, storm.late, storm.slow))


def test_all_requests_begin_in_order(storm):
    assert judge_history(storm.etcd.history()) > 0


def test_the_limit_is_never_exceeded(storm):
    assert judge_log(storm.log, LIMIT) > 0

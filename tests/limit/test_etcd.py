# SPDX-License-Identifier: MIT
"""fairsem-limit --cluster with a real etcd, where leases end."""

import signal

import pytest

from cases import WORK, needs, wait_until
from conftest import lives
from etcd import Etcd, judge_history
from test_cluster import (  # noqa: F401 these are cases, too
    Cluster, a_lease_is_lost, check_users, children, library, test_a_command_inside_does_not_wait_for_itself,
    test_a_signal_ends_the_wait, test_commands_begin_in_order_within_the_limit,
    test_the_command_has_its_arguments_and_gives_its_status, test_the_limit_can_be_changed,
    test_the_progress_line_shows_the_place, test_the_status_lists_all_names,
    test_the_status_shows_holders_and_waiters, used)


@pytest.fixture(scope="module")
def at():
    library()
    needs("etcd", "etcdctl")
    etcd = Etcd(WORK, 1)
    cluster = Cluster(etcd)
    yield cluster
    cluster.end()
    etcd.stop()


def test_the_place_of_a_killed_holder_comes_back(at):
    """The place comes back when its lease ends.  The command is dead."""
    holder = at.hold("g", options="--ttl=10")
    child, waiter = children(holder)[0], at.wait_behind("g", "exit 3")
    holder.kill()
    assert waiter.wait() == 3
    assert not lives(child), "the command of a fairsem-limit that was killed goes on"


def test_a_command_is_killed_when_etcd_is_gone(at):
    assert a_lease_is_lost(at, 24, lambda: at.etcd.signal(0, signal.SIGSTOP),
                           "the lease was not renewed in time") == "terminated\n"
    at.etcd.signal(0, signal.SIGCONT)
    wait_until("the lease ends", lambda: at.etcd.running() == 0)


def test_commands_began_in_order(at):
    assert judge_history(at.etcd.history()) > 0


def test_only_the_right_user_is_served(at):
    for command in "user add root:secret", "role add root", "user grant-role root root", "auth enable":
        at.etcd.ctl(*command.split())
    check_users(at)

# SPDX-License-Identifier: MIT
"""fairsem-limit --cluster, and a program with libfairsem-cluster, when memory runs out; see test_memory.py.

fake.py plays the etcd.
"""

import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from cases import WORK, hang_s, run
from etcd import LONG, USER
from fake import Fake
from test_cluster import library, played
from test_memory import ALL, NO_MEMORY, ends_well, failing, has_failed, pytestmark  # noqa: F401 of each case


def play(program, plays, others, count=1, step=1):
    """Let each `step`-th request fail, in several plays at the same time, until a play makes no more requests."""
    def one(number):
        mark, env = failing(program, others, number, count)
        plays(env)
        return has_failed(mark)

    with ThreadPoolExecutor(8) as threads:
        for first in itertools.count(1, 8 * step):
            if not all(list(threads.map(one, range(first, first + 8 * step, step)))):
                break
    assert first > 1, "it asks for little memory"


@pytest.mark.parametrize("others, count, step", (("no", 1, 1), ("no", ALL, 1), ("yes", 1, 1), ("yes", ALL, 10)))
def test_a_user_of_a_cluster_ends_well(others, count, step):
    # Without any memory the library's thread sends no request, and the place is free only when its lease ends.
    silent = (others, count) == ("yes", ALL)
    ttl = 2 if silent else LONG

    def plays(env):
        fake = Fake()
        ended = run(USER, "endpoints=" + fake.url, "ttl=%d" % ttl, env={**os.environ, **env}, timeout=hang_s())
        said = ended.stdout.split("\n")[0]
        assert (ended.returncode == 0 and re.fullmatch("ok [0-9]+", said)
                or ended.returncode == 1 and re.fullmatch("(open )?(%s)" % NO_MEMORY, said)
                or silent and ended.returncode == 3), ended
        assert silent or not fake.keys_with("/r/") + fake.keys_with("/q/"), ended
        fake.stop()

    library()
    play("cluster_user", plays, others, count, step)


def test_no_message_is_printed_while_units_are_held():
    """A message might block, because the output of fairsem-limit may have no reader."""
    said, lengths = WORK + "/said", []
    with played(faults=[("/revoke", 0, "meanwhile", lambda fake: lengths.append(os.path.getsize(said)))]) as at:
        for number in itertools.count(1):
            mark, env = failing("fairsem-limit", "no", number, 1)
            with open(said, "w", encoding="utf-8") as stderr:
                at.run("test 1 -- true", env=env, stderr=stderr, timeout=hang_s())
            if not has_failed(mark):
                break
        assert number > 1 and set(lengths) == {0}


@pytest.mark.parametrize("line, status", (("test 4 -- sh -c 'exit 7'", 7), ("--status test", 0)))
def test_fairsem_limit_with_a_cluster_ends_well(line, status):
    """The failures are those of the first thread: the other threads are the library's."""
    with played() as at:
        at.gives(0, "test 4 -- true")
        play("fairsem-limit", lambda env: ends_well(at.run(line, env=env, timeout=hang_s()), status), "no")
        assert at.etcd.running() == at.etcd.waiting() == 0

# SPDX-License-Identifier: MIT
"""conftest.py - a fixture: a real etcd, for all cases of a file."""

import pytest

from cases import WORK, needs
from etcd import Etcd


@pytest.fixture(scope="module")
def etcd(request):
    """An etcd with as many members as the variable MEMBERS of the file says, by default one."""
    needs("etcd", "etcdctl")
    engine = Etcd(WORK, getattr(request.module, "MEMBERS", 1))
    yield engine
    engine.stop()

# SPDX-License-Identifier: MIT
"""The table of doc/operating.md: rows that need a real etcd, of one member or of three."""

import contextlib
import functools
import itertools
import json
import os
import re
import shutil
import signal
import urllib.request

import pytest

from cases import TOP_SRCDIR, needs, run
from conftest import lives
from etcd import Etcd
from test_cluster import Cluster, children, library
from test_secure import make_certificates, path

ROWS = {}


def add_row(rows, name):
    def add(case):
        rows[name] = case
        return case
    return add


row = functools.partial(add_row, ROWS)


def ends(process, status, says=None):
    """Check that the process ends with this status, and with this message about the name n, or without one."""
    said = process.communicate()[1]
    assert process.returncode == status, said
    assert re.match("fairsem-limit[^:]*: n: " + says, said) if says else said == "", said


def page():
    with open(TOP_SRCDIR + "/doc/operating.md", encoding="utf-8") as text:
        return text.read()


@contextlib.contextmanager
def real(name, *arguments, **options):
    library()
    needs("etcd", "etcdctl")
    os.makedirs(path(name))
    etcd = Etcd(path(name), *arguments, **options)
    cluster = Cluster(etcd)
    try:
        yield cluster
    finally:
        cluster.end()
        etcd.stop()


@row("kill -9 of one etcd of three")
def one_of_three():
    with real("one", 3) as at:
        holder, waiter = at.hold("n", options="--ttl=12"), at.wait_behind("n", options="--ttl=12")
        at.etcd.signal(at.etcd.leader(), signal.SIGKILL)
        at.etcd.wait_renewed()
        holder.terminate()
        ends(holder, -signal.SIGTERM)
        ends(waiter, 0)
        at.gives(0, "n 1 -- true")


@row("kill -9 of most of etcd")
def most():
    with real("most", 3) as at:
        holder, waiter = at.hold("n", options="--ttl=6"), at.wait_behind("n", options="--ttl=6")
        command = children(holder)[0]
        for member in 0, 1:
            at.etcd.signal(member, signal.SIGKILL)
        late = at.begin("n 1 -- true")
        told = json.loads(at.gives(125, "--status=json n"))
        assert told["names"] == [] and told["error"].startswith("n: etcd does not answer"), told
        ends(holder, 125, "the lease was not renewed in time; the command is ended: ")
        assert not lives(command)
        for each in waiter, late:
            ends(each, 125, "etcd does not answer")
        for member in 0, 1:
            at.etcd.start(member)
        at.etcd.wait_healthy()
        at.gives(0, "m 1 -- true")


def restore(etcd, snapshot):
    """Kill etcd, restore its data from the snapshot, and start etcd again with its first options."""
    start, options = etcd.commands[0], {}
    for name in "--name", "--data-dir", "--initial-cluster", "--initial-advertise-peer-urls":
        options[name] = start[start.index(name) + 1]
    etcd.signal(0, signal.SIGKILL)
    shutil.rmtree(options["--data-dir"])
    done = run("etcdctl", "snapshot", "restore", snapshot, *(word for option in options.items() for word in option),
               env={**os.environ, "ETCDCTL_API": "3"})
    assert done.returncode == 0, done
    etcd.start(0)
    etcd.wait_healthy()


@row("etcd is restored from a snapshot")
def restored():
    with real("restored", 1) as at:
        snapshot = path("snapshot")
        at.gives(0, "n 1 -- true")
        at.etcd.ctl("snapshot", "save", snapshot)
        holder, waiter = at.hold("n", options="--ttl=6"), at.wait_behind("n", options="--ttl=6")
        fence = int(at.shows(r"(\d+)  sleep$", "n")[1])
        restore(at.etcd, snapshot)
        smaller = int(at.gives(0, "n 1 -- sh -c 'echo $FAIRSEM_LIMIT_FENCE'"))
        assert smaller <= fence, "what etcdutl's --bump-revision is for"
        ends(holder, 125, ".*; the command is ended")
        ends(waiter, 125, ".")


@row("etcd raises its alarm NOSPACE")
def no_space():
    with real("full", 1, "--quota-backend-bytes", "1000000") as at:
        holder, waiter = at.hold("n", options="--ttl=12"), at.wait_behind("n", options="--ttl=12")
        for _ in range(30):
            at.etcd.run("put", "big", 100000 * "x")
        assert "NOSPACE" in at.etcd.ctl("alarm", "list")
        at.gives(125, "n 1 -- true", says="n: etcd's disk is full$")
        at.etcd.wait_renewed()
        holder.terminate()
        ends(holder, -signal.SIGTERM)
        assert at.shows("running 0, waiting 1$", "n")
        at.etcd.ctl("compact", at.etcd.ctl("get", "big", "-w", "fields").split('"Revision" : ')[1].split()[0])
        at.etcd.ctl("defrag")
        at.etcd.ctl("alarm", "disarm")
        ends(waiter, 0)
        at.gives(0, "n 1 -- true")


@row("certificates are changed")
def certificates_changed():
    needs("openssl")
    for ca in "old", "new":
        make_certificates(ca)
    with open(path("both.pem"), "w", encoding="ascii") as both:
        both.write(open(path("old.pem")).read() + open(path("new.pem")).read())
    names = {"old-%s.%s" % each: "new-%s.%s" % each for each in itertools.product(("server", "client"), ("pem", "key"))}
    with real("tls", 1, "--cert-file", path("old-server.pem"), "--key-file", path("old-server.key"),
              "--client-cert-auth", "--trusted-ca-file", path("both.pem"),
              tls=("--cacert", path("both.pem"), "--cert", path("old-client.pem"),
                   "--key", path("old-client.key"))) as at:
        for name, file in ("CA", "both.pem"), ("CERT", "old-client.pem"), ("KEY", "old-client.key"):
            at.env["FAIRSEM_LIMIT_CLUSTER_%s_FILE" % name] = path(file)
        holder, waiter = at.hold("n", options="--ttl=12"), at.wait_behind("n", options="--ttl=12")
        for old, new in names.items():
            shutil.copy(path(new), path(old))
        shown = run("openssl", "s_client", "-connect", at.etcd.urls[0].split("/")[2])
        assert re.search("subject=.*new-server", shown.stdout), shown
        at.gives(124, "-w 0 n 1 -- true")
        at.etcd.wait_renewed()
        holder.terminate()
        ends(holder, -signal.SIGTERM)
        ends(waiter, 0)


@pytest.mark.parametrize("name", ROWS)
def test_what_happens_after(name):
    ROWS[name]()


# ---------------------------------------------------------------- the rest of the page
def test_the_metrics_of_the_page_exist():
    metrics = re.findall(r"`((?:etcd|process)_\w+)`", page())
    assert len(metrics) > 5
    with real("metrics", 1) as at:
        there = urllib.request.urlopen(at.etcd.urls[0] + "/metrics").read().decode()
    assert [metric for metric in metrics if not re.search("^%s[ _{]" % metric, there, re.M)] == []


def test_the_roles_of_the_page_permit_what_it_says():
    """The commands of the page are run, and the permissions checked."""
    commands = re.search("^```sh\n(etcdctl role .*?)```", page(), re.M | re.S)[1]
    for name in "root", "backup", "monitor":
        path(name + ".password", name + "\n")
    with real("roles", 1) as at:
        done = run("sh", "-e", "-c", commands, cwd=path(""), env={**os.environ, "ETCDCTL_API": "3",
                                                               "ETCDCTL_ENDPOINTS": at.etcd.endpoints})
        assert done.returncode == 0, done
        at.gives(125, "n 1 -- true", says="n: etcd has refused the user")
        for name in "backup", "monitor":
            at.env["FAIRSEM_LIMIT_CLUSTER_USER"] = name
            at.env["FAIRSEM_LIMIT_CLUSTER_PASSWORD_FILE"] = path(name + ".password")
            for line in "n 1 -- true", "--status", "--status n", "--set-limit=2 n":
                reads = line.startswith("--status")
                at.gives(0 if reads or name == "backup" else 125, line)

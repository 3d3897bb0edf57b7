# SPDX-License-Identifier: MIT
"""The limit between machines with users, passwords and certificates, at a real etcd."""

import os
import shutil
import signal

import pytest

from cases import WORK, needs, run, wait_until
from etcd import Etcd
from proxy import Proxy


def path(name, text=None):
    full = os.path.join(WORK, name)
    if text is not None:
        with open(full, "w", encoding="ascii") as file:
            file.write(text)
    return full


@pytest.fixture(scope="module")
def passwords():
    """An etcd with a user whose role permits our keys, and the options of that user."""
    needs("etcd", "etcdctl")
    os.makedirs(path("auth"))
    etcd = Etcd(path("auth"), 1)
    for command in (("user", "add", "root:r"), ("user", "grant-role", "root", "root"),
                    ("user", "add", "me:secret"), ("role", "add", "limits"),
                    ("role", "grant-permission", "limits", "--prefix=true", "readwrite", "fairsem/"),
                    ("user", "grant-role", "me", "limits"), ("user", "add", "you:secret"),
                    ("auth", "enable")):
        etcd.ctl(*command)
    etcd.tls = ("--user", "root:r")
    yield etcd, {"user": "me", "password": path("good", "secret\n")}
    etcd.stop()


def test_the_right_password_is_accepted(passwords):
    etcd, good = passwords
    assert etcd.user(**good).result()[0] == 0


@pytest.mark.parametrize("change, wanted", (
    pytest.param({"password": path("wrong", "no\n")}, "EACCES", id="a wrong password"),
    pytest.param({"user": "you"}, "EACCES", id="a user who is not allowed"),
    pytest.param(None, "EACCES", id="nobody"),
    pytest.param({"password": path("absent")}, "open ENOENT", id="no file")))
def test_all_other_users_are_refused(passwords, change, wanted):
    etcd, good = passwords
    options = {} if change is None else {**good, **change}
    assert etcd.user(**options).result() == (1, wanted)


def test_a_list_of_names_needs_a_role_for_all_names(passwords):
    etcd, good = passwords
    for command in (("user", "add", "one:secret"), ("role", "add", "one"), ("user", "grant-role", "one", "one"),
                    ("role", "grant-permission", "one", "--prefix=true", "readwrite", "fairsem/one/")):
        etcd.ctl(*command)
    one = {**good, "user": "one"}
    assert etcd.user(name="one", **one).result()[0] == 0
    assert etcd.user(name="other", **one).result() == (1, "EACCES")
    assert etcd.user(names=1, **one).result() == (1, "EACCES")
    assert "one 1" in etcd.user(names=1, **good).result()[1].split("\n")


def test_a_member_that_starts_again_has_forgotten_its_tokens(passwords):
    etcd, good = passwords
    holder, waiter = etcd.holder(**good, ttl=24), etcd.waiter(**good, ttl=24)
    etcd.signal(0, signal.SIGKILL)
    etcd.start(0)
    etcd.wait_healthy()
    etcd.wait_renewed(2)        # the first renewal may be a part of the member's start
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0


def make_certificates(ca):
    """Makes a certificate authority, and two certificates."""
    def openssl(*arguments):
        assert run("openssl", *arguments, cwd=WORK).returncode == 0

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + ca,
            "-keyout", ca + ".key", "-out", ca + ".pem")
    path("names", "subjectAltName=IP:127.0.0.1\n")
    for name in (ca + "-server", ca + "-client"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name,
                "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key",
                "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", name + ".pem")


@pytest.fixture(scope="module")
def certificates():
    needs("etcd", "etcdctl", "openssl")
    make_certificates("ours")
    make_certificates("theirs")
    os.makedirs(path("tls"))
    mine = {"ca": path("ours.pem"), "cert": path("ours-client.pem"), "key": path("ours-client.key")}
    etcd = Etcd(path("tls"), 1, "--cert-file", path("ours-server.pem"), "--key-file",
                path("ours-server.key"), "--client-cert-auth", "--trusted-ca-file", path("ours.pem"),
                tls=("--cacert", mine["ca"], "--cert", mine["cert"], "--key", mine["key"]))
    yield etcd, mine
    etcd.stop()


@pytest.mark.parametrize("options, wanted", (
    pytest.param({}, None, id="ours"),
    pytest.param({"ca": path("theirs.pem")}, "EACCES", id="their authority"),
    pytest.param({"cert": path("theirs-client.pem"), "key": path("theirs-client.key")}, "EACCES",
                 id="their client"),
    pytest.param({"cert": "", "key": ""}, "EACCES", id="no client")))
def test_certificates_are_checked(certificates, options, wanted):
    etcd, mine = certificates
    options = {name: value for name, value in {**mine, **options}.items() if value}
    status, printed = etcd.user(**options).result()
    assert (status, printed) == (1, wanted) if wanted else status == 0


def test_a_closed_handshake_takes_no_place_away(certificates):
    """For a while each connection of a waiter is closed before any certificate is checked."""
    etcd, mine = certificates
    proxy = Proxy(etcd.urls[0])
    holder = etcd.holder(**mine)
    waiter = etcd.waiter(**mine, endpoints=proxy.url)
    proxy.close()
    # Until several attempts have been refused, or the waiter has given up, which is wrong.
    wait_until("it is refused", lambda: proxy.refused > 3 or waiter.poll() is not None)
    proxy.let_pass()
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0
    proxy.stop(drops=False)


def copy_of(mine, name):
    return {option: shutil.copy(file, path(name + option)) for option, file in mine.items()}


def test_connections_go_on_while_the_file_system_of_certificates_hangs(certificates):
    """The certificates are read once; later connections use the copies in memory."""
    etcd, mine = certificates
    proxy, own = Proxy(etcd.urls[0]), copy_of(mine, "hung-")
    holder = etcd.holder(**own, endpoints=proxy.url, ttl=24)
    for file in own.values():
        os.unlink(file)
        os.mkfifo(file)
    proxy.close()
    proxy.let_pass()
    etcd.wait_renewed(2)
    assert holder.finish()[0] == 0
    proxy.stop(drops=False)


def test_certificates_are_rotated(certificates):
    """First the server's and then the users' certificates change, while one user holds a unit and one waits."""
    etcd, mine = certificates
    own = copy_of(mine, "own-")
    holder, waiter = etcd.holder(**own, ttl=24), etcd.waiter(**own, ttl=24)
    etcd.signal(0, signal.SIGKILL)
    etcd.commands[0] = [word.replace("ours", "theirs") for word in etcd.commands[0]]
    etcd.tls = [word.replace("ours", "theirs") for word in etcd.tls]
    etcd.start(0)
    etcd.wait_healthy()
    for option, file in own.items():
        shutil.copy(mine[option].replace("ours", "theirs"), file)
    etcd.wait_renewed(2)
    assert holder.finish()[0] == 0
    assert waiter.result()[0] == 0

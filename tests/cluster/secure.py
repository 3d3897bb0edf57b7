# SPDX-License-Identifier: MIT
"""secure.py WORK - users, passwords and certificates at a real etcd."""

import os
import shutil
import signal
import subprocess
import sys

from etcd import LONG, Etcd, User
from hang import limit_time, not_tried, wait_until

work = sys.argv[1]


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError("%s: %r, not %r" % (what, found, wanted))


def path(name, text=None):
    full = os.path.join(work, name)
    if text is not None:
        with open(full, "w") as file:
            file.write(text)
    return full


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, cwd=work, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_certificates(ca):
    """A certificate authority, and two certificates that it has signed."""
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + ca,
            "-keyout", ca + ".key", "-out", ca + ".pem")
    path("names", "subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        name = ca + "-" + name
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name,
                "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key",
                "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", name + ".pem")


def passwords():
    """A user with a role for our keys; a member that starts again has forgotten its tokens."""
    os.makedirs(path("auth"))
    etcd = Etcd(path("auth"), 1)
    try:
        for command in (("user", "add", "root:r"), ("user", "grant-role", "root", "root"),
                        ("user", "add", "me:secret"), ("role", "add", "limits"),
                        ("role", "grant-permission", "limits", "--prefix=true", "readwrite",
                         "fairsem/"),
                        ("user", "grant-role", "me", "limits"), ("user", "add", "you:secret"),
                        ("auth", "enable")):
            etcd.ctl(*command)
        etcd.tls = ("--user", "root:r")
        good = {"endpoints": etcd.endpoints, "user": "me", "password": path("good", "secret\n"),
                "ttl": LONG}
        expect("good", User(**good).result()[0], 0)
        expect("wrong", User(**{**good, "password": path("wrong", "no\n")}).result(),
               (1, "EACCES"))
        expect("not allowed", User(**{**good, "user": "you"}).result(), (1, "EACCES"))
        expect("nobody", User(endpoints=etcd.endpoints).result(), (1, "EACCES"))
        expect("no file", User(**{**good, "password": path("absent")}).result(),
               (1, "open ENOENT"))
        holder = User(**{**good, "ttl": 24}, hold=1000000000)
        wait_until("it runs", lambda: etcd.running() == 1)
        waiter = User(**{**good, "ttl": 24})
        wait_until("it waits", lambda: etcd.waiting() == 1)
        etcd.signal(0, signal.SIGKILL)
        etcd.start(0)
        etcd.wait_healthy()
        etcd.wait_renewed(2)        # the first may be that of a member that begins
        expect("holder", holder.finish()[0], 0)
        expect("waiter", waiter.result()[0], 0)
    finally:
        etcd.stop()
    print("ok: passwords", flush=True)


def certificates():
    make_certificates("ours")
    make_certificates("theirs")
    os.makedirs(path("tls"))
    mine = {"ca": path("ours.pem"), "cert": path("ours-client.pem"),
            "key": path("ours-client.key")}
    etcd = Etcd(path("tls"), 1, "--cert-file", path("ours-server.pem"), "--key-file",
                path("ours-server.key"), "--client-cert-auth", "--trusted-ca-file",
                path("ours.pem"), tls=("--cacert", mine["ca"], "--cert", mine["cert"], "--key",
                                       mine["key"]))
    try:
        good = {"endpoints": etcd.endpoints, "ttl": LONG, **mine}
        expect("good", User(**good).result()[0], 0)
        expect("their authority", User(**{**good, "ca": path("theirs.pem")}).result(),
               (1, "EACCES"))
        status, printed = User(**{**good, "cert": path("theirs-client.pem"),
                                  "key": path("theirs-client.key")}).result()
        expect("their client", (status, printed), (1, "EACCES"))
        status, printed = User(endpoints=etcd.endpoints, ca=mine["ca"]).result()
        expect("no client", (status, printed), (1, "EACCES"))
    finally:
        etcd.stop()
    print("ok: certificates", flush=True)


limit_time()
passwords()
if shutil.which("openssl") is None:
    not_tried("certificates, without openssl")
else:
    limit_time()
    certificates()

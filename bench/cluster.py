# SPDX-License-Identifier: MIT
"""cluster.py WORK - the cost of the limit between machines, compared with `etcdctl lock`, at one real etcd.

Measures the time from the end of one command to the start of the next, for several numbers of waiting commands; the
time of an acquire and a release; and the processor time of etcd and of commands that wait.  Etcd and all clients
share the cores of one machine.
"""

import os
import statistics
import subprocess
import sys
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests")
sys.path[:0] = os.path.join(TESTS, "cluster"), os.path.join(TESTS, "support")
from etcd import Etcd, User  # noqa: E402
from hang import wait_until  # noqa: E402

work = sys.argv[1]
HANDOVERS = 40


def report(what, values):
    values = sorted(values)
    print("%-52s median %6.1f ms, longest %6.1f ms, of %d"
          % (what, statistics.median(values), values[-1], len(values)), flush=True)


def gaps(path, count):
    """The milliseconds from each end to the next begin, for the first `count` ends."""
    ends, begins = [], []
    with open(path) as log:
        for line in log:
            what, at = line.split()[:2]
            if what in ("begin", "end"):
                (begins if what == "begin" else ends).append(int(at))
    ends.sort()
    begins.sort()
    return [(begin - end) / 1e6 for end, begin in zip(ends, begins[1:])][:count]


def busy(pids):
    """The processor time of these processes, in seconds."""
    total = 0
    for pid in pids:
        with open("/proc/%d/stat" % pid) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def ours(etcd, waiting):
    log = os.path.join(work, "ours-%d" % waiting)
    holder = User(endpoints=etcd.endpoints, name="n%d" % waiting, hold=1000000, log=log)
    wait_until("it runs", lambda: etcd.running() == 1)
    threads = min(waiting, 25)
    users = [User(endpoints=etcd.endpoints, name="n%d" % waiting, threads=threads, log=log,
                  hold=1, times=max(1, HANDOVERS // waiting)) for _ in range(waiting // threads)]
    wait_until("all wait", lambda: etcd.waiting() == waiting)
    if waiting >= 50:
        pids, server = [user.pid for user in users], [etcd.members[0].pid]
        before, etcd_before, begin = busy(pids), busy(server), time.monotonic()
        time.sleep(20)
        took = time.monotonic() - begin
        print("%d that wait: %.2f %% of a core, and etcd %.2f %%"
              % (waiting, 100 * (busy(pids) - before) / took,
                 100 * (busy(server) - etcd_before) / took), flush=True)
    holder.terminate()
    holder.result()
    failed = sum(user.result()[0] != 0 for user in users)
    if failed:
        print("%d of %d programs failed" % (failed, len(users)))
    report("fairsem, %d waiting" % waiting, gaps(log, HANDOVERS))


def theirs(etcd, waiting):
    log = os.path.join(work, "theirs-%d" % waiting)
    script = "".join('date "+%s %%s%%N" >> %s\n' % (what, log) for what in ("begin", "end"))
    path, wait, flag = (os.path.join(work, name) for name in ("hold.sh", "wait.sh", "flag"))
    with open(path, "w") as file:
        file.write(script)
    with open(wait, "w") as file:
        file.write("while [ -e %s ]; do sleep 0.1; done\n" % flag)
    open(flag, "w").close()
    # The command is a script, because etcdctl would take a word that begins with "-" as an option of its own.
    lock = ["etcdctl", "--endpoints", etcd.endpoints, "lock", "lock%d" % waiting]
    command = lock + ["sh", path]
    environment = dict(os.environ, ETCDCTL_API="3")

    def waiters():
        return len(etcd.ctl("get", "--prefix", "lock%d/" % waiting, "--keys-only").split())
    holder = subprocess.Popen(lock + ["sh", wait], env=environment)
    wait_until("it runs", lambda: waiters() == 1)
    users = [subprocess.Popen(command, env=environment) for _ in range(waiting)]
    wait_until("all wait", lambda: waiters() == waiting + 1)
    os.remove(flag)
    for user in users:
        user.wait(300)
    holder.wait(300)
    report("etcdctl lock, %d waiting (it starts sh and date)" % waiting, gaps(log, HANDOVERS))


def main():
    print("%d cores, load %.1f" % (os.cpu_count(), os.getloadavg()[0]))
    etcd = Etcd(work, 1)
    try:
        begin = time.monotonic()
        User(endpoints=etcd.endpoints, times=100).result()
        print("100 times acquire and release, nobody waits: %.1f ms each"
              % (10 * (time.monotonic() - begin)), flush=True)
        for waiting in [int(count) for count in sys.argv[2:]] or (1, 50, 500):
            ours(etcd, waiting)
        for waiting in (2, 50):
            theirs(etcd, waiting)
    finally:
        etcd.stop()


main()

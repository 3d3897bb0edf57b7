# SPDX-License-Identifier: MIT
"""What fairsem-limit --status says: as a table, as JSON, and in the text format of Prometheus."""

import datetime
import json
import re
import subprocess

import pytest

from cases import run
from conftest import let_go, unshared


# ---------------------------------------------------------------- JSON
def test_an_unknown_format_is_an_error(limit):
    limit.gives(125, "--status=xml")


NOBODY_WAITED = {"count": 0, "seconds": 0, "longest": 0, "histogram": [0] * 28}


def test_a_name_without_users_is_shown(limit):
    limit.gives(0, "--keep test 1 -- true")
    told = limit.gives(0, "--status=json test")
    assert told.startswith('{"names": [{"name": "test", "global": false, "limit": 1, "free": 1, "users": []')
    assert json.loads(told)["names"][0]["waited"] == NOBODY_WAITED


def test_a_missing_name_is_an_error(limit):
    assert limit.gives(125, "--status=json none") \
        == '{"names": [], "error": "none: there is no such name"}\n'


def test_a_missing_directory_is_an_error(limit):
    told = json.loads(limit.gives(125, "--status=json --dir=@WORK/none"))
    assert told == {"names": [], "error": "%s/none: No such file or directory" % limit.work}


def test_an_unreadable_name_does_not_hide_the_others(limit):
    """The JSON has the error of the first unreadable name; stderr has the errors of all."""
    limit.gives(0, "--keep test 1 -- true")
    for name in "bad", "worse":
        with open(limit.segment(name), "w", encoding="ascii") as file:
            file.write(8192 * "x")
    told = json.loads(limit.gives(125, "--status=json", says="(?s)^fairsem-limit: bad: .*: worse: "))
    assert [name["name"] for name in told["names"]] == ["test"]
    assert told["error"].startswith("bad: ")


def test_watch_forgets_an_error(limit):
    watcher = limit.start("--watch --status=json none", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert "error" in json.loads(watcher.stdout.readline())
    limit.gives(0, "--keep none 1 -- true")
    while "error" in (told := json.loads(watcher.stdout.readline())):
        assert told["names"] == []
    assert told["names"][0]["name"] == "none"


@pytest.fixture
def used(limit):
    """A holder and a waiter."""
    holder = limit.hold()
    waiter = limit.wait(1, "-p -3 -w 100000 test 1 -- printf '%s'", '"\\\n\udcff\u00fc',
                        stdout=subprocess.DEVNULL)
    yield holder, waiter
    let_go(holder)
    assert waiter.wait() == 0


def test_the_status_lists_all_names(limit, used):
    limit.gives(0, "--global --keep test 5 -- true")
    told = limit.gives(0, "--status=json")
    assert told.count("\n") == 1
    own, everybody = sorted(json.loads(told)["names"], key=lambda name: name["global"])
    runs, waits = own.pop("users")
    assert own == {"name": "test", "global": False, "limit": 1, "free": 0, "waited": NOBODY_WAITED}
    assert everybody == {"name": "test", "global": True, "limit": 5, "free": 5, "users": [],
                         "waited": NOBODY_WAITED}
    for user, process in (runs, used[0]), (waits, used[1]):
        assert user["pid"] == user["local_pid"] == process.pid
    assert (runs["place"], waits["place"], waits["priority"], waits["units"]) == (0, 1, -3, 1)
    assert waits["command"] == 'printf %s "\\\n\ufffd\u00fc'
    since = datetime.datetime.strptime(runs["since"] + "+0000", "%Y-%m-%dT%H:%M:%SZ%z").timestamp()
    assert 0 <= runs["seconds"] < 100000 and abs(datetime.datetime.now().timestamp() - since) < 100000


def test_watch_prints_a_document_each_second(limit, used):
    watcher = limit.start("--watch --status=json test", stdout=subprocess.PIPE)
    for _ in range(2):
        assert json.loads(watcher.stdout.readline())["names"][0]["name"] == "test"


# ---------------------------------------------------------------- Prometheus
NAME, LABEL = "[a-zA-Z_:][a-zA-Z0-9_:]*", r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(r"(%s)(?:\{(%s(?:,%s)*)\})? (-?\d+(?:\.\d+)?)" % (NAME, LABEL, LABEL))
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def label_of(text):
    return re.sub(r"\\.", lambda at: ESCAPED[at[0]], text)


def read_metrics(text):
    """Returns the type and the samples of each metric, by name.  Checks that the text has, for each metric, one
    HELP and one TYPE, and all samples of the metric behind them."""
    families, lines = {}, iter(text.split("\n"))
    assert text.endswith("\n")
    for line in lines:
        if line == "":
            break
        if line.startswith("# HELP "):
            family, _ = re.fullmatch("# HELP (%s) ([^\\\\]+)" % NAME, line).groups()
            kind = re.fullmatch("# TYPE %s (gauge|counter|histogram)" % family, next(lines))[1]
            assert family not in families
            families[family] = kind, {}
            continue
        name, labels, *_, value = SAMPLE.fullmatch(line).groups()
        assert name[len(family):] in ("_bucket", "_sum", "_count") if kind == "histogram" else name == family, line
        key = name, *sorted((at[1], label_of(at[2])) for at in re.finditer(LABEL, labels or ""))
        assert key not in families[family][1], line
        families[family][1][key] = float(value)
    assert next(lines, None) is None
    return families


def value_of(metrics, metric, name, scope="user", suffix=""):
    return metrics[metric][1][metric + suffix, ("name", name), ("scope", scope)]


def buckets_of(metrics, name):
    """Returns the buckets, which are checked, as pairs: the upper limit in seconds, and the number of waits."""
    kind, samples = metrics["fairsem_limit_wait_seconds"]
    found = [(float(dict(key[1:])["le"]), count) for key, count in samples.items()
             if key[0].endswith("_bucket") and ("name", name) in key]
    assert kind == "histogram" and found[-1][0] == float("inf")
    assert found == sorted(found) and [count for _, count in found] == sorted(count for _, count in found)
    assert found[-1][1] == value_of(metrics, "fairsem_limit_wait_seconds", name, suffix="_count")
    return found


def test_the_metrics_show_all_names(limit, used):
    odd = 'a"\\b\udcff\u00fc'
    limit.gives(0, "--keep -n 3", odd, 5, "--", "true")
    limit.gives(0, "--global --keep test 7 -- true")
    metrics = read_metrics(limit.gives(0, "--status=prometheus"))
    assert [kind for kind, _ in metrics.values()] == 5 * ["gauge"] + ["histogram", "counter", "counter", "gauge"]
    for name, scope, values in (("test", "user", (1, 0, 1, 1)), ("test", "global", (7, 7, 0, 0)),
                                ('a"\\b\ufffd\u00fc', "user", (5, 5, 0, 0))):
        assert values == tuple(value_of(metrics, "fairsem_limit_" + what, name, scope)
                               for what in ("units", "free_units", "running", "waiting"))
    assert value_of(metrics, "fairsem_limit_oldest_wait_seconds", "test") > 0
    assert metrics["fairsem_limit_status_failed"][1] == {("fairsem_limit_status_failed",): 0}
    assert len(buckets_of(metrics, 'a"\\b\ufffd\u00fc')) == 28


def test_each_granted_wait_is_in_the_histogram(limit):
    """One wait is granted, and the buckets from its length on count it.  A wait that times out is in none."""
    limit.gives(0, "--keep test 1 -- true")
    holder = limit.hold()
    waiter = limit.wait(1, "test 1 -- true")
    limit.gives(124, "-w 0.1 test 1 -- true", says="timed out")
    let_go(holder)
    assert waiter.wait() == 0
    metrics = read_metrics(limit.gives(0, "--status=prometheus test"))
    length = value_of(metrics, "fairsem_limit_wait_seconds", "test", suffix="_sum")
    assert length > 0
    assert buckets_of(metrics, "test") == [(le, 1 if le >= length else 0) for le, _ in buckets_of(metrics, "test")]
    assert value_of(metrics, "fairsem_limit_timeouts_total", "test") == 1
    waited = json.loads(limit.gives(0, "--status=json test"))["names"][0]["waited"]
    assert waited["count"] == sum(waited["histogram"]) == 1
    assert abs(waited["seconds"] - length) < 1e-6 and waited["longest"] == waited["seconds"]


def test_the_metrics_report_a_name_that_cannot_be_read(limit):
    metrics = read_metrics(limit.gives(125, "--status=prometheus none", says="there is no such name"))
    assert metrics == {"fairsem_limit_status_failed": ("gauge", {("fairsem_limit_status_failed",): 1})}


def test_metrics_are_not_printed_repeatedly(limit):
    limit.gives(125, "--watch --status=prometheus test", says="--watch does not go with --status=prometheus")


# ---------------------------------------------------------------- another PID namespace
@pytest.fixture
def own_pids(limit):
    """Process 2 of a new PID namespace holds the unit.  Returns the command for a script in another one."""
    command = [*unshared("--pid", "--fork"), "sh", "-c"]
    script = limit.replaced("@PROGRAM test 1 -- sh -c 'read -r line' inner; true")
    holder = limit.popen([*command, script], stdin=subprocess.PIPE)
    limit.await_status("running 1")
    yield command
    let_go(holder)


def test_a_process_of_an_inner_namespace_is_shown_with_both_numbers(limit, own_pids):
    assert limit.shows(r"running  *2 .*\(here [0-9]*\) .*inner")


def test_a_process_outside_is_shown_without_a_command(limit, own_pids):
    script = limit.replaced("@PROGRAM --status test; @PROGRAM --status=json test; true")
    told = run(*own_pids, script, env=limit.env).stdout
    assert re.search(r"running  *2 .*\(in another PID namespace\)$", told, re.M), told
    assert re.search('"pid": 2, "local_pid": 0, .*"command": null}', told), told


@pytest.mark.parametrize("how", ("", "exec"))
def test_a_process_with_the_same_number_holds_nothing(limit, own_pids, how):
    """The holder is process 2 of its namespace.  A command in another namespace does not take its parent, or
    itself, for the holder, although that is process 2, too."""
    script = limit.replaced("sh -c '%s @PROGRAM -w 0 test 1 -- true; exit $?'; exit $?" % how)
    ended = run(*own_pids, script, env={**limit.env, "FAIRSEM_LIMIT_HELD": limit.segment() + "=2:1"})
    assert ended.returncode == 124, ended

# SPDX-License-Identifier: MIT
"""The example programs work, and stay within their limits.

No case depends on the speed of the machine.
"""

import os
import re
import xml.etree.ElementTree

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, TOP_SRCDIR, run, wait_until

SOURCES, LIMIT = TOP_SRCDIR + "/src", TOP_BUILDDIR + "/fairsem-limit"


def ends(status, program, *arguments, needs=(), **options):
    """Run a program, which must exit with this status.  Returns what it prints."""
    for name in (program, *needs):
        if not os.path.exists(os.path.join(TOP_BUILDDIR, name)):
            pytest.skip(name + " was not built")
    done = run(os.path.join(TOP_BUILDDIR, program), *arguments, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def has_lines(text, *lines):
    for line in lines:
        assert re.search("^(%s)$" % line, text, re.M), "no line '%s' in:\n%s" % (line, text)


@pytest.mark.parametrize("program, arguments", (
    ("examples/compress-tree", ["/no/such/directory"]), ("examples/compress-tree", ["-j", "0", "/"]),
    ("examples/hog-and-victim", ["--no-such-option"]), ("examples/killed-jobs", [])))
def test_wrong_usage(program, arguments):
    ends(2, program, *arguments)


# ---------------------------------------------------------------- compress-tree
@pytest.fixture
def tree(tmp_path):
    """26 files: an empty one, one larger than all buffers, names that break careless programs, and more small
    files than may be open."""
    (tmp_path / "empty directory").mkdir()
    (tmp_path / "-dash/a").mkdir(parents=True)
    for name, content in {"empty": b"", "zeros": bytes(3000000), "noise": os.urandom(300000),
                          " two  spaces ": b"spaces", "new\nline": b"newline", "-dash/*?[x": b"star",
                          **{"-dash/a/%d" % number: b"small" for number in range(20)}}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link").symlink_to("zeros")
    (tmp_path / "loop").symlink_to(".")
    return tmp_path


def compressed(files, size, *arguments):
    """Run compress-tree, and check that it keeps its limits.  Returns how many files it verified and skipped."""
    text = ends(0, "examples/compress-tree", *arguments)
    numbers = {what: int(re.search("^%s +(\\d+)" % what, text, re.M)[1]) for what in (
        "peak open files", "peak buffer bytes", "files verified", "files failed", "skipped")}
    assert 1 <= numbers["peak open files"] <= files and 1 <= numbers["peak buffer bytes"] <= size
    assert numbers["files failed"] == 0
    return numbers["files verified"], numbers["skipped"]


@pytest.mark.parametrize("files, size, options", (
    (1, 1024, "-j 1 -b 1024 -t 8"), (3, 65536, "-j 3 -b 64K -t 16"), (8, 16777216, "")))
def test_compress_tree(tree, files, size, options):
    assert compressed(files, size, *options.split(), tree) == (26, 0)


def test_compress_tree_of_the_sources():
    assert compressed(2, 4096, "-j", "2", "-b", "4K", SOURCES)[0] > 0


@pytest.mark.skipif(os.getuid() == 0, reason="not here: root can read everything")
def test_compress_tree_with_a_file_that_cannot_be_read(tree):
    (tree / "noise").chmod(0)
    assert compressed(2, 65536, "-j", "2", "-b", "64K", tree) == (25, 1)


# ---------------------------------------------------------------- hog-and-victim
def test_hog_and_victim(tmp_path):
    """On a busy machine the victim may not be served in so short a time, and have no longest wait: then try again."""
    picture = tmp_path / "picture.svg"

    def met():
        text = ends(0, "examples/hog-and-victim", "--seconds", "0.3", "--svg", picture)
        return None if re.search("^ *times served .* 0( |$)", text, re.M) else text

    has_lines(wait_until("the hog meets the victim", met), *(
        " *%s +[0-9].* [0-9].*" % figure
        for figure in ("times served", "longest wait", "times the hog passed it in waiting")))
    assert xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason=NOT_HERE + "no process chooses its cores")
def test_hog_and_victim_says_that_one_core_shows_little(tmp_path):
    cores = sorted(os.sched_getaffinity(0))

    def says_so(some):
        return "On one core" in ends(0, "examples/hog-and-victim", "--seconds", "0.01", "--svg", tmp_path / "svg",
                                     preexec_fn=lambda: os.sched_setaffinity(0, some))
    assert says_so(cores[:1])
    assert len(cores) == 1 or not says_so(cores[:2])


# ---------------------------------------------------------------- the short programs
# These programs check their own results.  This case checks that they have done all their work.
@pytest.mark.parametrize("command, lines", (
    ("worker-pool", ["\\[0 1 7 2 5 8 16 3 19 6 14 9 9 17 17 4 12 20 20 7 7 .* 111 18 18 18 106 5\\]"]),
    ("consumer-priority", ["arrived 4, priority 0: served 1", "arrived 7, priority 0: served 2",
                           "arrived 2, priority 5: served 3", "arrived 5, priority 5: served 4",
                           "arrived 1, priority 9: served 5", "arrived 3, priority 9: served 6",
                           "arrived 6, priority 9: served 7", "all 5000 items taken once"]),
    ("budget-pool 100", ["begun and finished all, too late 0", "threads that ended 8",
                         "bytes free 67108864 of 67108864"]),
    ("start-rate", [r"(request \d starts\n){7}started 7 in [0-9]+ intervals",
                    "\n".join("request %d starts" % number for number in (0, 1, 2, 4, 5, 6, 7))]),
    ("start-once", ["jobs 4000", "started once 4000", "most in progress [1-3]",
                    "at once and by callback together 4000"]),
    # The numbers are requests, and how many of these are among the first 24 that were granted.
    ("tenants", [r"with    shares .*\nflood +64 +8 .*\nshop +12 +8 .*\nblog +12 +8 .*",
                 r"without shares .*\nflood +64 +24 .*\nshop +12 +0 .*\nblog +12 +0 .*"]),
    ("event-loop", ["served 12", "shed 10", "hung up 1", "refused at shutdown 8", "most in flight 4"]),
    # The columns are client, limit, fetched, timed out, canceled, most at once.
    ("fetch-limiter", ["crawler +6 +24 +0 +0 +[1-4]", "browser +2 +12 +0 +0 +[12]",
                       "hasty +2 +0 +8 +0 +0", "gone +3 +0 +0 +8 +0",
                       "at most [1-4] of 4 connections in use"]),
    ("prefork-server", ["requests 160", "workers that crashed 16", "units given back for them 16",
                        "most connections at once [1-3]", "units free at the end 3"])))
def test_does_all_its_work(command, lines):
    program, *arguments = command.split()
    has_lines(ends(0, "examples/" + program, *arguments), *lines)


# ---------------------------------------------------------------- with fairsem-limit
def test_cron_limit():
    text = ends(0, TOP_SRCDIR + "/examples/cron-limit.sh", LIMIT, needs=[LIMIT])
    has_lines(text, "order: mail www lib etc home", "most at once: 2")


@pytest.mark.parametrize("much", (True, False))
def test_killed_jobs(much, tmp_path):
    """Three processes are killed, whether there is much to do or nothing."""
    text = ends(0, "examples/killed-jobs", LIMIT, SOURCES if much else tmp_path, needs=[LIMIT])
    has_lines(text, "parts done 8, processes killed 3, most at once [1-3]",
              "files [0-9].*: the sum is right")
    assert len(re.findall("^.*KILLED", text, re.M)) == 3

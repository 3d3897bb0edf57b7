# SPDX-License-Identifier: MIT
"""On a 32-bit machine with two kinds of time_t, a program of one kind and a library of the other kind do not link.

A program passes deadlines as struct timespec.  A library of the other kind would read half of the seconds as
nanoseconds, and return too early or never.
"""

import functools
import re

import pytest

from cases import TOP_SRCDIR, WORK, NOT_HERE, run
from compiled import CC, INCLUDE, LIBRARY, file

KINDS = {4: ("-U_TIME_BITS", "-U_FILE_OFFSET_BITS"), 8: ("-D_TIME_BITS=64", "-D_FILE_OFFSET_BITS=64")}
HEADERS = ("fairsem.h", "fairsem/shared.h", "fairsem/posix.h")


def declared():
    """The functions with a deadline as an argument or a result."""
    text = ""
    for header in HEADERS:
        with open(TOP_SRCDIR + "/include/" + header, encoding="utf-8") as lines:
            text += lines.read()
    return sorted(re.findall("^FAIRSEM_API [^;(]*?(\\w+)\\([^;]*?(?:struct timespec|fairsem_wait_t)", text,
                             re.M))


def build(*options):
    return run(*CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Werror", INCLUDE, *options,
               "-o", WORK + "/program")


@functools.lru_cache(None)
def has_kind(size, *options):
    """Does the time_t of a program with these options have this size?"""
    text = "#include <time.h>\n_Static_assert(sizeof(time_t) == %d, \"\");\nint main(void) { return 0; }\n"
    return build(file("kind.c", text % size), *options).returncode == 0


def test_compiles_with_only_the_system_calls_for_a_wide_time():
    """Some machines, such as riscv32, have only these system calls."""
    text = "#include <sys/syscall.h>\n"
    for name in ("futex", "clock_gettime"):
        text += "#undef SYS_%s\n" % name
    text += "#ifndef SYS_futex_time64\n#define SYS_futex_time64 422\n#define SYS_clock_gettime64 403\n#endif\n"
    for name in ("system/park_futex.c", "shared/kernel.c"):
        source = file("wide.c", '#define _GNU_SOURCE\n%s#include "%s/src/%s"\n' % (text, TOP_SRCDIR, name))
        done = run(*CC, "-std=c11", INCLUDE, "-I%s/src" % TOP_SRCDIR, "-I%s/src/core" % TOP_SRCDIR,
                   "-fsyntax-only", source)
        assert done.returncode == 0, done.stderr


def test_there_are_functions():
    assert len(declared()) >= 10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", declared())
def test_links_with_a_library_of_its_own_kind_only(name, kind):
    if not all(has_kind(size, *options) for size, options in KINDS.items()):
        pytest.skip(NOT_HERE + "there is one kind of time_t")
    text = "#include <stdint.h>\n" + "".join("#include <%s>\n" % header for header in HEADERS)
    text += "int main(void) { return (int)(intptr_t)%s; }\n" % name
    done = build(file("calls.c", text), *KINDS[kind], LIBRARY, "-pthread")
    if has_kind(kind):
        assert done.returncode == 0, done.stderr
    else:
        assert "undefined reference to `%s" % name in done.stderr

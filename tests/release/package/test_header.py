# SPDX-License-Identifier: MIT
"""Each header compiles alone and included twice, without a warning, in each version of C and C++.

And each declared function is in those tables of the tests that must have all functions.
"""

import glob
import os
import re
import sys

import pytest

from cases import NOT_HERE, TOP_SRCDIR, WORK, run
from compiled import CXX_COMPILERS, C_COMPILERS, INCLUDE, file, needs_standard
from test_warnings import CALLS

# Functions without a state that a search could explore.
NOT_PLAYED = {"fairsem_stat_interval", "fairsem_strerror", "fairsem_version"}
# Functions that return no errno value; and fairsem_drain, whose result depends on other threads (see scenarios.c).
NO_ERRNO = NOT_PLAYED | {"fairsem_drain", "fairsem_token_reason"}

C_HEADERS, CXX_HEADERS = (sorted(glob.glob(TOP_SRCDIR + "/include/**/*." + suffix, recursive=True))
                          for suffix in ("h", "hpp"))

# Each header comes first in its source, so that no other header declares a name that this one lacks.
ALONE = {"alone-%s.c" % header.split("/")[-1]:
         "#include <%s>\n#include <%s>\ntypedef int translation_unit_not_empty;\n" % (header, header)
         for header in ("fairsem.h", "fairsem_private.h", "fairsem/shared.h", "fairsem/cluster.h")}
USE_C = """
#include <fairsem.h>
#include <stddef.h>

static fairsem_t slots = FAIRSEM_INITIALIZER(4);
static fairsem_t none = FAIRSEM_INITIALIZER(0);
struct pool { char flag; fairsem_t free; };
static struct pool pool = { 'p', FAIRSEM_INITIALIZER(INT64_C(1) << 40) };

int use(void);
int use(void)
{
    fairsem_attr_t attr = { "name", 8, 0, 0, { 0 }, 0, 0 };
    fairsem_t local;
    FAIRSEM_SCOPED fairsem_units_t units = { 0 };

    return fairsem_init(&local, FAIRSEM_VERSION_MAJOR, &attr)
        + fairsem_init(&none, FAIRSEM_VERSION_MINOR + FAIRSEM_VERSION_PATCH, NULL)
        + fairsem_acquire(&slots, 1) + fairsem_acquire_for(&pool.free, 1, 1000)
        + (fairsem_would_block(&slots, 2) ? FAIRSEM_VERSION_STRING[0] : 0)
        + (int)(offsetof(struct pool, free) + sizeof units);
}
"""
# The names of POSIX, with <semaphore.h> included before, after, or not at all.
USE_POSIX = """
static sem_t sem;
int (*take)(sem_t *) = sem_wait;
int use(void);
int use(void)
{
    struct timespec soon = { 0, 0 };
    int value;

    return sem_init(&sem, 0, 1) + take(&sem) + sem_trywait(&sem) + sem_timedwait(&sem, &soon)
        + sem_clockwait(&sem, 0, &soon) + sem_post(&sem)
        + sem_getvalue(&sem, &value) + sem_destroy(&sem) + (sem_open("/x", 0) == SEM_FAILED);
}
"""
HEADERS = {"P": "#include <fairsem/posix.h>\n", "S": "#include <semaphore.h>\n"}
POSIX = {"posix-%s.c" % order: "".join(HEADERS[letter] for letter in order) + USE_POSIX
         for order in ("P", "SP", "PS", "SPS")}
# fairsem.h in C++: inside a class, with constant expressions and keywords of C++.
USE_CC = """
#include <fairsem.h>
#include <fairsem.h>

class Slots {
public:
    Slots() : error(fairsem_init(&sem, 4, nullptr)) {}
    ~Slots() { if (fairsem_destroy(&sem) != 0) error = 1; }
    bool take() { return error == 0 && fairsem_tryacquire(&sem, 1) == 0; }
private:
    fairsem_t sem;
    int error;
};

static fairsem_t global = FAIRSEM_INITIALIZER(4);
struct pool { char flag; fairsem_t free; };
static struct pool pool = { 'p', FAIRSEM_INITIALIZER(INT64_C(1) << 40) };
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
static_assert(sizeof(fairsem_t) == (sizeof(pthread_mutex_t) == 64 ? 288 : 256),
              "the size is part of the binary interface");
static_assert(alignof(fairsem_t) == 16, "so is the alignment");

bool use();
bool use()
{
    static Slots slots;
    fairsem_wait_t how = {};
    fairsem_t local = FAIRSEM_INITIALIZER(sizeof pool);
    FAIRSEM_SCOPED fairsem_units_t units = {};

    how.token = &token;
    return slots.take() && fairsem_acquire_with(&global, 1, &how) == 0
        && fairsem_units_acquire(&units, &local, FAIRSEM_MAX_UNITS, nullptr) == 0
        && fairsem_release(&pool.free, 1) == 0;
}
"""
# A compiler warns about a template of fairsem.hpp only if a program uses the template.
USE_HPP = """
#include <fairsem.hpp>
#include <fairsem.hpp>

static fairsem::counting_semaphore<3> three(3);
static fairsem::binary_semaphore one(1);

struct seconds_clock {
    using duration = std::chrono::duration<int>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<seconds_clock>;
    static constexpr bool is_steady = false;
    static time_point now() { return time_point(duration(5)); }
};

bool use();
bool use()
{
    using std::chrono::duration;

    fairsem::token token;
    fairsem::units held(three), other(std::move(held));
    std::future<fairsem::units> future = three.acquire_future(2);

    held = other.split(1);
    return token.cancel() && one.try_acquire_for(duration<float>(1.f), 2, { -1, &token })
        && one.try_acquire_for(std::chrono::hours(1))
        && one.try_acquire_until(std::chrono::steady_clock::now() + duration<double>(1.))
        && one.try_acquire_until(std::chrono::system_clock::now() + duration<short>(1))
        && one.try_acquire_until(seconds_clock::now() + duration<unsigned char>(1));
}

#if defined(__cpp_lib_jthread)
bool stop(const std::stop_token &stop);
bool stop(const std::stop_token &stop)
{
    return one.acquire(stop, 2) && one.try_acquire_for(stop, std::chrono::hours(1))
        && one.try_acquire_until(stop, seconds_clock::now());
}
#endif

#if defined(__cpp_lib_coroutine)
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

/* gcc 12 finds a null pointer in code of its own, which makes any coroutine start. */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
task coroutine();
task coroutine()
{
    fairsem::units held = co_await three.async_acquire(2);
#if defined(__cpp_lib_jthread)
    held = co_await one.async_acquire(std::stop_token(), 1, -3);
#endif
}
#endif
"""
# Macros of other headers, of the compiler, and of programs that abbreviate an attribute.
OTHERS = {
    "<complex.h>": "I (1.0iF)|complex _Complex|imaginary _Imaginary",
    "<sys/sysmacros.h>": "major(dev) gnu_dev_major(dev)|minor(dev) gnu_dev_minor(dev)|makedev(x, y) 0",
    "X11": "Status int|Bool int|None 0L|True 1|False 0|Always 2|Success 0|Complex 0",
    "windows.h": "min(a, b) 0|max(a, b) 0|small char|interface struct|near|far|IN|OUT|ERROR 0|DELETE 0",
    "gcc": "unix 1|linux 1",
    "programs": "|".join("%s __attribute__((%s))" % (name, name) for name in (
        "aligned always_inline cleanup diagnose_if gnu_inline noinline nonnull visibility warning"
        " warn_unused_result").split())}
IN_C = {**ALONE, **POSIX, "use.c": USE_C}
# The same sources as C++, without those of fairsem.h alone: use.cc includes fairsem.h first, and twice.
IN_CXX = {**{name + "c": text for name, text in {**ALONE, **POSIX}.items() if "fairsem" not in name},
          "use.cc": USE_CC}
STRICT = ("-Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -Wno-attribute-warning"
          " -Wno-user-defined-warnings -fsyntax-only").split()
STRICT_CXX = ("-Wold-style-cast -Wconversion -Wsign-conversion -Wextra-semi"
              " -Wzero-as-null-pointer-constant").split()


def accepts(compiler, language, standard, sources, *options):
    """Check that the sources compile without a warning.  One start of the compiler for all halves the time."""
    needs_standard(compiler, language, standard)
    if language == "c++":
        options += (*STRICT_CXX, *useless_cast(compiler))
    done = run(*compiler.split(), "-std=" + standard, *STRICT, *options, INCLUDE,
               *(file(name, text) for name, text in sources.items()))
    assert done.returncode == 0, done.stderr


def useless_cast(compiler):
    """The option for this warning, which clang does not know."""
    known = run(*compiler.split(), "-Werror", "-Wuseless-cast", "-fsyntax-only", file("empty.cc", ""))
    return ["-Wuseless-cast"] if known.returncode == 0 else []


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("standard", ("c90", "c11", "gnu17", "c2x"))
def test_in_c(compiler, standard):
    # In C90, clang warns about bool.
    accepts(compiler, "c", standard, IN_C, "-Wno-c99-extensions")


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("standard", ("c++11", "c++14", "c++17", "c++20", "c++2b"))
def test_in_cxx(compiler, standard):
    accepts(compiler, "c++", standard, IN_CXX)


# tests/cxx/cxx.sh compiles fairsem.hpp as C++20 with these warnings.
@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("standard, option", (("c++17", "-fno-exceptions"), ("c++2b", "-fexceptions")))
def test_the_classes(compiler, standard, option):
    accepts(compiler, "c++", standard, {"use_hpp.cc": USE_HPP}, option)


def among_others(headers, besides=()):
    """A source with the headers after the system's headers that they include, and after macros of others."""
    texts = [open(path, encoding="utf-8").read() for path in headers]
    system = {name for text in texts for name in re.findall("^#include <([^>]*)>", text, re.M)
              if not name.startswith("fairsem")} - set(besides)
    macros = [macro for each in OTHERS.values() for macro in each.split("|")]
    return "".join(("#include <complex.h>\n",
                    *("#include <%s>\n" % name for name in sorted(system)),
                    *("#undef %s\n#define %s\n" % (re.match(r"\w+", macro)[0], macro) for macro in macros),
                    *('#include "%s"\n' % path for path in headers)))


# In C, fairsem/posix.h must be the first to include <semaphore.h>, to replace the names of POSIX.
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_in_c_among_macros_of_others(compiler):
    accepts(compiler, "c", "gnu11", {"among.c": among_others(C_HEADERS, ["semaphore.h"]) + USE_C})


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
def test_in_cxx_among_macros_of_others(compiler):
    needs_standard(compiler, "c++", "gnu++20",
                   "#include <coroutine>\n#ifndef __cpp_lib_coroutine\n#error\n#endif\n")
    accepts(compiler, "c++", "gnu++20", {"among.cc": among_others(C_HEADERS + CXX_HEADERS) + USE_CC})


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
def test_before_cxx11_the_first_error_is_clear(compiler):
    done = run(*compiler.split(), "-std=c++98", INCLUDE, "-fsyntax-only",
               file("before.cc", "#include <fairsem.h>\n"))
    assert "needs C++11" in re.findall("error: (.*)", done.stderr)[0]


def refuses(compiler, text, *options):
    """The headers must refuse another layout, with which the library would read the wrong members."""
    done = run(*compiler.split(), INCLUDE, *options, "-Wfatal-errors", "-fsyntax-only", "-x",
               "c++" if "++" in compiler else "c", file("layout", text))
    assert done.returncode != 0 and re.search(
        "is_not_for_packed_structs_|reverse storage order", done.stderr), done.stderr


PACKED = "#include <pthread.h>\n#include <stdint.h>\n#include <%s>\n#pragma pack(%d)\n#include <%s>\n"


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("alignment", (1, 2, 4, 8))
def test_structs_that_are_packed_are_refused(compiler, alignment):
    refuses(compiler, PACKED % ("stddef.h", alignment, "fairsem.h"))


@pytest.mark.parametrize("header", ("fairsem/shared.h", "fairsem/cluster.h", "fairsem/posix.h"))
def test_each_header_refuses_structs_that_are_packed(header):
    refuses(C_COMPILERS[0], PACKED % ("fairsem.h", 4, header))


@pytest.mark.parametrize("header", [path.split("include/")[1] for path in CXX_HEADERS])
def test_classes_that_are_packed_are_refused(header):
    refuses(CXX_COMPILERS[0], PACKED % ("fairsem.h", 4, header), "-std=c++20", "-Wno-narrowing")


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("option", (
    "-fpack-struct", "-fpack-struct=8",
    "-fsso-struct=%s-endian" % ("little" if sys.byteorder == "big" else "big")))
def test_options_that_change_the_layout_are_refused(compiler, option):
    if run(*compiler.split(), option, "-fsyntax-only", file("empty.c", "")).returncode != 0:
        pytest.skip(NOT_HERE + "%s does not know %s" % (compiler, option))
    refuses(compiler, "#include <fairsem.h>\n", option)


# The C library of this machine may lack one header for i386: make an empty one.
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_the_layout_of_i386_is_that_of_its_abi(compiler):
    os.makedirs(WORK + "/i386/gnu", exist_ok=True)
    file("i386/gnu/stubs-32.h", "")
    triplet = run("gcc", "-print-multiarch").stdout.strip()
    i386 = ("-m32", "-idirafter", "/usr/include/" + triplet, "-idirafter", WORK + "/i386")
    if run(*compiler.split(), *i386, "-fsyntax-only",
           file("m32.c", "#include <pthread.h>\n#ifndef __i386__\n#error\n#endif\n")).returncode != 0:
        pytest.skip(NOT_HERE + compiler + " does not compile for i386")
    accepts(compiler, "c", "gnu11", IN_C, *i386)
    for option in ("-malign-double", "-mms-bitfields", "-fpack-struct=4"):
        refuses(compiler, "#include <fairsem.h>\n", *i386, option)


def declared_in(header):
    return names_in("^FAIRSEM_API .*[ *](fairsem_\\w*)\\(", "include/" + header)


def names_in(pattern, *patterns):
    return {name for each in patterns for path in glob.glob(os.path.join(TOP_SRCDIR, each))
            for name in re.findall(pattern, open(path, encoding="utf-8").read(), re.M)}


def test_each_function_has_a_row_about_warnings():
    """test_warnings.py checks whether a compiler warns if the result is not used, or if a pointer is NULL."""
    assert declared_in("fairsem.h") | declared_in("fairsem/shared.h") == set(
        re.findall("fairsem_\\w+(?=\\()", CALLS))


def test_each_function_is_played_by_a_search():
    played = names_in("fairsem_\\w+", "tests/scenarios/calls.h", "tests/search/fuzz/*.c")
    assert declared_in("fairsem.h") - played == NOT_PLAYED


def test_each_function_has_rows_of_errno_values():
    assert declared_in("fairsem.h") - names_in("fairsem_\\w+", "tests/contract/t_results.c") == NO_ERRNO

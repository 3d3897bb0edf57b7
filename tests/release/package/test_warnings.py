# SPDX-License-Identifier: MIT
"""With the headers, a compiler warns about an ignored result that must be used, about NULL where a function does
not accept it, and about nothing else.  Before C++17, fairsem.hpp is one clear error."""

import glob
import re

import pytest

from cases import NOT_HERE, TOP_SRCDIR, WORK, run
from compiled import CC, CXX_COMPILERS, C_COMPILERS, INCLUDE, file, needs_standard

# Before a call: =  its result must be used; -  it has no result.
# After an argument: !  it must not be NULL; ?  it may be NULL.
CALLS = """
  fairsem_version()
  fairsem_strerror(0)
= fairsem_init(&sem!, 1, NULL?)
= fairsem_destroy(&sem!)
= fairsem_counted_init(&counted!, 1, NULL?)
= fairsem_new(&created!, 1, NULL?)
- fairsem_free(created?)
= fairsem_acquire(&sem!, 1)
= fairsem_tryacquire(&sem!, 1)
= fairsem_tryacquire_upto(&sem!, 1)
  fairsem_release(&sem!, 1)
= fairsem_acquire_for(&sem!, 1, 1)
= fairsem_acquire_until(&sem!, 1, CLOCK_REALTIME, &at?)
  fairsem_token_init(&token!)
  fairsem_token_destroy(&token!)
  fairsem_token_cancel(&token!, 0)
  fairsem_token_reason(&token!)
  fairsem_share_init(&share!, 1)
  fairsem_share_destroy(&share!)
  fairsem_share_charge(&share!, 1)
= fairsem_acquire_with(&sem!, 1, NULL?)
= fairsem_acquire_all(requests?, 1, NULL?)
  fairsem_release_all(requests?, 1)
  fairsem_capacity(&sem!)
  fairsem_set_capacity(&sem!, 1)
  fairsem_consume(&sem!, 1)
  fairsem_close(&sem!, 0)
  fairsem_closed(&sem!)
= fairsem_drain(&sem!, 1, NULL?)
  fairsem_available(&sem!)
  fairsem_waiters(&sem!)
  fairsem_would_block(&sem!, 1)
  fairsem_stat(&sem!, &stat!)
  fairsem_stat_interval(&sem!, &stat!)
= fairsem_stat_histogram(&sem!, counts!)
  fairsem_dump(&sem!, stdout!)
= fairsem_units_acquire(&units!, &sem!, 1, NULL?)
= fairsem_units_tryacquire(&units!, &sem!, 1)
= fairsem_units_adopt(&units!, &sem!, 1)
  fairsem_units_release(&units!)
  fairsem_units_return(&units!, 1)
= fairsem_units_split(&units!, 1, &more!)
= fairsem_units_merge(&units!, &more!)
  fairsem_units_forget(&units!)
= fairsem_with(&sem!, 1, nothing!, NULL?)
= fairsem_ticket_take(&ticket!, &sem!, 1, 0, NULL?, NULL?)
= fairsem_ticket_take_with(&ticket!, requests!, 0, NULL?, NULL?)
  fairsem_ticket_state(&ticket!)
= fairsem_ticket_wait(&ticket!, NULL?)
= fairsem_ticket_claim(&ticket!, &units!)
  fairsem_ticket_return(&ticket!)
= fairsem_shared_open(&handle!, "/x"?, 0, 0, NULL?)
  fairsem_shared_close(handle!)
  fairsem_shared_unlink("/x"!)
= fairsem_shared_acquire(handle!, 1)
= fairsem_shared_tryacquire(handle!, 1)
= fairsem_shared_acquire_for(handle!, 1, 1)
= fairsem_shared_acquire_until(handle!, 1, CLOCK_REALTIME, &at?)
= fairsem_shared_acquire_with(handle!, 1, NULL?)
  fairsem_shared_release(handle!, 1)
  fairsem_shared_set_units(handle!, 1)
= fairsem_shared_keep_on_exec(handle!, true)
= fairsem_shared_keep_name(handle!)
= fairsem_shared_unlink_unused(handle!, "/x"!, false)
  fairsem_shared_available(handle!)
  fairsem_shared_waiters(handle!)
= fairsem_shared_stat(handle!, &shared_stat!)
= fairsem_shared_stat_histogram(handle!, counts!)
= fairsem_shared_users(handle!, users, &count!)
  fairsem_shared_dump(handle!, stdout!)
"""
# As in glibc, the results of these calls may be ignored.
# A compiler warns about calls that fail with ENOSYS (=).
POSIX_CALLS = """
  sem_init(&sem!, 0, 1)
  sem_init(&sem, count, 1)
= sem_init(&sem, 1, 1)
  sem_wait(&sem!)
  sem_trywait(&sem!)
  sem_timedwait(&sem!, &at!)
  sem_clockwait(&sem!, CLOCK_REALTIME, &at!)
  sem_post(&sem!)
  sem_getvalue(&sem!, &count!)
  sem_destroy(&sem!)
= sem_open("/x"!, 0)
  sem_close(&sem!)
  sem_unlink("/x"!)
"""
BEGIN = """
#include <stddef.h>
static int count = 1;
static struct timespec at;
"""
OBJECTS = """
static fairsem_t sem = FAIRSEM_INITIALIZER(1);
static fairsem_t *created;
static fairsem_counted_t counted;
static uint64_t counts[FAIRSEM_WAIT_BUCKETS];
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
static fairsem_share_t share = FAIRSEM_SHARE_INITIALIZER(1);
static fairsem_units_t units, more;
static fairsem_request_t requests[1];
static fairsem_ticket_t ticket;
static fairsem_stat_t stat;
static fairsem_shared_t *handle;
static fairsem_shared_stat_t shared_stat;
static fairsem_shared_user_t users[1];

static inline void nothing(void *arg)
{
    (void)arg;
}
"""
CLASSES = """#include <fairsem.hpp>
using namespace std::chrono;
void all(fairsem::semaphore &sem, fairsem::units &units, fairsem::token &token);
void all(fairsem::semaphore &sem, fairsem::units &units, fairsem::token &token)
{
    const fairsem::wait_options how;
    const auto soon = steady_clock::now() + 1s;

    sem.acquire();
    sem.acquire(1, how);
    sem.release();
    sem.try_acquire();                                                  /* WARNS */
    sem.try_acquire_upto(2);                                            /* WARNS */
    sem.try_acquire_for(1s);                                            /* WARNS */
    sem.try_acquire_for(1s, 1, how);                                    /* WARNS */
    sem.try_acquire_until(soon);                                        /* WARNS */
    sem.acquire_future();                                               /* WARNS */
    sem.consume(1);
    sem.set_capacity(2);
    sem.close();
    sem.drain(2);
    sem.drain_for(1s, 2);                                               /* WARNS */
    sem.available();
    sem.dump(stdout);
    units.release();
    units.split(1);                                                     /* WARNS */
    units.merge(fairsem::units(sem));
    units.forget();
    token.cancel();
    fairsem::acquire_all({ { sem, 1 } });                               /* WARNS */
    fairsem::try_acquire_all_for(1s, { { sem, 1 } });                   /* WARNS */
#if defined(__cpp_lib_jthread)
    const std::stop_token stop;
    sem.acquire(stop);                                                  /* WARNS 20 */
    sem.try_acquire_for(stop, 1s);                                      /* WARNS 20 */
    sem.try_acquire_until(stop, soon);                                  /* WARNS 20 */
#endif
#if defined(__cpp_lib_coroutine)
    sem.async_acquire();                                                /* WARNS 20 */
#endif
}
"""
HAS_20 = """#if __cplusplus >= 202002L
#include <version>
#endif
#if !defined(__cpp_lib_jthread) || !defined(__cpp_lib_coroutine)
#error
#endif
"""


def source(head, calls):
    """Each call, and each call with one NULL.  The compiler must warn about lines that end with WARNS."""
    lines = []
    for mark, name, arguments in re.findall("^([ =-]) (\\w+)\\((.*)\\)$", calls, re.M):
        each = arguments.split(", ")
        for number, argument in enumerate([""] + each):
            if argument[-1:] not in ("", "!", "?"):
                continue
            actual = [re.sub("[!?]$", "", other) for other in each]
            warns = mark == "=" if not argument else argument.endswith("!")
            if argument:
                actual[number - 1] = "NULL"
            use = "(void)!" if argument and mark != "-" and name.startswith("fairsem_") else ""
            lines.append("    %s%s(%s);%s\n" % (use, name, ", ".join(actual), " /* WARNS */" * warns))
    return head + "void all(void);\nvoid all(void)\n{\n" + "".join(lines) + "}\n"


SOURCES = {"calls.c": source("#include <fairsem/shared.h>" + BEGIN + OBJECTS, CALLS),
           "posix.c": source("#include <fairsem/posix.h>" + BEGIN + "static sem_t sem;\n", POSIX_CALLS),
           "classes.cc": CLASSES}


def warns(compiler, standard, name):
    about = run(*compiler.split(), "--version").stdout
    if not re.search("gcc|g\\+\\+|clang|Free Software", about, re.I):
        pytest.skip(NOT_HERE + compiler + " has not these warnings")
    language, text = "c++" if "+" in standard else "c", SOURCES[name]
    needs_standard(compiler, language, standard)
    options = [*compiler.split(), "-std=" + standard, "-x", language]
    # WARNS 20 counts if this is C++20 and the compiler's library has the classes of C++20.
    has_20 = run(*options, "-fsyntax-only", file("probe", HAS_20)).returncode == 0
    marks = "WARNS( 20)? \\*" if has_20 else "WARNS \\*"
    # gcc finds unused results only when it generates code: no -fsyntax-only.
    said = run(*options, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-O1", INCLUDE, "-c",
               file(name, text), "-o", WORK + "/object").stderr
    # The names of POSIX are macros: gcc prints a note about where they are used.
    lines = {int(line) for pattern in (
        name + ":(\\d+):.* warning: .*-W(?:unused-result|nonnull|attribute-warning|user-defined-warnings)"
        "\\]",
        "inlined from .* at \\S*" + name + ":(\\d+):", name + ":(\\d+):.* note: in expansion of macro ")
        for line in re.findall(pattern, said)}
    expected = {number for number, line in enumerate(text.split("\n"), 1) if re.search(marks, line)}
    assert {text.split("\n")[line - 1] for line in lines ^ expected} == set(), said
    assert [line for line in said.split("\n") if re.search("(error|warning): ", line)
            and not re.search("-Wunused-result\\]|-Wnonnull\\]|it fails with ENOSYS", line)] == []


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("standard", ("c11", "c2x", "c23"))
@pytest.mark.parametrize("name", ("calls.c", "posix.c"))
def test_warnings_in_c(compiler, standard, name):
    warns(compiler, standard, name)


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("standard, name", (
    ("c++11", "calls.c"), ("c++17", "calls.c"), ("c++20", "calls.c"), ("c++11", "posix.c"),
    ("c++17", "posix.c"), ("c++20", "posix.c"), ("c++17", "classes.cc"), ("c++20", "classes.cc")))
def test_warnings_in_cxx(compiler, standard, name):
    warns(compiler, standard, name)


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("header, standard", (
    ("fairsem/coroutine.hpp", "c++17"),
    *((path[len(TOP_SRCDIR + "/include/"):], "c++14")
      for path in sorted(glob.glob(TOP_SRCDIR + "/include/**/*.hpp", recursive=True)))))
def test_before_its_standard_a_header_is_one_clear_error(compiler, header, standard):
    done = run(*compiler.split(), "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", INCLUDE,
               "-fsyntax-only", file("before.cc", "#include <%s>\n" % header))
    assert done.returncode != 0
    said = re.findall("(error|warning): (.*)", done.stderr)
    assert len(said) == 1 and said[0][0] == "error" and "needs C++" in said[0][1], done.stderr


@pytest.mark.parametrize("system, errors", (
    ("-D_WIN32", ["there is no port to Windows"]), ("-D_WIN32 -D__CYGWIN__", []), ("", [])))
@pytest.mark.parametrize("header", ("fairsem.h", "fairsem/posix.h", "fairsem/shared.h"))
def test_on_windows_a_header_is_one_clear_error(header, system, errors):
    done = run(*CC, *system.split(), INCLUDE, "-fsyntax-only", file("system.c", "#include <%s>\n" % header))
    said = re.findall("(?:error|warning): (.*)", done.stderr)
    assert [re.sub(".*: |\"$", "", line) for line in said] == errors, done.stderr

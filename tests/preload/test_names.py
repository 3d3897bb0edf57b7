# SPDX-License-Identifier: MIT
"""fairsem/posix.h replaces the functions of POSIX, and nothing else with their names.

A member of a C++ class that is called sem_post has the same name for the linker, whether a source file includes
fairsem/posix.h or <semaphore.h>.  Whichever header comes first, a call of sem_post() and its address refer to the
function of libfairsem.
"""

import sys

import pytest

from cases import NOT_HERE
from compiled import CXX_COMPILERS, C_COMPILERS, file, needs_standard, works

pytestmark = pytest.mark.skipif(sys.platform != "linux",
                                reason=NOT_HERE + "sem_init fails on this system")

# A library that knows only the semaphores of libc.
GATE_HH = """\
class gate {
public:
    gate() : units(0) {}
    virtual ~gate();
    int sem_init(int value);
    int sem_destroy();
    virtual int sem_wait();
    int sem_trywait();
    int sem_timedwait();
    int sem_clockwait();
    int sem_post();
    int sem_getvalue() const;
    int sem_close();
    static int sem_posts;
#ifdef NO_MACROS
    int sem_open();
    int sem_unlink();
    typedef int sem_t;
    sem_t as_number() const;
#endif
private:
    int units;
};
namespace gates { int sem_post(gate &it); }
"""
GATE_CC = """\
#include <semaphore.h>
#include "gate.h"
int gate::sem_posts = 0;
gate::~gate() {}
int gate::sem_init(int value) { units = value; return 0; }
int gate::sem_destroy() { return 0; }
int gate::sem_wait() { return sem_trywait(); }
int gate::sem_trywait() { return units > 0 ? --units, 0 : -1; }
int gate::sem_timedwait() { return sem_wait(); }
int gate::sem_clockwait() { return sem_wait(); }
int gate::sem_post() { sem_posts++; return units++, 0; }
int gate::sem_getvalue() const { return units; }
int gate::sem_close() { return 0; }
#ifdef NO_MACROS
int gate::sem_open() { return 0; }
int gate::sem_unlink() { return 0; }
gate::sem_t gate::as_number() const { return units; }
#endif
int gates::sem_post(gate &it) { return it.sem_post(); }
"""
# Another library, which hands out a semaphore of libc.
OTHERS_H = """\
#include <semaphore.h>
extern sem_t others;
int value_of_others();
"""
OTHERS_CC = """\
#include "others.h"
sem_t others;
int value_of_others()
{
    int value = -1;
    return sem_getvalue(&others, &value) == 0 ? value : -1;
}
"""
# A program that includes both.
USE_CC = r"""
#include <cerrno>
#include <cstdio>
#ifdef NO_MACROS
#include <functional>
#include <memory>
#endif
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <type_traits>

static int failed(const char *what)
{
    std::fprintf(stderr, "FAILED: %s\n", what);
    return 1;
}

/* Its members have the names of the functions that they call. */
class fair_gate : public gate {
public:
    fair_gate() { ::sem_init(&sem, 0, 0); }
    ~fair_gate() override { ::sem_destroy(&sem); }
    fair_gate(const fair_gate &) = delete;
    fair_gate &operator=(const fair_gate &) = delete;
    int sem_wait() override { return ::sem_wait(&sem); }
    int sem_post() { return ::sem_post(&sem); }
    int value()
    {
        int number = -1;
        return ::sem_getvalue(&sem, &number) == 0 ? number : -1;
    }
    ::sem_t sem;
};

static int members()
{
    fair_gate fair;
    gate plain, &base = fair;

    if (plain.sem_init(1) != 0 || plain.sem_wait() != 0 || plain.sem_trywait() != -1
        || plain.sem_post() != 0 || gates::sem_post(plain) != 0 || plain.sem_timedwait() != 0
        || plain.sem_clockwait() != 0 || plain.sem_getvalue() != 0 || plain.sem_close() != 0
        || plain.sem_destroy() != 0 || gate::sem_posts != 2)
        return failed("a class of the library");
#ifdef NO_MACROS
    gate::sem_t number = plain.as_number();
    if (plain.sem_open() != 0 || plain.sem_unlink() != 0 || number != 0)
        return failed("members that are called sem_open, sem_unlink and sem_t");
#endif
    if (fair.sem_post() != 0 || fair.value() != 1 || base.sem_wait() != 0 || fair.value() != 0)
        return failed("a class that is derived from it");
    return 0;
}

/* They are this library's: the type is, and named semaphores do not exist. */
static int functions()
{
    int (*init)(sem_t *, int, unsigned) = sem_init;
    int (*one[])(sem_t *) = { &sem_destroy, ::sem_wait, &::sem_trywait, sem_post, sem_close };
    int (*timed)(sem_t *, const struct timespec *) = sem_timedwait;
    int (*clocked)(sem_t *, clockid_t, const struct timespec *) = sem_clockwait;
    int (*value)(sem_t *, int *) = sem_getvalue;
    sem_t *(*by_name)(const char *, int, ...) = sem_open;
    int (*by_name_too)(const char *) = sem_unlink;
    struct timespec past = { 0, 0 };
    int number = -1;
    sem_t sem;

    static_assert(std::is_same<sem_t, fairsem_sem_t>::value, "sem_t is this library's");
    if (init(&sem, 0, 2) != 0 || one[1](&sem) != 0 || one[2](&sem) != 0 || one[2](&sem) != -1
        || errno != EAGAIN || timed(&sem, &past) != -1 || errno != ETIMEDOUT
        || clocked(&sem, CLOCK_MONOTONIC, &past) != -1 || errno != ETIMEDOUT
        || one[3](&sem) != 0 || value(&sem, &number) != 0 || number != 1)
        return failed("calls by address");
    if (one[4](&sem) != -1 || errno != ENOSYS || by_name("/names", 0) != SEM_FAILED
        || errno != ENOSYS || by_name_too("/names") != -1 || errno != ENOSYS)
        return failed("named semaphores");
    if (one[0](&sem) != 0 || init(&sem, 1, 0) != -1 || errno != ENOSYS)
        return failed("pshared");
    return 0;
}

#ifdef NO_MACROS
/* Where the names have one meaning each, a context that names no type is enough. */
static int without_types()
{
    std::unique_ptr<sem_t, decltype(&sem_destroy)> owner(new sem_t, &sem_destroy);
    auto give = std::bind(sem_post, owner.get());

    if (sem_init(owner.get(), 0, 0) != 0 || give() != 0)
        return failed("bind");
    std::thread(sem_wait, owner.get()).join();
    return sem_trywait(owner.get()) == -1 ? 0 : failed("thread");
}
#endif

#ifdef OTHERS
/* A semaphore of libc is used with libc's functions. */
static int libcs()
{
    if (sem_init(&others, 0, 3) != 0 || sem_wait(&others) != 0 || value_of_others() != 2
        || ::sem_post(&others) != 0 || value_of_others() != 3 || sem_destroy(&others) != 0)
        return failed("a semaphore of libc");
    return 0;
}
#endif

static fair_gate closed;
static bool unwound;

struct leaves {
    ~leaves() { unwound = true; }
};

static void *wait_and_time_out(void *)
{
    leaves frame;

    ::sem_wait(&closed.sem);
    return nullptr;
}

/* The cancellation of a wait is an exception that passes the frames of C++. */
static int canceled()
{
    pthread_t thread;

    if (pthread_create(&thread, nullptr, wait_and_time_out, nullptr) != 0)
        return failed("pthread_create");
    while (fairsem_waiters(&closed.sem.fairsem_inside_) != 1)
        sched_yield();
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    return unwound ? 0 : failed("a canceled wait");
}

int main()
{
    int status = members() + functions() + canceled();

#ifdef NO_MACROS
    status += without_types();
#endif
#ifdef OTHERS
    status += libcs();
#endif
    return status;
}
"""
# Like USE_CC, but in C: members of a struct have no names for the linker.
GATE_H = "struct gate { int (*sem_post)(void); int sem_wait; };\n"
USE_C = """
#include <stddef.h>

static int counted;
static int count(void) { return ++counted; }

int main(void)
{
    struct gate gate = { .sem_post = count, .sem_wait = 7 };
    int (*post)(sem_t *) = sem_post;
    sem_t sem;

    if (sem_init(&sem, 0, 0) != 0 || post(&sem) != 0 || sem_wait(&sem) != 0)
        return 1;
    return gate.sem_post() == 1 && gate.sem_wait == 7 && sem_destroy(&sem) == 0 ? 0 : 2;
}
"""

HEADERS = {"F": "<fairsem/posix.h>", "S": "<semaphore.h>", "G": '"gate.h"', "O": '"others.h"'}
# Compiling takes nearly all of the time, so do it without optimization.
FAST = ["-O0", "-g0"]
FAST_CXX = [*FAST, "-Wshadow", "-Wold-style-cast", "-Wno-ignored-attributes"]


def includes(order):
    return "".join("#include %s\n" % HEADERS[letter] for letter in order)


# If <semaphore.h> comes before fairsem/posix.h, the names are macros; then the header G must
# come after both.
@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("order", ("FG", "GF", "FGS", "SFG"))
def test_in_c(compiler, order):
    file("gate.h", GATE_H)
    works(compiler, *FAST, "-std=c11", file("main.c", includes(order) + USE_C))


# In C++20 the headers of C++ include <semaphore.h>.
@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("standard", ("c++11", "c++20"))
@pytest.mark.parametrize("order, option", (("FG", "-DNO_MACROS"), ("GF", "-DNO_MACROS"),
                                           ("FSG", "-DNO_MACROS"), ("SFG", "-DMACROS"),
                                           ("SGFS", "-DMACROS"), ("OFG", "-DOTHERS")))
def test_in_cxx(compiler, standard, order, option):
    needs_standard(compiler, "c++", standard, "#include <thread>\n")
    file("gate.h", GATE_HH)
    file("others.h", OTHERS_H)
    works(compiler, *FAST_CXX, "-std=" + standard, option, file("gate.cc", GATE_CC),
          file("others.cc", OTHERS_CC), file("main.cc", includes(order) + USE_CC))

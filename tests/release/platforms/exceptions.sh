#!/bin/sh
# SPDX-License-Identifier: MIT
# exceptions.sh - a C++ exception that a callback throws reaches the caller of the function that ran
# the callback.  The other callbacks have run by then, and later ones run.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
library=$(library)

cat > "$work/prog.cc" << '_EOF'
#include <fairsem.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <sched.h>
#include <stdexcept>

static int calls;

static void throws(fairsem_ticket_t *, void *)
{
    calls++;
    throw std::runtime_error("from a callback");
}

static void counts(fairsem_ticket_t *, void *) { calls++; }

static int failed(const char *what)
{
    std::fprintf(stderr, "FAILED: %s\n", what);
    return 1;
}

/* One release grants three tickets, and one of their callbacks throws. */
static int one_throws(int which)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket[3] = {};
    bool caught = false;
    int state, before;

    calls = 0;
    for (int i = 0; i < 3; i++) {
        if (fairsem_ticket_take(&ticket[i], &sem, 1, 0, i == which ? throws : counts, nullptr)
            != EINPROGRESS)
            return failed("take");
    }
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    try {
        fairsem_release(&sem, 3);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    if (!caught)
        return failed("the exception is not caught");
    if (state != PTHREAD_CANCEL_ENABLE)
        return failed("cancellation is still disabled");
    if (calls != 3)
        return failed("not all callbacks have run");
    /* No callback seems to be running: a return would wait for it. */
    for (int i = 0; i < 3; i++)
        fairsem_ticket_return(&ticket[i]);
    if (fairsem_available(&sem) != 3 || fairsem_acquire(&sem, 3) != 0)
        return failed("units");
    if (fairsem_ticket_take(&ticket[0], &sem, 1, 0, counts, nullptr) != EINPROGRESS
        || fairsem_release(&sem, 1) != 0 || calls != 4)
        return failed("a later callback");
    fairsem_ticket_return(&ticket[0]);
    return 0;
}

/* A released guard is empty, even if the release throws: the end of its scope releases it again. */
static int guard_throws()
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_units_t units = {};
    fairsem_ticket_t ticket = {};
    bool caught = false;

    if (fairsem_units_acquire(&units, &sem, 1, nullptr) != 0
        || fairsem_ticket_take(&ticket, &sem, 1, 0, throws, nullptr) != EINPROGRESS)
        return failed("guard");
    try {
        fairsem_units_release(&units);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    fairsem_units_release(&units);
    fairsem_ticket_return(&ticket);
    if (!caught || fairsem_available(&sem) != 1)
        return failed("a guard that is released twice");
    return 0;
}

static fairsem_t several[3] = { FAIRSEM_INITIALIZER(1), FAIRSEM_INITIALIZER(1),
                                FAIRSEM_INITIALIZER(0) };
static const fairsem_request_t one_of_each[] = { { &several[2], 1 }, { &several[0], 1 },
                                                 { &several[1], 1 } };

static void *acquire_several(void *caught)
{
    try {
        if (fairsem_acquire_all(one_of_each, 3, nullptr) != ESHUTDOWN)
            std::puts("acquired of a closed semaphore");
    } catch (const std::runtime_error &) {
        *static_cast<bool *>(caught) = true;
    }
    return nullptr;
}

/* One of several releases runs a callback that throws: the others are released all the same. */
static int several_throw(int which, bool acquires)
{
    fairsem_ticket_t ticket[2] = {};
    pthread_t thread;
    bool caught = false;

#if defined(__riscv) || defined(__arm__)
    return 0;       /* no promise there: cleanup.h */
#endif
    calls = 0;
    if (acquires && pthread_create(&thread, nullptr, acquire_several, &caught) != 0)
        return failed("pthread_create");
    while (acquires && fairsem_waiters(&several[2]) != 1)
        sched_yield();
    if (!acquires && (fairsem_release(&several[2], 1) != 0
                      || fairsem_acquire_all(one_of_each, 3, nullptr) != 0))
        return failed("acquire_all");
    for (int i = 0; i < 2; i++) {
        if (fairsem_ticket_take(&ticket[i], &several[i], 1, 0, i == which ? throws : counts,
                                nullptr) != EINPROGRESS)
            return failed("take of one of several");
    }
    if (acquires) {
        fairsem_close(&several[2], 0);
        pthread_join(thread, nullptr);
        fairsem_destroy(&several[2]);
        several[2] = FAIRSEM_INITIALIZER(0);
    } else {
        try {
            fairsem_release_all(one_of_each, 3);
        } catch (const std::runtime_error &) {
            caught = true;
        }
        if (fairsem_tryacquire(&several[2], 1) != 0)
            return failed("the first of several is not released");
    }
    for (int i = 0; i < 2; i++) {
        fairsem_ticket_return(&ticket[i]);
        if (fairsem_available(&several[i]) != 1)
            return failed("one of several is not released");
    }
    return !caught || calls != 2 ? failed("callbacks of several semaphores") : 0;
}

static fairsem_t waited_for = FAIRSEM_INITIALIZER(1);
static fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;

static void *wait_with_token(void *)
{
    fairsem_wait_t how = {};

    how.token = &token;
    try {
        if (fairsem_acquire_with(&waited_for, 2, &how) == 0)
            std::puts("granted two units of one");
    } catch (const std::runtime_error &) {
    }
    return nullptr;
}

/* The thread at the head is canceled: the ticket behind it is granted, and its callback throws. */
static int canceled_throws()
{
#if defined(__riscv) || defined(__arm__)
    return 0;       /* no promise there: cleanup.h */
#endif
    fairsem_ticket_t ticket = {};
    pthread_t thread;

    if (pthread_create(&thread, nullptr, wait_with_token, nullptr) != 0)
        return failed("pthread_create");
    while (fairsem_waiters(&waited_for) != 1)
        sched_yield();
    if (fairsem_ticket_take(&ticket, &waited_for, 1, 0, throws, nullptr) != EINPROGRESS)
        return failed("take behind a thread");
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    if (fairsem_token_destroy(&token) != 0)
        return failed("the token still lists a wait that is over");
    fairsem_ticket_return(&ticket);
    return 0;
}

static fairsem_ticket_t running = {};
static std::atomic<bool> runs, may_end, has_ended;

static void runs_on(fairsem_ticket_t *, void *)
{
    runs = true;
    while (!may_end)
        sched_yield();
    has_ended = true;
}

static void lets_it_end_and_throws(fairsem_ticket_t *ticket, void *arg)
{
    may_end = true;
    throws(ticket, arg);
}

static void *release_one(void *sem)
{
    fairsem_release(static_cast<fairsem_t *>(sem), 1);
    return nullptr;
}

/* A return runs the next ticket's callback, which throws: it must wait for its own callback. */
static int return_throws()
{
    int early = 0;

    for (int i = 0; i < 200; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t next = {};
        pthread_t thread;

        runs = may_end = has_ended = false;
        if (fairsem_ticket_take(&running, &sem, 1, 0, runs_on, nullptr) != EINPROGRESS
            || fairsem_ticket_take(&next, &sem, 1, 0, lets_it_end_and_throws, nullptr)
                   != EINPROGRESS
            || pthread_create(&thread, nullptr, release_one, &sem) != 0)
            return failed("two in the queue");
        while (!runs)
            sched_yield();
        try {
            fairsem_ticket_return(&running);
        } catch (const std::runtime_error &) {
            early += !has_ended;
        }
        pthread_join(thread, nullptr);
        fairsem_ticket_return(&next);
    }
    return early != 0 ? failed("a return that throws does not wait") : 0;
}

int main()
{
    return one_throws(0) + one_throws(1) + one_throws(2) + guard_throws() + several_throw(0, false)
           + several_throw(1, false) + several_throw(0, true) + several_throw(1, true)
           + canceled_throws() + return_throws();
}
_EOF
has "$CXX" || skip "no C++ compiler"
# shellcheck disable=SC2086 # lists
if ! $CXX ${CFLAGS-} -I"$top_srcdir/include" "$work/prog.cc" -o "$work/prog" "$library" -pthread; then
  echo "FAILED: the program does not build"
  exit 1
fi
LD_LIBRARY_PATH=$top_builddir/.libs limited "$work/prog" || { echo "FAILED: $?"; exit 1; }
echo "ok: exceptions from callbacks"

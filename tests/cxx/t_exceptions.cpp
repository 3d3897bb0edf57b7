/* SPDX-License-Identifier: MIT */
/*
 * t_exceptions.cpp - an exception thrown by a callback reaches the caller of the function that ran the
 * callback.  Before the exception leaves the function, all other callbacks run.  Later callbacks run as usual.
 */
#include "trial.hpp"

#include <chrono>
#include <sched.h>
#include <stdexcept>

namespace {

int calls;

void throws(fairsem_ticket_t *, void *)
{
    calls++;
    throw std::runtime_error("from a callback");
}

void counts(fairsem_ticket_t *, void *)
{
    calls++;
}

template <class Run> bool catches(Run run)
{
    try {
        run();
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

void take_ticket(fairsem_ticket_t &ticket, fairsem_t &sem, fairsem_notify_fn *call)
{
    CHECK(fairsem_ticket_take(&ticket, &sem, 1, 0, call, nullptr) == EINPROGRESS);
}

void await_waiter(const fairsem_t &sem)
{
    while (fairsem_waiters(&sem) != 1)
        sched_yield();
}

/* One release grants three tickets, and one of their callbacks throws. */
void one_throws(int which)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket[3] = {};
    int state;

    calls = 0;
    for (int i = 0; i < 3; i++)
        take_ticket(ticket[i], sem, i == which ? throws : counts);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    CHECK(catches([&] { fairsem_release(&sem, 3); }));
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    CHECK(state == PTHREAD_CANCEL_ENABLE);
    CHECK(calls == 3);
    /* No callback counts as still running, for which a return of its ticket would wait. */
    for (fairsem_ticket_t &each : ticket)
        fairsem_ticket_return(&each);
    CHECK(fairsem_available(&sem) == 3 && fairsem_acquire(&sem, 3) == 0);
    take_ticket(ticket[0], sem, counts);
    CHECK(fairsem_release(&sem, 1) == 0 && calls == 4);
    fairsem_ticket_return(&ticket[0]);
}

/* On riscv and 32-bit arm, exceptions must not pass a clean-up: see cleanup.h. */
#if !defined(__riscv) && !defined(__arm__)
fairsem_t several[3] = { FAIRSEM_INITIALIZER(1), FAIRSEM_INITIALIZER(1), FAIRSEM_INITIALIZER(0) };
const fairsem_request_t one_of_each[] = {
    { &several[2], 1, nullptr }, { &several[0], 1, nullptr }, { &several[1], 1, nullptr },
};

void both_are_released(fairsem_ticket_t *ticket)
{
    for (int i = 0; i < 2; i++) {
        fairsem_ticket_return(&ticket[i]);
        CHECK(fairsem_available(&several[i]) == 1);
    }
    CHECK(calls == 2);
}

void one_of_several_throws(int which)
{
    fairsem_ticket_t ticket[2] = {};

    calls = 0;
    CHECK(fairsem_release(&several[2], 1) == 0 && fairsem_acquire_all(one_of_each, 3, nullptr) == 0);
    for (int i = 0; i < 2; i++)
        take_ticket(ticket[i], several[i], i == which ? throws : counts);
    CHECK(catches([] { fairsem_release_all(one_of_each, 3); }));
    CHECK(fairsem_tryacquire(&several[2], 1) == 0);
    both_are_released(ticket);
}

void one_of_several_that_are_given_back_throws(int which)
{
    fairsem_ticket_t ticket[2] = {};
    bool caught = false;
    int result = 0;
    trial::worker waits([&] {
        caught = catches([&] { result = fairsem_acquire_all(one_of_each, 3, nullptr); });
    });

    calls = 0;
    await_waiter(several[2]);
    for (int i = 0; i < 2; i++)
        take_ticket(ticket[i], several[i], i == which ? throws : counts);
    fairsem_close(&several[2], 0);
    waits.join();
    CHECK(caught && result == 0);
    CHECK(fairsem_destroy(&several[2]) == 0);
    several[2] = FAIRSEM_INITIALIZER(0);
    both_are_released(ticket);
}

TRIAL(one_of_several_releases_throws_and_the_others_are_done)
{
    one_of_several_throws(0);
    one_of_several_throws(1);
    one_of_several_that_are_given_back_throws(0);
    one_of_several_that_are_given_back_throws(1);
}

#if !defined(TRIAL_LIBRARY_BY_CLANG)
/* The cancellation of the front thread grants the ticket behind it, and the ticket's callback throws. */
TRIAL(the_callback_behind_a_canceled_thread_throws)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    fairsem_ticket_t ticket = {};
    bool granted = false;
    trial::worker waits([&] {
        fairsem_wait_t how = {};

        how.token = &token;
        catches([&] { granted = fairsem_acquire_with(&sem, 2, &how) == 0; });
    });

    await_waiter(sem);
    take_ticket(ticket, sem, throws);
    pthread_cancel(waits.native_handle());
    waits.join();
    CHECK(!granted);
    CHECK(fairsem_token_destroy(&token) == 0);      /* the wait is not on the token's list */
    fairsem_ticket_return(&ticket);
}
#endif
#endif

/*
 * The front request wants more units than are free, and the request behind the front has aged.  So the next
 * call on the semaphore, whatever it is, grants the aged request, and the callback of that request throws.
 */
class next_call_throws {
public:
    next_call_throws() : sem_(2, aging())
    {
        calls = 0;
        sem_.acquire(2);
        CHECK(fairsem_ticket_take(&old_, sem_.native_handle(), 1, 1, throws, nullptr) == EINPROGRESS);
        CHECK(fairsem_ticket_take(&head_, sem_.native_handle(), 2, 0, nullptr, nullptr) == EINPROGRESS);
        sem_.release(1);
        const auto end = std::chrono::steady_clock::now() + aging().aging;
        while (std::chrono::steady_clock::now() <= end)
            sched_yield();
    }

    /* The callback has run once.  Return both tickets, whether granted or waiting. */
    ~next_call_throws()
    {
        CHECK(calls == 1);
        (void)fairsem_ticket_return(&head_);
        (void)fairsem_ticket_return(&old_);
    }

    fairsem::semaphore &sem() { return sem_; }

private:
    static fairsem::attributes aging()
    {
        fairsem::attributes with;

        with.aging = std::chrono::milliseconds(1);
        return with;
    }

    fairsem::semaphore sem_;
    fairsem_ticket_t   old_ = {}, head_ = {};
};

#if defined(__cpp_lib_coroutine)
struct started {
    struct promise_type {
        started get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

started take_one(fairsem::semaphore &sem, int &taken)
{
    const fairsem::units held = co_await sem.async_acquire();

    taken++;
}

#if defined(__cpp_lib_jthread)
started take_one_or_stop(fairsem::semaphore &sem, std::stop_token stop, int &taken)
{
    const fairsem::units held = co_await sem.async_acquire(stop);

    taken++;
}
#endif
#endif

fairsem_ticket_t running = {};
std::atomic<bool> runs, may_end, has_ended;

void runs_on(fairsem_ticket_t *, void *)
{
    runs = true;
    while (!may_end)
        sched_yield();
    has_ended = true;
}

void lets_it_end_and_throws(fairsem_ticket_t *ticket, void *arg)
{
    may_end = true;
    throws(ticket, arg);
}

} // namespace

TRIAL(one_of_three_callbacks_throws)
{
    for (int which = 0; which < 3; which++)
        one_throws(which);
}

/* If the guard still held its unit, the end of its scope would release the unit again. */
TRIAL(a_released_guard_is_empty_even_if_the_release_throws)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(1);
    fairsem_units_t held = {};
    fairsem_ticket_t ticket = {};

    CHECK(fairsem_units_acquire(&held, &sem, 1, nullptr) == 0);
    take_ticket(ticket, sem, throws);
    CHECK(catches([&] { fairsem_units_release(&held); }));
    fairsem_units_release(&held);
    fairsem_ticket_return(&ticket);
    CHECK(fairsem_available(&sem) == 1);
}

/* The return grants the next ticket and runs its callback, which throws. */
TRIAL(a_return_that_throws_has_waited_for_its_own_callback)
{
    for (int i = 0; i < 200; i++) {
        fairsem_t sem = FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t next = {};
        bool early = false;

        runs = may_end = has_ended = false;
        take_ticket(running, sem, runs_on);
        take_ticket(next, sem, lets_it_end_and_throws);
        trial::worker releases([&] { fairsem_release(&sem, 1); });
        while (!runs)
            sched_yield();
        early = catches([] { fairsem_ticket_return(&running); }) && !has_ended;
        releases.join();
        fairsem_ticket_return(&next);
        CHECK(!early);
    }
}

TRIAL(an_exception_of_a_callback_does_not_leave_a_try)
{
    CHECK(!next_call_throws().sem().try_acquire());
    CHECK(next_call_throws().sem().try_acquire_upto(2) == 0);
    CHECK(!fairsem::units(next_call_throws().sem(), 1, std::try_to_lock));
}

TRIAL(an_exception_of_a_callback_does_not_leave_a_destructor)
{
    fairsem::semaphore sem(1);
    fairsem_ticket_t ticket = {};

    calls = 0;
    {
        const fairsem::units held(sem);
        take_ticket(ticket, *sem.native_handle(), throws);
    }
    CHECK(calls == 1);
    (void)fairsem_ticket_return(&ticket);
}

TRIAL(an_exception_of_a_callback_does_not_leave_a_take)
{
    next_call_throws next;
    std::future<fairsem::units> future = next.sem().acquire_future();

    CHECK(calls == 1 && next.sem().waiters() == 2);
    next.sem().release(3);
    CHECK(future.get().count() == 1);
}

/* A take in a callback runs no other callbacks: they are deferred to the end of the running callback. */
TRIAL(an_exception_of_a_callback_does_not_leave_a_take_in_another_callback)
{
    static std::future<fairsem::units> future;
    static fairsem::semaphore *from;
    next_call_throws next;
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_ticket_t ticket = {};

    from = &next.sem();
    take_ticket(ticket, sem, [](fairsem_ticket_t *, void *) {
        future = from->acquire_future();
        CHECK(calls == 0 && from->waiters() == 2);
    });
    CHECK(catches([&] { fairsem_release(&sem, 1); }));
    CHECK(calls == 1);
    next.sem().release(3);
    CHECK(future.get().count() == 1);
    fairsem_ticket_return(&ticket);
}

#if defined(__cpp_lib_coroutine)
TRIAL(an_exception_of_a_callback_does_not_leave_co_await)
{
    next_call_throws next;
    int taken = 0;

    take_one(next.sem(), taken);
    CHECK(calls == 1 && taken == 0 && next.sem().waiters() == 2);
    next.sem().release(3);
    CHECK(taken == 1);
}

#if defined(__cpp_lib_jthread)
TRIAL(an_exception_of_a_callback_does_not_leave_co_await_with_a_stop)
{
    next_call_throws next;
    std::stop_source stop;
    int taken = 0;

    take_one_or_stop(next.sem(), stop.get_token(), taken);
    CHECK(calls == 1 && taken == 0 && next.sem().waiters() == 2);
    next.sem().release(3);
    CHECK(taken == 1);
}
#endif
#endif

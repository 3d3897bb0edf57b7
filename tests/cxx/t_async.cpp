/* SPDX-License-Identifier: MIT */
/* t_async.cpp - asynchronous acquires: units for a future, or for a coroutine. */
#include "trial.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <vector>

using fairsem::units;
using namespace std::chrono_literals;

namespace {

bool is_ready(const std::future<units> &future)
{
    return future.wait_for(0s) == std::future_status::ready;
}

} // namespace

TRIAL(a_future_has_units_that_are_free_at_once)
{
    fairsem::semaphore sem(3);
    std::future<units> future = sem.acquire_future(2);

    CHECK(is_ready(future) && sem.available() == 1);
    CHECK(future.get().count() == 2);
    CHECK(sem.available() == 3);
}

TRIAL(a_future_gets_units_in_its_turn)
{
    fairsem::semaphore sem(0);
    std::future<units> first = sem.acquire_future(2), second = sem.acquire_future();

    sem.release();
    CHECK(!is_ready(first) && !is_ready(second) && sem.waiters() == 2);
    sem.release();
    CHECK(is_ready(first) && !is_ready(second));
    {
        units two = first.get();
        CHECK(two.count() == 2 && !is_ready(second));
    }
    CHECK(is_ready(second) && second.get().count() == 1);
    CHECK(sem.available() == 2 && sem.waiters() == 0);
}

TRIAL(a_future_gets_the_error)
{
    fairsem::semaphore sem(0);
    std::future<units> waiting = sem.acquire_future(), wrong = sem.acquire_future(-1);

    CHECK_THROWS(EINVAL, (void)wrong.get());
    sem.close();
    CHECK_THROWS(ESHUTDOWN, (void)waiting.get());
    CHECK_THROWS(ESHUTDOWN, (void)sem.acquire_future().get());
}

TRIAL(futures_of_two_shares_get_units_in_turn)
{
    fairsem::attributes old_first;
    fairsem::share many, few;
    std::future<units> futures[5];
    fairsem::semaphore sem(0);

    old_first.aging = 1h;
    fairsem::semaphore aged(1, old_first);
    CHECK_THROWS(EINVAL, (void)aged.acquire_future(1, 0, &many).get());
    for (int i = 0; i < 5; i++)
        futures[i] = sem.acquire_future(1, 0, i < 2 ? &many : &few);
    many.charge(2);
    sem.release(4);         /* with the charge, the first unit of `many` counts as three */
    CHECK(is_ready(futures[0]) && !is_ready(futures[1]));
    CHECK(is_ready(futures[2]) && is_ready(futures[3]) && is_ready(futures[4]));
    sem.release();
    CHECK(is_ready(futures[1]));
    for (std::future<units> &each : futures)
        each.get().release();
    CHECK(sem.acquire_future(5, 0, &few).get().count() == 5);
}

/* Units granted to a destroyed future go to the next waiter. */
TRIAL(a_future_that_is_thrown_away_loses_no_unit)
{
    fairsem::semaphore sem(0);
    std::future<units> next;

    (void)sem.acquire_future(2);
    next = sem.acquire_future(2, 1);
    CHECK(sem.waiters() == 2);
    sem.release(2);
    CHECK(is_ready(next) && next.get().count() == 2);
    CHECK(sem.available() == 2);
}

TRIAL(futures_are_fulfilled_by_many_threads)
{
    fairsem::semaphore sem(2);
    std::atomic<int> got{ 0 };

    {
        auto run = [&] {
            for (int i = 0; i < 300; i++)
                got += static_cast<int>(sem.acquire_future(1 + i % 2).get().count());
        };
        trial::worker a(run), b(run), c(run);
    }
    CHECK(got == 3 * 450 && sem.available() == 2);
}

#if defined(__cpp_lib_coroutine)

namespace {

/* A coroutine that begins at once and destroys itself at its end. */
struct detached {
    struct promise_type {
        detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

/* A coroutine whose owner may destroy it while it is suspended. */
struct owned {
    struct promise_type {
        owned get_return_object()
        {
            return { std::coroutine_handle<promise_type>::from_promise(*this) };
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    std::coroutine_handle<promise_type> handle;
};

detached take(fairsem::semaphore &sem, std::int64_t n, std::vector<std::int64_t> &log)
{
    units held = co_await sem.async_acquire(n);

    log.push_back(held.count());
}

detached take_in(fairsem::share &share, fairsem::semaphore &sem, std::int64_t n, std::vector<std::int64_t> &log)
{
    units held = co_await sem.async_acquire(n, 0, &share);

    log.push_back(held.count());
}

detached take_or_fail(fairsem::semaphore &sem, int &error)
{
    try {
        units held = co_await sem.async_acquire();
    } catch (const std::system_error &e) {
        error = e.code().value();
    }
}

owned hold(fairsem::semaphore &sem)
{
    units held = co_await sem.async_acquire();

    co_await std::suspend_always();
}

/* Each coroutine releases its unit, which grants the next one.  The stack must not grow with their number. */
detached pass_on(fairsem::semaphore &sem, std::uintptr_t &lowest)
{
    units held = co_await sem.async_acquire();
    const std::uintptr_t here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));

    lowest = lowest == 0 || here < lowest ? here : lowest;
}

} // namespace

TRIAL(a_coroutine_goes_on_when_it_has_its_units)
{
    fairsem::semaphore sem(1);
    std::vector<std::int64_t> log;

    take(sem, 1, log);
    CHECK((log == std::vector<std::int64_t>{ 1 }));
    take(sem, 3, log);
    take(sem, 2, log);
    CHECK(log.size() == 1 && sem.waiters() == 2);
    sem.release();
    CHECK(log.size() == 1);
    sem.release();
    CHECK((log == std::vector<std::int64_t>{ 1, 3, 2 }));
    CHECK(sem.available() == 3);
}

TRIAL(coroutines_of_two_shares_get_units_in_turn)
{
    fairsem::semaphore sem(0);
    fairsem::share many, few;
    std::vector<std::int64_t> log;

    for (int n = 1; n < 4; n++)
        take_in(n < 3 ? many : few, sem, n, log);
    sem.release(3);
    CHECK((log == std::vector<std::int64_t>{ 1, 3, 2 }));
    take_in(many, sem, 3, log);
    CHECK(log.size() == 4 && sem.available() == 3);
}

TRIAL(co_await_throws_what_acquire_throws)
{
    fairsem::semaphore sem(0);
    int early = 0, late = 0;

    take_or_fail(sem, late);
    CHECK(late == 0);
    sem.close();
    CHECK(late == ESHUTDOWN);
    take_or_fail(sem, early);
    CHECK(early == ESHUTDOWN);
}

TRIAL(a_coroutine_that_is_destroyed_leaves_the_queue)
{
    fairsem::semaphore sem(0);
    owned waits = hold(sem), has = hold(sem);

    CHECK(sem.waiters() == 2);
    waits.handle.destroy();
    CHECK(sem.waiters() == 1);
    sem.release();
    CHECK(sem.waiters() == 0 && sem.available() == 0 && !has.handle.done());
    has.handle.destroy();
    CHECK(sem.available() == 1);
}

TRIAL(coroutines_that_grant_each_other_are_not_nested)
{
    fairsem::semaphore sem(0);
    std::uintptr_t one = 0, many = 0;

    pass_on(sem, one);
    sem.release();
    sem.acquire();
    for (int i = 0; i < 1000; i++)
        pass_on(sem, many);
    CHECK(sem.waiters() == 1000);
    sem.release();
    CHECK(sem.waiters() == 0 && sem.available() == 1);
    CHECK(one != 0 && many >= one - 4096);
}

/* The coroutines resume, and their frames end, on the threads that release units. */
TRIAL(coroutines_run_on_many_threads)
{
    fairsem::semaphore sem(2);
    std::atomic<int> done{ 0 };

    {
        auto count = [](fairsem::semaphore &from, std::atomic<int> &to) -> detached {
            units held = co_await from.async_acquire(2);
            to++;
        };
        auto run = [&] {
            for (int i = 0; i < 500; i++) {
                count(sem, done);
                units one(sem);
            }
        };
        trial::worker a(run), b(run), c(run);
    }
    CHECK(done == 1500 && sem.available() == 2 && sem.waiters() == 0);
}

#if defined(__cpp_lib_jthread)

namespace {

detached take_until_stop(fairsem::semaphore &sem, std::stop_token stop, std::atomic<int> &result)
{
    try {
        units held = co_await sem.async_acquire(stop);

        result = 1;
        (void)held.forget();
    } catch (const std::system_error &e) {
        result = -e.code().value();
    }
}

detached take_in_until_stop(fairsem::share &share, fairsem::semaphore &sem, std::stop_token stop, int id,
                            std::vector<int> &log)
{
    units held = co_await sem.async_acquire(stop, 1, 0, &share);

    log.push_back(id);
}

owned take_two_until_stop(fairsem::semaphore &sem, std::stop_token stop)
{
    co_await std::suspend_always();
    const units held = co_await sem.async_acquire(stop, 2, -1);
    CHECK(false);
}

owned take_one_and_destroy(fairsem::semaphore &sem, std::coroutine_handle<> loser)
{
    const units held = co_await sem.async_acquire();

    loser.destroy();
}

} // namespace

/*
 * A stop dequeues the coroutine `two`.  That grants the coroutine `one`, which destroys `two`: all within the
 * call of request_stop().  (So does a program in which the first of two coroutines to finish wins.)
 */
TRIAL(a_stopped_coroutine_may_be_destroyed_by_the_next_one)
{
    fairsem::semaphore sem(1);
    std::stop_source stop;
    const owned two = take_two_until_stop(sem, stop.get_token());

    two.handle.resume();
    const owned one = take_one_and_destroy(sem, two.handle);
    CHECK(sem.waiters() == 2);
    stop.request_stop();
    CHECK(sem.waiters() == 0);
    one.handle.destroy();
    CHECK(sem.available() == 1);
}

/* As above, but another thread stops the coroutine `two` while that is about to wait. */
TRIAL(a_coroutine_may_be_stopped_and_destroyed_while_it_begins_to_wait)
{
    for (int i = 0; i < 200; i++) {
        fairsem::semaphore sem(0);
        std::stop_source stop;
        const owned two = take_two_until_stop(sem, stop.get_token());
        const owned one = take_one_and_destroy(sem, two.handle);

        {
            trial::worker stops([&] {
                while (sem.waiters() != 2)
                    std::this_thread::yield();
                sem.release();
                for (int k = i % 50; k > 0; k--)
                    (void)sem.waiters();
                stop.request_stop();
            });
            two.handle.resume();
        }
        one.handle.destroy();
        CHECK(sem.available() == 1 && sem.waiters() == 0);
    }
}

TRIAL(coroutines_of_two_shares_that_can_be_stopped_get_units_in_turn)
{
    fairsem::semaphore sem(0);
    fairsem::share many, few;
    std::stop_source stop;
    std::vector<int> log;

    for (int id = 1; id < 4; id++)
        take_in_until_stop(id < 3 ? many : few, sem, stop.get_token(), id, log);
    sem.release();
    CHECK((log == std::vector<int>{ 1, 3, 2 }));
    take_in_until_stop(many, sem, stop.get_token(), 4, log);
    CHECK(log.size() == 4 && sem.available() == 1);
}

TRIAL(a_stop_resumes_the_coroutine)
{
    fairsem::semaphore sem(1);
    std::stop_source stop;
    std::atomic<int> early{ 0 }, waits{ 0 }, late{ 0 }, next{ 0 };

    take_until_stop(sem, stop.get_token(), early);
    CHECK(early == 1 && sem.available() == 0);
    take_until_stop(sem, stop.get_token(), waits);
    take_until_stop(sem, std::stop_token(), next);
    CHECK(waits == 0 && sem.waiters() == 2);
    stop.request_stop();
    CHECK(waits == -ECANCELED && next == 0 && sem.waiters() == 1);
    sem.release();
    CHECK(next == 1);
    sem.release();
    take_until_stop(sem, stop.get_token(), late);
    CHECK(late == -ECANCELED && sem.available() == 1);
    sem.close();
    take_until_stop(sem, std::stop_token(), late);
    CHECK(late == -ESHUTDOWN);
}

/* In every second round, the coroutine begins to wait at the same time. */
TRIAL(a_stop_and_a_grant_race_for_a_coroutine)
{
    for (int i = 0; i < 400; i++) {
        fairsem::semaphore sem(0);
        std::stop_source stop;
        std::atomic<int> result{ 0 }, ready{ 0 };
        auto start = [&] {
            ready++;
            while (ready < 3)
                std::this_thread::yield();
        };

        if (i % 2 == 0)
            take_until_stop(sem, stop.get_token(), result);
        {
            trial::worker stops([&] { start(), stop.request_stop(); });
            trial::worker releases([&] { start(), sem.release(); });
            start();
            if (i % 2 != 0)
                take_until_stop(sem, stop.get_token(), result);
        }
        CHECK(result == 1 || result == -ECANCELED);
        CHECK(sem.available() == (result == 1 ? 0 : 1) && sem.waiters() == 0);
    }
}
#endif
#endif

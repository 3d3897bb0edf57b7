/* SPDX-License-Identifier: MIT */
/* t_semaphore.cpp - what fairsem::semaphore has and std::counting_semaphore has not: order, units, errors. */
#include "trial.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pthread.h>

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using trial::await_waiters;
using trial::worker;

namespace {

/* A clock that stands still until the program sets it, and is therefore not steady. */
struct set_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<set_clock>;
    static constexpr bool is_steady = false;

    static std::atomic<rep> at;
    static std::atomic<int> read;

    static time_point now()
    {
        read++;
        return time_point(duration(at));
    }
};

std::atomic<set_clock::rep> set_clock::at{ 0 };
std::atomic<int> set_clock::read{ 0 };

/* A steady clock.  A wait reads such a clock again only after its deadline. */
struct slow_clock {
    using duration = std::chrono::hours;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<slow_clock>;
    static constexpr bool is_steady = true;

    static time_point now() { return time_point(); }
};

/* Functions that cannot fail are noexcept, as in the standard. */
static_assert(noexcept(std::declval<fairsem::semaphore &>().try_acquire(3)));
static_assert(noexcept(std::declval<fairsem::semaphore &>().try_acquire_upto(3)));
static_assert(noexcept(std::declval<const fairsem::semaphore &>().available()));
static_assert(noexcept(fairsem::category()) && noexcept(fairsem::token()));
/* A function that can fail is not noexcept. */
static_assert(!noexcept(std::declval<fairsem::semaphore &>().acquire()));
static_assert(!noexcept(std::declval<fairsem::semaphore &>().release()));
static_assert(!std::is_copy_constructible_v<fairsem::share> && !std::is_move_constructible_v<fairsem::share>);

} // namespace

TRIAL(units_go_to_the_waiters_in_order_of_arrival)
{
    fairsem::semaphore sem(0);
    std::vector<std::unique_ptr<worker>> workers;
    std::atomic<int> place[4];
    std::atomic<int> granted{ 0 };

    for (int i = 0; i < 4; i++) {
        workers.push_back(std::make_unique<worker>([&, i] {
            sem.acquire(i + 1);
            place[i] = ++granted;
            sem.release(i + 1);
        }));
        await_waiters(sem, i + 1);
    }
    CHECK(sem.would_block());
    sem.release();
    for (auto &each : workers)      /* each worker releases one unit less than the next one needs */
        each->join(), sem.release();
    for (int i = 0; i < 4; i++)
        CHECK(place[i] == i + 1);
    CHECK(sem.available() == 5);
}

/* A call whose time has passed does not wait, but with a better priority it precedes the waiters. */
TRIAL(a_time_that_has_passed_keeps_the_priority)
{
    fairsem::semaphore sem(2);
    const fairsem::wait_options first{ -1, nullptr };

    {
        worker waits([&] { sem.acquire(5); });
        while (sem.waiters() == 0)
            std::this_thread::yield();
        CHECK(!sem.try_acquire_for(0s) && !sem.try_acquire_until(set_clock::now()));
        CHECK(sem.try_acquire_for(0s, 1, first));
        CHECK(sem.try_acquire_until(steady_clock::now(), 1, first));
        sem.release(2);
        CHECK(sem.try_acquire_until(set_clock::now(), 1, first));
        sem.release(4);
    }
    CHECK(sem.available() == 0);
}

TRIAL(a_request_takes_all_its_units_or_none)
{
    fairsem::semaphore sem(5);

    CHECK(!sem.try_acquire(6) && sem.available() == 5);
    CHECK(!sem.try_acquire_for(1ms, 6) && sem.available() == 5);
    CHECK(!sem.try_acquire_until(steady_clock::now() + 1ms, 6) && sem.available() == 5);
    /* A time that has passed is no wait.  (Whether 1 ms was a wait depends: it may pass before the enqueue.) */
    const auto waits = sem.stat().waits;
    CHECK(!sem.try_acquire_until(steady_clock::now(), 6) && sem.stat().waits == waits);
    CHECK(!sem.try_acquire_until(set_clock::now(), 6) && sem.stat().waits == waits);
    sem.acquire(3);
    CHECK(sem.available() == 2);
    CHECK(sem.try_acquire_upto(9) == 2 && sem.try_acquire_upto(9) == 0);
    sem.release(5);
    CHECK(sem.available() == 5);
}

TRIAL(the_lower_priority_is_granted_first)
{
    fairsem::semaphore sem(0);
    std::atomic<int> granted{ 0 }, late{ 0 }, urgent{ 0 }, timed{ 0 };

    worker a([&] {
        sem.acquire(1);
        late = ++granted;
        sem.release();
    });
    await_waiters(sem, 1);
    worker b([&] {
        sem.acquire(1, { -1, nullptr });
        urgent = ++granted;
        sem.release();
    });
    await_waiters(sem, 2);
    worker c([&] {
        (void)sem.try_acquire_for(1h, 1, { -2, nullptr });
        timed = ++granted;
        sem.release();
    });
    await_waiters(sem, 3);
    sem.release();
    a.join(), b.join(), c.join();
    CHECK(timed == 1 && urgent == 2 && late == 3);
}

/*
 * Each request of one share waits by another function.  The request of the other share comes last, and is
 * granted second.
 */
TRIAL(units_go_round_between_shares)
{
    fairsem::semaphore sem(0);
    fairsem::share many, few(2);
    const fairsem::wait_options of_many{ 0, nullptr, &many };
    const std::vector<std::function<void()>> waits = {
        [&] { sem.acquire(1, of_many); },
        [&] { (void)sem.try_acquire_for(1h, 1, of_many); },
        [&] { (void)sem.try_acquire_until(steady_clock::now() + 1h, 1, of_many); },
        [&] { (void)sem.try_acquire_until(slow_clock::now() + 1h, 1, of_many); },
#if defined(__cpp_lib_jthread)
        [&] { (void)sem.acquire(std::stop_token(), 1, 0, &many); },
        [&] { (void)sem.try_acquire_for(std::stop_token(), 1h, 1, 0, &many); },
        [&] { (void)sem.try_acquire_until(std::stop_token(), steady_clock::now() + 1h, 1, 0, &many); },
#endif
        [&] { sem.acquire(1, { 0, nullptr, &few }); },
    };
    std::vector<std::unique_ptr<worker>> workers;
    std::vector<std::size_t> order;

    for (std::size_t i = 0; i < waits.size(); i++) {
        workers.push_back(std::make_unique<worker>([&, i] {
            waits[i]();
            order.push_back(i);     /* no data race: there is only one unit */
            sem.release();
        }));
        await_waiters(sem, static_cast<std::int64_t>(i + 1));
    }
    CHECK(sem.stat().shares == 2);
    sem.release();
    for (auto &each : workers)
        each->join();
    CHECK(order.size() == waits.size() && order[0] == 0 && order[1] == waits.size() - 1);
    for (std::size_t i = 2; i < order.size(); i++)
        CHECK(order[i] == i - 1);
}

TRIAL(a_share_has_a_weight_and_goes_with_strict_order_only)
{
    fairsem::attributes bypassed;
    fairsem::share share(FAIRSEM_MAX_WEIGHT);

    bypassed.bypass = 1ms;
    CHECK_THROWS(EINVAL, fairsem::share(0));
    CHECK_THROWS(EINVAL, fairsem::share(FAIRSEM_MAX_WEIGHT + 1));
    CHECK_THROWS(EINVAL, share.charge(fairsem::semaphore::max() + 1));
    share.charge(-1);
    CHECK_THROWS(EINVAL, fairsem::semaphore(1, bypassed).acquire(1, { 0, nullptr, &share }));
#if defined(__cpp_lib_jthread)
    CHECK_THROWS(EINVAL, (void)fairsem::semaphore(1, bypassed).acquire(std::stop_token(), 1, 0, &share));
#endif
}

TRIAL(a_token_cancels_waits_with_its_reason)
{
    fairsem::semaphore sem(0);
    fairsem::token token;
    std::atomic<int> errors[3] = {};

    auto record = [&](int i, auto wait) {
        try {
            wait();
        } catch (const std::system_error &e) {
            errors[i] = e.code().value();
        }
    };
    {
        worker a([&] { record(0, [&] { sem.acquire(1, { 0, &token }); }); });
        worker b([&] { record(1, [&] { (void)sem.try_acquire_for(1h, 1, { 0, &token }); }); });
        worker c([&] {
            record(2, [&] {
                (void)sem.try_acquire_until(slow_clock::now() + 1h, 1, { 0, &token });
            });
        });
        await_waiters(sem, 3);
        CHECK(!token.canceled());
        CHECK(token.cancel(4711));
        CHECK(!token.cancel(1));
    }
    CHECK(token.canceled() && token.reason() == 4711);
    for (std::atomic<int> &error : errors)
        CHECK(error == 4711);
    sem.release();
    CHECK_THROWS(4711, sem.acquire(1, { 0, &token }));
    CHECK_THROWS(4711, (void)sem.try_acquire_until(set_clock::now() + 1h, 1, { 0, &token }));
    CHECK_THROWS(EINVAL, fairsem::token().cancel(-1));
    CHECK(sem.available() == 1);
}

TRIAL(a_wait_by_another_clock_keeps_its_place)
{
    fairsem::semaphore sem(0);
    std::atomic<bool> first{ true };
    std::atomic<int> granted{ 0 }, place{ 0 };

    set_clock::at = 0;
    set_clock::read = 0;
    worker timed([&] {
        first = sem.try_acquire_until(set_clock::time_point(1s));
        place = ++granted;
        sem.release();
    });
    await_waiters(sem, 1);
    worker behind([&] {
        sem.acquire();
        ++granted;
        sem.release();
    });
    await_waiters(sem, 2);
    while (set_clock::read < 4)     /* until the waiter has slept, and has read the clock again */
        std::this_thread::yield();
    CHECK(sem.waiters() == 2);
    sem.release();
    timed.join(), behind.join();
    CHECK(first && place == 1);
}

TRIAL(a_wait_ends_when_another_clock_is_set_forward)
{
    fairsem::semaphore sem(0);
    std::atomic<bool> taken{ true };

    set_clock::at = 0;
    worker timed([&] { taken = sem.try_acquire_until(set_clock::time_point(1h)); });
    await_waiters(sem, 1);
    set_clock::at = 3600 * 1000;
    timed.join();
    CHECK(!taken && sem.waiters() == 0);
}

TRIAL(attributes_are_those_of_fairsem_init)
{
    fairsem::attributes few;

    few.name = "few";
    few.capacity = 2;
    few.max_waiters = 1;
    fairsem::semaphore sem(2, few);
    CHECK(sem.capacity() == 2 && fairsem::semaphore(1).capacity() == -1);
    CHECK_THROWS(EOVERFLOW, sem.release());
    CHECK_THROWS(E2BIG, sem.acquire(3));
    CHECK_THROWS(E2BIG, (void)sem.try_acquire_for(1s, 3));
    CHECK_THROWS(E2BIG, (void)sem.try_acquire_until(set_clock::now() + 1s, 3));
    CHECK(!sem.try_acquire(3));
    {
        sem.acquire(2);
        worker waiting([&] { sem.acquire(); });
        await_waiters(sem, 1);
        CHECK_THROWS(ENOBUFS, sem.acquire());
        CHECK_THROWS(ENOBUFS, (void)sem.try_acquire_until(set_clock::now() + 1s));
        sem.release(2);
    }
    sem.release();
    sem.set_capacity(1);
    sem.consume(3);
    CHECK(sem.available() == -2);
    CHECK_THROWS(EINVAL, fairsem::semaphore(1).set_capacity(1));
    CHECK_THROWS(EINVAL, sem.consume(-1));
    CHECK_THROWS(EINVAL, fairsem::semaphore(3, few));
    few.bypass = -1ns;
    CHECK_THROWS(EINVAL, fairsem::semaphore(1, few));
    few.bypass = 0ns;
    few.aging = -1ns;
    CHECK_THROWS(EINVAL, fairsem::semaphore(1, few));
    few.aging = 1ms;
    CHECK(fairsem::semaphore(1, few).try_acquire());
    few.bypass = 1ms;
    few.no_spin = few.interruptible = true;
    CHECK(fairsem::semaphore(1, few).try_acquire());
    CHECK(fairsem::binary_semaphore(1, few).try_acquire());
    CHECK_THROWS(EINVAL, fairsem::semaphore(-1));
    CHECK_THROWS(EINVAL, fairsem::counting_semaphore<>(-1));
}

TRIAL(close_ends_all_waits_with_its_reason)
{
    fairsem::semaphore sem(0);
    std::atomic<int> error{ 0 };

    CHECK(sem.closed() == 0);
    {
        worker waiting([&] {
            try {
                (void)sem.try_acquire_until(set_clock::now() + 1h);
            } catch (const std::system_error &e) {
                error = e.code() == fairsem::errc::closed ? 1 : 2;
            }
        });
        await_waiters(sem, 1);
        CHECK(sem.close());
    }
    CHECK(error == 1);
    CHECK(!sem.close(5) && sem.closed() == ESHUTDOWN);
    sem.release();
    CHECK(!sem.try_acquire() && sem.available() == 1);
    CHECK_THROWS(ESHUTDOWN, sem.acquire());
    CHECK_THROWS(ESHUTDOWN, (void)sem.try_acquire_for(0s));
    CHECK_THROWS(EINVAL, fairsem::semaphore(1).close(-1));
}

TRIAL(drain_waits_until_no_thread_holds_units)
{
    fairsem::semaphore sem(2);
    fairsem::token token;

    sem.acquire();
    CHECK(!sem.drain_for(1ms, 2));
    CHECK(sem.closed() == ESHUTDOWN);
    token.cancel();
    CHECK_THROWS(ECANCELED, sem.drain(2, { 0, &token }));
    {
        worker draining([&] { sem.drain(2); });
        await_waiters(sem, 1);
        sem.release();
    }
    CHECK(sem.drain_for(0s, 2) && sem.available() == 2);
    CHECK_THROWS(EINVAL, sem.drain(-1));
}

TRIAL(an_error_says_what_it_means_for_a_semaphore)
{
    fairsem::semaphore sem(0);
    bool thrown = false;

    sem.close();
    try {
        sem.acquire();
    } catch (const std::system_error &e) {
        CHECK(std::string(e.what()) == "fairsem::semaphore::acquire: the semaphore was closed");
        CHECK(e.code() == fairsem::errc::closed);
        CHECK(e.code() != fairsem::errc::canceled);
        thrown = true;
    }
    CHECK(thrown);
    CHECK(std::string(fairsem::category().name()) == "fairsem");
    /* The codes equal the standard's conditions, and differ from each other. */
    CHECK(make_error_code(fairsem::errc::canceled) == std::errc::operation_canceled);
    CHECK(make_error_code(fairsem::errc::timed_out) == std::errc::timed_out);
    const int all[] = { EAGAIN, E2BIG,   ECANCELED, EINTR,     EINVAL,
                        ENOBUFS, ENOTSUP, EOVERFLOW, ESHUTDOWN, ETIMEDOUT };
    for (int a : all) {
        CHECK(fairsem::category().message(a) != std::generic_category().message(a));
        for (int b : all)
            CHECK(a == b || fairsem::category().message(a) != fairsem::category().message(b));
    }
    CHECK(fairsem::category().message(ENOTTY) == std::generic_category().message(ENOTTY));
}

TRIAL(stat_and_dump_are_those_of_c)
{
    fairsem::attributes named;
    std::FILE *file = std::tmpfile();
    char line[200] = "";

    named.name = "a name to be found";
    fairsem::semaphore sem(3, named);

    CHECK(sem.try_acquire());
    CHECK(sem.stat().available == 2 && sem.stat().capacity == -1);
    CHECK(!sem.try_acquire_for(1ms, 9));
    CHECK(sem.stat_interval().waiters_max == 1 && sem.stat_interval().waiters_max == 0);
    CHECK(fairsem_available(sem.native_handle()) == 2);
    CHECK(file != nullptr);
    sem.dump(file);
    std::rewind(file);
    CHECK(std::fgets(line, sizeof line, file) != nullptr);
    CHECK(std::string(line).find(named.name) != std::string::npos);
    std::fclose(file);
}

TRIAL(a_counted_semaphore_has_a_histogram)
{
    fairsem::attributes bounded;
    bounded.capacity = 2;
    fairsem::counted_semaphore sem(2, bounded), plain_attributes(1);
    fairsem::semaphore plain(1);
    const auto sum_of = [](const fairsem::semaphore &of) {
        std::uint64_t sum = 0;

        for (std::uint64_t count : of.histogram())
            sum += count;
        return sum;
    };

    CHECK(sum_of(sem) == 0 && sem.capacity() == 2 && plain_attributes.capacity() == -1);
    sem.acquire(2);
    while (sem.stat().timeouts < 2)
        CHECK(!sem.try_acquire_for(1ms));
    CHECK(sum_of(sem) == 2 && sum_of(plain_attributes) == 0);
    CHECK_THROWS(EINVAL, plain.histogram());
    CHECK_THROWS(EINVAL, fairsem::counted_semaphore(3, bounded));
}

TRIAL(a_canceled_thread_leaves_the_queue)
{
    fairsem::semaphore sem(0);
    std::atomic<int> unwound{ 0 };
    struct counts {
        std::atomic<int> &n;
        ~counts() { ++n; }
    };

    worker plain([&] {
        counts at_end{ unwound };
        sem.acquire();
    });
    worker by_ticket([&] {
        counts at_end{ unwound };
        (void)sem.try_acquire_until(set_clock::now() + 1h);
    });
    await_waiters(sem, 2);
    pthread_cancel(plain.native_handle());
    pthread_cancel(by_ticket.native_handle());
    plain.join(), by_ticket.join();
    CHECK(unwound == 2 && sem.waiters() == 0);
}

/* The release may still be running at that time. */
TRIAL(a_granted_thread_may_destroy_the_semaphore)
{
    for (int i = 0; i < 300; i++) {
        auto sem = std::make_unique<fairsem::semaphore>(0);
        fairsem::semaphore *raw = sem.get();
        worker releases([raw] { raw->release(); });

        sem->acquire();
        sem.reset();
    }
}

#if defined(__cpp_lib_jthread)
TRIAL(a_stop_ends_waits)
{
    fairsem::semaphore sem(1);
    std::stop_source stop;
    std::atomic<int> taken{ 0 };

    CHECK(sem.acquire(stop.get_token()));
    CHECK(!sem.try_acquire_for(stop.get_token(), 1ms));
    CHECK(!sem.try_acquire_until(stop.get_token(), steady_clock::now() + 1ms));
    CHECK_THROWS(EINVAL, (void)sem.acquire(stop.get_token(), -1));
    {
        worker a([&] { taken += sem.acquire(stop.get_token()); });
        worker b([&] { taken += sem.try_acquire_for(stop.get_token(), 1h); });
        worker c([&] {
            taken += sem.try_acquire_until(stop.get_token(), steady_clock::now() + 1h);
        });
        worker d([&] { taken += sem.try_acquire_until(stop.get_token(), set_clock::now() + 1h); });
        worker e([&] { taken += sem.acquire(std::stop_token()); });

        await_waiters(sem, 5);
        stop.request_stop();
        await_waiters(sem, 1);
        sem.release();
    }
    CHECK(taken == 1);      /* by the acquire without a stop token */
    sem.release();
    CHECK(!sem.acquire(stop.get_token()) && sem.available() == 1);
    CHECK(sem.acquire(std::stop_token()));
}

TRIAL(a_stop_and_a_release_race)
{
    for (int i = 0; i < 300; i++) {
        fairsem::semaphore sem(0);
        std::stop_source stop;
        std::atomic<bool> taken{ false };

        {
            worker waits([&] { taken = sem.acquire(stop.get_token()); });
            await_waiters(sem, 1);
            worker stops([&] { stop.request_stop(); });
            sem.release();
        }
        CHECK(sem.available() == (taken ? 0 : 1));
    }
}
#endif

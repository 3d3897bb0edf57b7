/* SPDX-License-Identifier: MIT */
/* t_units.cpp - the guard, which knows the units that it holds, and can be moved but not copied. */
#include "trial.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

using fairsem::units;

namespace {

static_assert(!std::is_copy_constructible_v<units> && !std::is_copy_assignable_v<units>);
static_assert(std::is_nothrow_move_constructible_v<units>);
static_assert(std::is_nothrow_move_assignable_v<units>);
static_assert(std::is_nothrow_default_constructible_v<units> && std::is_nothrow_swappable_v<units>);

/* A clock that the library does not know. */
struct own_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<own_clock>;
    static constexpr bool is_steady = true;

    static time_point now()
    {
        return time_point(std::chrono::steady_clock::now().time_since_epoch());
    }
};

units both_of(fairsem::semaphore &sem)
{
    return units(sem, 2);
}

} // namespace

TRIAL(the_units_are_released_when_the_scope_ends)
{
    fairsem::semaphore sem(5);

    {
        units one(sem);
        units three(sem, 3);

        CHECK(one && one.count() == 1 && three.count() == 3 && sem.available() == 1);
    }
    CHECK(sem.available() == 5);
    try {
        units two(sem, 2);

        CHECK(sem.available() == 3);
        throw std::runtime_error("leaves");
    } catch (const std::runtime_error &) {
    }
    CHECK(sem.available() == 5);
}

TRIAL(a_try_leaves_the_guard_empty)
{
    fairsem::semaphore sem(2);
    units all(sem, 2, std::try_to_lock);
    units none(sem, 1, std::try_to_lock);

    CHECK(all && all.count() == 2);
    CHECK(!none && none.count() == 0);
    none.release();
    CHECK(sem.available() == 0);
}

TRIAL(an_acquire_that_fails_throws_and_holds_nothing)
{
    fairsem::semaphore sem(2);
    fairsem::token token;

    token.cancel();
    CHECK_THROWS(ECANCELED, units held(sem, 1, { 0, &token }));
    CHECK_THROWS(EINVAL, units held(sem, -1));
    CHECK_THROWS(EINVAL, units held(sem, -1, std::adopt_lock));
    sem.close();
    CHECK_THROWS(ESHUTDOWN, units held(sem));
    CHECK(sem.available() == 2);
}

TRIAL(a_move_takes_the_units_along)
{
    fairsem::semaphore sem(4);
    units a = both_of(sem);
    units b(std::move(a));

    CHECK(!a && b.count() == 2 && sem.available() == 2);
    a = units(sem, 1);
    b = std::move(a);           /* first releases b's units */
    CHECK(!a && b.count() == 1 && sem.available() == 3);
    units &same = b;
    b = std::move(same);
    CHECK(b.count() == 1 && sem.available() == 3);
    swap(a, b);
    CHECK(a.count() == 1 && !b);
    a = units();
    CHECK(sem.available() == 4);
}

TRIAL(a_guard_releases_some_units_splits_and_merges)
{
    fairsem::semaphore sem(10), other(1);
    units held(sem, 8);

    held.release(3);
    CHECK(held.count() == 5 && sem.available() == 5);
    CHECK_THROWS(EINVAL, held.release(6));
    units part = held.split(2);
    CHECK(part.count() == 2 && held.count() == 3 && sem.available() == 5);
    CHECK_THROWS(EINVAL, (void)held.split(4));
    held.merge(std::move(part));
    CHECK(!part && held.count() == 5);
    units foreign(other);
    CHECK_THROWS(EINVAL, held.merge(std::move(foreign)));
    CHECK(foreign && held.count() == 5);
    held.release();
    CHECK(!held && sem.available() == 10);
}

TRIAL(units_go_in_and_out_of_a_guard)
{
    fairsem::semaphore sem(3);

    sem.acquire(2);
    {
        units adopted(sem, 2, std::adopt_lock);
        CHECK(adopted.count() == 2);
    }
    CHECK(sem.available() == 3);
    {
        units forgotten(sem, 2);
        CHECK(forgotten.forget() == 2 && !forgotten);
    }
    CHECK(sem.available() == 1);
    {
        units of_c(fairsem_units_t{ sem.native_handle(), 2 });
    }
    CHECK(sem.available() == 3);
}

TRIAL(several_semaphores_are_acquired_together)
{
    fairsem::semaphore files(2), bytes(100);

    {
        auto [memory, file] = fairsem::acquire_all({ { bytes, 60 }, { files } });

        CHECK(memory.count() == 60 && file.count() == 1);
        CHECK(bytes.available() == 40 && files.available() == 1);
        memory.release(20);
        const units kept(std::move(file));
        CHECK(!file && kept.count() == 1 && bytes.available() == 60);
    }
    CHECK(bytes.available() == 100 && files.available() == 2);
    {
        auto [one, two] = fairsem::acquire_all({ { bytes, 10 }, { bytes, 20 } }, { -1 });

        CHECK(one.count() == 10 && two.count() == 20 && bytes.available() == 70);
        one.merge(std::move(two));
        CHECK(one.count() == 30);
    }
    CHECK(bytes.available() == 100);
}

TRIAL(if_one_of_several_fails_none_is_held)
{
    using namespace std::chrono_literals;
    fairsem::semaphore files(2), bytes(100, { nullptr, 100 });
    fairsem::token token;

    CHECK_THROWS(E2BIG, (void)fairsem::acquire_all({ { files }, { bytes, 101 } }));
    CHECK_THROWS(EINVAL, (void)fairsem::acquire_all({ { files }, { bytes, -1 } }));
    CHECK(!fairsem::try_acquire_all_for(1ms, { { files, 3 }, { bytes, 10 } }));
    CHECK(!fairsem::try_acquire_all_for(0s, { { bytes, 10 }, { files, 3 } }));
    auto held = fairsem::try_acquire_all_for(1h, { { bytes, 10 }, { files, 2 } });
    CHECK(held && (*held)[0].count() == 10 && (*held)[1].count() == 2);
    held.reset();
    token.cancel();
    CHECK_THROWS(ECANCELED, (void)fairsem::acquire_all({ { files }, { bytes } }, { 0, &token }));
    files.close(EPIPE);
    CHECK_THROWS(EPIPE, (void)fairsem::acquire_all({ { bytes, 5 }, { files } }));
    CHECK(files.available() == 2 && bytes.available() == 100);
}

template <class Clock> static void acquires_all_until()
{
    using namespace std::chrono_literals;
    fairsem::semaphore pair[2] = { fairsem::semaphore(2), fairsem::semaphore(5, { nullptr, 5 }) };
    fairsem::token token;
    const auto soon = Clock::now() + 1ms, late = Clock::now() + 1h;

    CHECK(!fairsem::try_acquire_all_until(soon, { { pair[1], 5 }, { pair[0], 3 } }));
    CHECK(!fairsem::try_acquire_all_until(soon, { { pair[0], 2 }, { pair[0] } }));
    CHECK(pair[1].stat().waits == 0);       /* pair[0] has the lower address, and comes first */
    auto held = fairsem::try_acquire_all_until(late, { { pair[1], 2 }, { pair[0] }, { pair[1] } });
    CHECK(held && (*held)[0].count() == 2 && (*held)[1].count() == 1 && (*held)[2].count() == 1);
    CHECK(pair[0].available() == 1 && pair[1].available() == 2);
    {
        bool taken = false;
        trial::worker waits([&] {
            taken = fairsem::try_acquire_all_until(late, { { pair[1], 4 }, { pair[0] } })
                        .has_value();
        });
        trial::await_waiters(pair[1], 1);   /* and the call holds one unit of pair[0] */
        CHECK(pair[0].available() == 0);
        held.reset();
        waits.join();
        CHECK(taken);
    }
    CHECK_THROWS(E2BIG, (void)fairsem::try_acquire_all_until(late, { { *pair }, { pair[1], 6 } }));
    CHECK_THROWS(EINVAL, (void)fairsem::try_acquire_all_until(late, { { *pair }, { *pair, -1 } }));
    CHECK_THROWS(EINVAL, (void)fairsem::try_acquire_all_until(
                             late, { { pair[1], pair[1].max() }, { pair[0] }, { pair[1] } }));
    token.cancel(EPIPE);
    CHECK_THROWS(EPIPE, (void)fairsem::try_acquire_all_until(late, { { pair[0] }, { pair[1] } },
                                                             { 0, &token }));
    CHECK(pair[0].available() == 2 && pair[1].available() == 5);
}

TRIAL(several_semaphores_have_one_deadline)
{
    acquires_all_until<std::chrono::steady_clock>();
    acquires_all_until<std::chrono::system_clock>();
    acquires_all_until<own_clock>();
}

/* `wait` acquires the units of two requests, with a share for each, and one for the call. */
template <class Wait> static void acquires_all_with_shares(const Wait &wait)
{
    fairsem::semaphore pair[2] = { fairsem::semaphore(2), fairsem::semaphore(2) };
    fairsem::share one, two;

    CHECK_THROWS(EINVAL, wait(pair[0], &one, pair[0], &two, nullptr));
    CHECK_THROWS(EINVAL, wait(pair[0], &one, pair[1], &two, &two));
    CHECK(pair[0].available() == 2 && pair[1].available() == 2);
    wait(pair[1], &one, pair[0], &two, nullptr);
    wait(pair[0], nullptr, pair[0], &one, nullptr);
    pair[0].acquire(2);
    {
        trial::worker first([&] { wait(pair[0], &one, pair[1], nullptr, nullptr); });
        trial::await_waiters(pair[0], 1);
        trial::worker second([&] { wait(pair[0], &one, pair[0], nullptr, nullptr); });
        trial::await_waiters(pair[0], 2);
        std::future<units> third = pair[0].acquire_future(1, 0, &two);
        CHECK(pair[0].stat().shares == 2);
        pair[0].release();
        CHECK(third.get().count() == 1);    /* `first` has released its units; `second` lacks one */
        CHECK(pair[0].waiters() == 1);
        pair[0].release();
    }
    CHECK(pair[0].available() == 2 && pair[1].available() == 2);
}

TRIAL(several_semaphores_have_a_share_each)
{
    acquires_all_with_shares([](fairsem::semaphore &a, fairsem::share *at_a, fairsem::semaphore &b,
                                fairsem::share *at_b, fairsem::share *how) {
        (void)fairsem::acquire_all({ { a, 1, at_a }, { b, 1, at_b } }, { 0, nullptr, how });
    });
    acquires_all_with_shares([](fairsem::semaphore &a, fairsem::share *at_a, fairsem::semaphore &b,
                                fairsem::share *at_b, fairsem::share *how) {
        (void)fairsem::try_acquire_all_until(own_clock::now() + std::chrono::hours(1),
                                             { { a, 1, at_a }, { b, 1, at_b } }, { 0, nullptr, how });
    });
}

#if defined(__cpp_lib_jthread)
TRIAL(a_stop_ends_waits_for_several_semaphores)
{
    using namespace std::chrono_literals;
    fairsem::semaphore files(1), bytes(0);
    std::stop_source stop;
    std::atomic<int> taken = 0;

    CHECK(fairsem::acquire_all(stop.get_token(), { { files } }));
    CHECK(!fairsem::try_acquire_all_for(stop.get_token(), 1ms, { { files }, { bytes } }));
    CHECK(!fairsem::try_acquire_all_until(stop.get_token(), own_clock::now() + 1ms,
                                          { { files }, { bytes } }));
    CHECK_THROWS(EINVAL, (void)fairsem::acquire_all(stop.get_token(), { { bytes, -1 } }));
    {
        trial::worker a([&] {
            taken += fairsem::acquire_all(stop.get_token(), { { bytes }, { bytes } }).has_value();
        });
        trial::worker b([&] {
            taken += fairsem::try_acquire_all_for(stop.get_token(), 1h, { { bytes } }).has_value();
        });
        trial::worker c([&] {
            taken += fairsem::try_acquire_all_until(stop.get_token(), own_clock::now() + 1h,
                                                    { { bytes } }, 1).has_value();
        });
        trial::worker d([&] {
            const auto held = fairsem::acquire_all(std::stop_token(), { { files }, { bytes } });
            taken += held.has_value();
        });

        trial::await_waiters(bytes, 4);
        stop.request_stop();
        trial::await_waiters(bytes, 1);
        bytes.release();
    }
    CHECK(taken == 1);      /* by the acquire without a stop token */
    CHECK(!fairsem::acquire_all(stop.get_token(), { { files } }));
    CHECK(files.available() == 1 && bytes.available() == 1);
}
#endif

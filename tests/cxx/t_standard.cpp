/* SPDX-License-Identifier: MIT */
/*
 * t_standard.cpp - checks what the standard says of counting_semaphore, sentence by sentence.
 *
 * Each trial is a template on a family of semaphores.  Compiled with TRIAL_STD, as C++20, the trials also run
 * on the semaphores of std.  That shows that the trials demand only what the standard demands.  (make check
 * does not run them on std: not every version of every library passes.)
 */
#include "trial.hpp"

#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#if defined(TRIAL_STD)
#include <semaphore>
#endif

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

namespace {

struct ours {
    template <std::ptrdiff_t N> using counting = fairsem::counting_semaphore<N>;
    using any = fairsem::counting_semaphore<>;
    using binary = fairsem::binary_semaphore;
};

#if defined(TRIAL_STD)
struct theirs {
    template <std::ptrdiff_t N> using counting = std::counting_semaphore<N>;
    using any = std::counting_semaphore<>;
    using binary = std::binary_semaphore;
};
#endif

/* Take all units, and return their number, so that a trial notices a unit too many or too few. */
template <class Sem> int drain(Sem &sem)
{
    int taken = 0;

    while (sem.try_acquire())
        taken++;
    return taken;
}

/* A clock of the program, whose epoch is years away from the epochs of other clocks. */
struct program_clock {
    using rep = long long;
    using period = std::micro;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<program_clock>;
    static constexpr bool is_steady = true;

    static time_point now()
    {
        return time_point(std::chrono::duration_cast<duration>(
            steady_clock::now().time_since_epoch() - 100000h));
    }
};

/* ---- The class ---- */

template <class Family> void the_class_is_as_declared()
{
    using sem = typename Family::template counting<5>;

    static_assert(std::is_same_v<typename Family::binary, typename Family::template counting<1>>);
    static_assert(std::is_same_v<decltype(sem::max()), std::ptrdiff_t>);
    static_assert(sem::max() >= 5 && Family::binary::max() >= 1);
    static_assert(Family::template counting<INT_MAX>::max() >= INT_MAX);
    static_assert(Family::template counting<0>::max() >= 0);
    static_assert(Family::any::max() > 0);
    static_assert(noexcept(sem::max()));

    static_assert(std::is_constructible_v<sem, std::ptrdiff_t>);
    static_assert(!std::is_convertible_v<std::ptrdiff_t, sem>);
    static_assert(!std::is_default_constructible_v<sem>);
    static_assert(!std::is_copy_constructible_v<sem> && !std::is_move_constructible_v<sem>);
    static_assert(!std::is_copy_assignable_v<sem> && !std::is_move_assignable_v<sem>);
    static_assert(std::is_nothrow_destructible_v<sem>);

    sem *s = nullptr;
    static_assert(std::is_void_v<decltype(s->release())>);
    static_assert(std::is_void_v<decltype(s->release(std::ptrdiff_t()))>);
    static_assert(std::is_void_v<decltype(s->acquire())>);
    static_assert(std::is_same_v<decltype(s->try_acquire()), bool>);
    static_assert(noexcept(s->try_acquire()));
    static_assert(std::is_same_v<decltype(s->try_acquire_for(1s)), bool>);
    static_assert(std::is_same_v<decltype(s->try_acquire_until(steady_clock::now())), bool>);
    (void)s;
}

template <class Family> void the_counter_begins_with_desired()
{
    for (int desired : { 0, 1, 5 }) {
        typename Family::template counting<5> sem(desired);

        CHECK(drain(sem) == desired);
    }
}

/* ---- release ---- */

template <class Family> void release_adds_update_to_the_counter()
{
    typename Family::template counting<10> sem(1);

    sem.release();
    CHECK(drain(sem) == 2);
    sem.release(0);
    CHECK(drain(sem) == 0);
    sem.release(10);
    CHECK(drain(sem) == 10);
}

/* An update of max() - counter succeeds. */
template <class Family> void release_reaches_max()
{
    using sem = typename Family::any;

    sem all(sem::max());
    sem most(0);

    CHECK(all.try_acquire());
    all.release();
    most.release(sem::max() - 1);
    most.release();
    CHECK(most.try_acquire());
}

template <class Family> void release_unblocks_all_that_it_has_units_for()
{
    typename Family::template counting<3> sem(0);
    std::array<std::unique_ptr<trial::worker>, 3> waiting;

    for (auto &worker : waiting)
        worker = std::make_unique<trial::worker>([&] { sem.acquire(); });
    sem.release(3);
    for (auto &worker : waiting)
        worker->join();
    CHECK(drain(sem) == 0);
}

/* Writes before a release are visible after the acquire, whichever acquiring function it is. */
template <class Family> void release_happens_before_the_acquire_that_sees_it()
{
    typename Family::binary full(0), empty(1);
    int cell = -1, wrong = 0;
    constexpr int rounds = 4000;

    trial::worker writer([&] {
        for (int i = 0; i < rounds; i++) {
            empty.acquire();
            cell = i;
            full.release();
        }
    });
    for (int i = 0; i < rounds; i++) {
        if (i % 4 == 0)
            full.acquire();
        else if (i % 4 == 1)
            while (!full.try_acquire())
                std::this_thread::yield();
        else if (i % 4 == 2)
            while (!full.try_acquire_for(1s))
                continue;
        else
            while (!full.try_acquire_until(steady_clock::now() + 1s))
                continue;
        wrong += cell != i;
        empty.release();
    }
    writer.join();
    CHECK(wrong == 0);
}

/* ---- try_acquire, acquire ---- */

template <class Family> void try_acquire_has_no_effect_when_it_fails()
{
    typename Family::template counting<2> sem(0);

    for (int i = 0; i < 100; i++)
        CHECK(!sem.try_acquire());
    sem.release(2);
    CHECK(drain(sem) == 2);
}

template <class Family> void acquire_blocks_until_the_counter_is_positive()
{
    typename Family::binary sem(0);
    std::atomic<bool> has_it{ false };

    trial::worker waiting([&] {
        sem.acquire();
        has_it = true;
    });
    for (int i = 0; i < 1000; i++) {
        CHECK(!has_it);
        std::this_thread::yield();
    }
    sem.release();
    waiting.join();
    CHECK(has_it);
    CHECK(drain(sem) == 0);
}

/* ---- Time ---- */

template <class Family> void a_time_that_has_passed_is_false_and_takes_nothing()
{
    typename Family::binary sem(0);

    CHECK(!sem.try_acquire_for(0s));
    CHECK(!sem.try_acquire_for(-1s));
    CHECK(!sem.try_acquire_until(steady_clock::now()));
    CHECK(!sem.try_acquire_until(system_clock::now() - 1h));
    CHECK(!sem.try_acquire_until(program_clock::now() - 1h));
    sem.release();
    CHECK(drain(sem) == 1);
}

template <class Family> void a_free_unit_is_taken_whatever_the_time()
{
    typename Family::template counting<8> sem(7);

    CHECK(sem.try_acquire_for(0s));
    CHECK(sem.try_acquire_for(-1s));
    CHECK(sem.try_acquire_for(1h));
    CHECK(sem.try_acquire_until(steady_clock::now() - 1h));
    CHECK(sem.try_acquire_until(steady_clock::now() + 1h));
    CHECK(sem.try_acquire_until(system_clock::now() - 1h));
    CHECK(sem.try_acquire_until(program_clock::now() - 1h));
    CHECK(drain(sem) == 0);
}

/* Does an acquire fail, and return only after the clock has reached the time? */
template <class Clock, class Sem, class Time> bool ends_after(Sem &sem, Time at)
{
    return !sem.try_acquire_until(at) && Clock::now() >= at;
}

template <class Family> void false_does_not_come_before_the_time()
{
    typename Family::binary sem(0);
    const auto begin = steady_clock::now();

    CHECK(!sem.try_acquire_for(5ms));
    CHECK(steady_clock::now() - begin >= 5ms);
    CHECK(!sem.try_acquire_for(std::chrono::duration<double>(0.0025)));
    CHECK(steady_clock::now() - begin >= 7500us);
    CHECK(!sem.try_acquire_for(std::chrono::duration<int, std::ratio<1, 300>>(1)));
    CHECK(steady_clock::now() - begin >= 7500us + 3333us);
    CHECK(ends_after<steady_clock>(sem, steady_clock::now() + 5ms));
    CHECK(ends_after<system_clock>(sem, system_clock::now() + 5ms));
    CHECK(ends_after<program_clock>(sem, program_clock::now() + 5ms));
    CHECK(drain(sem) == 0);
}

template <class Family> void times_have_any_type()
{
    typename Family::binary sem(0);
    auto next = [](auto at) { return std::chrono::ceil<std::chrono::milliseconds>(at) + 2ms; };

    CHECK(ends_after<steady_clock>(sem, next(steady_clock::now())));
    CHECK(ends_after<system_clock>(sem, next(system_clock::now())));
    CHECK(ends_after<program_clock>(sem, next(program_clock::now())));
    CHECK(!sem.try_acquire_for(std::chrono::duration<unsigned char, std::pico>(200)));
    CHECK(!sem.try_acquire_for(std::chrono::duration<float>(0.001f)));
    CHECK(!sem.try_acquire_for(std::chrono::hours::min()));
    CHECK(!sem.try_acquire_until(
        std::chrono::time_point<system_clock, std::chrono::duration<double>>()));
}

template <class Family> void the_end_of_time_never_comes()
{
    typename Family::template counting<4> sem(0);
    std::atomic<int> taken{ 0 };
    using hours = std::chrono::hours;

    {
        trial::worker a([&] { taken += sem.try_acquire_for(hours::max()); });
        trial::worker b([&] { taken += sem.try_acquire_until(steady_clock::time_point::max()); });
        trial::worker c([&] {
            taken += sem.try_acquire_until(
                std::chrono::time_point<system_clock, hours>(hours::max()));
        });
        trial::worker d([&] {
            taken += sem.try_acquire_until(program_clock::time_point::max());
        });

        for (int i = 0; i < 1000; i++) {
            CHECK(taken == 0);
            std::this_thread::yield();
        }
        sem.release(4);
    }
    CHECK(taken == 4);
}

template <class Family> void true_comes_with_the_release()
{
    typename Family::template counting<4> sem(0);
    std::atomic<int> taken{ 0 };

    {
        trial::worker a([&] { taken += sem.try_acquire_for(1h); });
        trial::worker b([&] { taken += sem.try_acquire_until(steady_clock::now() + 1h); });
        trial::worker c([&] { taken += sem.try_acquire_until(system_clock::now() + 1h); });
        trial::worker d([&] { taken += sem.try_acquire_until(program_clock::now() + 1h); });

        for (int i = 0; i < 4; i++)
            sem.release();
    }
    CHECK(taken == 4);
    CHECK(drain(sem) == 0);
}

/* ---- All at once ---- */

template <class Family> void concurrent_calls_keep_the_count()
{
    typename Family::template counting<2> sem(2);
    std::atomic<int> inside{ 0 }, most{ 0 };
    {
        std::vector<std::unique_ptr<trial::worker>> workers;

        for (int w = 0; w < 4; w++) {
            workers.push_back(std::make_unique<trial::worker>([&, w] {
                for (int i = 0; i < 500; i++) {
                    if ((i + w) % 3 == 0)
                        sem.acquire();
                    else if ((i + w) % 3 == 1 ? !sem.try_acquire() : !sem.try_acquire_for(50us))
                        continue;
                    const int now = ++inside;
                    int before = most;
                    while (now > before && !most.compare_exchange_weak(before, now))
                        continue;
                    --inside;
                    sem.release();
                }
            }));
        }
    }
    CHECK(most >= 1 && most <= 2);
    CHECK(drain(sem) == 2);
}

/* ---- Constant initialization ---- */

/* The constructor of first_of_all runs before the dynamic initialization of the objects defined below it. */
struct early {
    early();
};
early first_of_all;
fairsem::counting_semaphore<4> initialized_by_the_compiler(3);

early::early() { initialized_by_the_compiler.release(); }

#if defined(__cpp_constinit)
constinit fairsem::semaphore constant(4);
constinit fairsem::token constant_token;
constinit fairsem::share constant_share(2);
#endif

} // namespace

TRIAL(a_static_semaphore_is_a_constant)
{
    CHECK(drain(initialized_by_the_compiler) == 4);
}

/* In the standard, more units than max() are undefined behavior, which std's own semaphores do not check. */
TRIAL(more_than_max_is_an_error_and_changes_nothing)
{
    fairsem::binary_semaphore one(1);
    fairsem::counting_semaphore<3> three(2, fairsem::attributes{});

    static_assert(fairsem::binary_semaphore::max() == 1);
    CHECK(one.capacity() == 1 && three.capacity() == 3);
    CHECK_THROWS(EOVERFLOW, one.release());
    CHECK_THROWS(EOVERFLOW, three.release(2));
    CHECK(drain(one) == 1 && drain(three) == 2);
    CHECK_THROWS(EINVAL, fairsem::counting_semaphore<3>(4));
    CHECK_THROWS(EINVAL, fairsem::counting_semaphore<3>(4, fairsem::attributes{}));
}

#define FOR(family, name) \
    TRIAL(family##_##name) { name<family>(); }
#if defined(TRIAL_STD)
#define FOR_BOTH(name) FOR(ours, name) FOR(theirs, name)
#else
#define FOR_BOTH(name) FOR(ours, name)
#endif

FOR_BOTH(the_class_is_as_declared)
FOR_BOTH(the_counter_begins_with_desired)
FOR_BOTH(release_adds_update_to_the_counter)
FOR_BOTH(release_reaches_max)
FOR_BOTH(release_unblocks_all_that_it_has_units_for)
FOR_BOTH(release_happens_before_the_acquire_that_sees_it)
FOR_BOTH(try_acquire_has_no_effect_when_it_fails)
FOR_BOTH(acquire_blocks_until_the_counter_is_positive)
FOR_BOTH(a_time_that_has_passed_is_false_and_takes_nothing)
FOR_BOTH(a_free_unit_is_taken_whatever_the_time)
FOR_BOTH(false_does_not_come_before_the_time)
FOR(ours, times_have_any_type)
FOR(ours, the_end_of_time_never_comes)
FOR_BOTH(true_comes_with_the_release)
FOR_BOTH(concurrent_calls_keep_the_count)

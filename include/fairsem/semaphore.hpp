/* SPDX-License-Identifier: MIT */
/* semaphore.hpp - the semaphore classes; included by fairsem.hpp. */
#ifndef FAIRSEM_SEMAPHORE_HPP
#define FAIRSEM_SEMAPHORE_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/deadlines.hpp>
#include <fairsem/errors.hpp>
#include <fairsem/options.hpp>
#include <fairsem/place.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <future>

#if __cplusplus >= 202002L
#include <version>
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace fairsem {

class units;
class acquisition;
class stoppable_acquisition;

namespace detail {

/* FAIRSEM_MAX_UNITS, or the largest number that the standard's interface can express. */
constexpr std::ptrdiff_t most = (std::numeric_limits<std::ptrdiff_t>::max)() < FAIRSEM_MAX_UNITS
                                    ? (std::numeric_limits<std::ptrdiff_t>::max)()
                                    : as<std::ptrdiff_t>(FAIRSEM_MAX_UNITS);

#if defined(__cpp_lib_jthread)
/* Returns an errno value.  A stop ends the wait with ETIMEDOUT. */
template <class Wait> int until_stop(const std::stop_token &stop, int priority, share *client, const Wait &wait)
{
    wait_options how = { priority, nullptr, client };
    token canceler;

    if (stop.stop_requested())
        return ETIMEDOUT;
    if (!stop.stop_possible())
        return wait(how);
    const std::stop_callback at_stop(stop, [&canceler]() noexcept {
        (void)canceler.cancel(ETIMEDOUT);
    });
    how.canceled_by = &canceler;
    return wait(how);
}
#endif

} // namespace detail

/*
 * The semaphore: fairsem_t with the interface of std::counting_semaphore.  Every function of that interface
 * has one more argument at the end, the number of units.  A semaphore cannot be copied or moved.
 *
 * The destructor calls fairsem_destroy; fairsem_init(3) says when that is allowed.  A static semaphore is
 * destroyed when main returns.  Threads that wait at that moment go on waiting, but a thread that begins to
 * use the semaphore later stops the program with a message.  If there may be such threads, do not destroy
 * the semaphore:
 *
 *     static fairsem::semaphore &slots = *new fairsem::semaphore(4);
 */
class semaphore {
public:
    /* The most units that can be free. */
    static constexpr std::int64_t (max)() noexcept { return FAIRSEM_MAX_UNITS; }

    /*
     * An unbounded semaphore with `desired` free units.  A static semaphore is initialized at compile
     * time.  Throws EINVAL if desired is not 0 .. max().
     */
    constexpr explicit semaphore(std::int64_t desired)
        : sem_ FAIRSEM_INITIALIZER(checked(desired, (max)()))
    {
    }

    /* fairsem_init.  Throws EINVAL, ENOTSUP. */
    semaphore(std::int64_t desired, const attributes &with)
    {
        const fairsem_attr_t attr = attr_of(with);

        detail::must(fairsem_init(&sem_, desired, &attr), "fairsem::semaphore");
    }

    ~semaphore() { (void)fairsem_destroy(&sem_); }

    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;

    /* ---- Release ---- */

    /* Releases the units, and grants the oldest waiters.  Throws EOVERFLOW, EINVAL. */
    void release(std::int64_t update = 1)
    {
        detail::must(fairsem_release(&sem_, update), "fairsem::semaphore::release");
    }

    /* ---- Acquire ---- */

    /*
     * Waits in the queue until n units are free, and takes them.  Throws E2BIG, ENOBUFS, EINVAL,
     * EINTR, the close reason and the token's reason.
     */
    void acquire(std::int64_t n = 1)
    {
        detail::must(fairsem_acquire(&sem_, n), "fairsem::semaphore::acquire");
    }

    /* fairsem_acquire_with. */
    void acquire(std::int64_t n, const wait_options &how)
    {
        detail::must(wait(n, how), "fairsem::semaphore::acquire");
    }

    /*
     * Returns true if the units are yours.  Never passes a waiter, and never fails spuriously.  Also
     * returns false if the semaphore is closed, or if n is more than its capacity or invalid.
     */
    [[nodiscard]] bool try_acquire(std::int64_t n = 1) noexcept
    {
        bool taken = false;

        /* If the callback of another request throws, this request has taken nothing. */
        detail::dropping([&] { taken = fairsem_tryacquire(&sem_, n) == 0; });
        return taken;
    }

    /* Takes as many units as are free, at most `most`, without waiting; returns how many. */
    [[nodiscard]] std::int64_t try_acquire_upto(std::int64_t most) noexcept
    {
        std::int64_t n = 0;

        detail::dropping([&] { n = fairsem_tryacquire_upto(&sem_, most); });
        return n;
    }

    /*
     * Returns false if rel_time has passed, by CLOCK_MONOTONIC.  If rel_time <= 0, the call does not wait,
     * but takes units that are free while nobody waits.  Throws as acquire does.
     */
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period> &rel_time,
                                       std::int64_t n = 1)
    {
        return in_time(fairsem_acquire_for(&sem_, n, detail::nanoseconds_of(rel_time)));
    }

    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period> &rel_time,
                                       std::int64_t n, const wait_options &how)
    {
        return in_time(wait_for(rel_time, n, how));
    }

    /*
     * As try_acquire_for, with a deadline on any clock.  steady_clock and system_clock are clocks of the
     * system, CLOCK_MONOTONIC and CLOCK_REALTIME.  With any other clock, the thread reads the clock, sleeps
     * for the time that is left, and reads the clock again, at least ten times a second if the clock is
     * not steady.  Meanwhile the request keeps its place in the queue.  So the call does not return false
     * before the clock has reached abs_time.  (While the request waits with such a clock, no thread passes
     * it, whatever attributes::bypass says.)
     */
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &abs_time,
                                         std::int64_t n = 1, const wait_options &how = {})
    {
        return in_time(wait_until(abs_time, n, how));
    }

#if defined(__cpp_lib_jthread)
    /*
     * These functions return false when a stop is requested.  If the stop was requested before the call,
     * they take no units, even if some are free.  The thread that requests the stop takes the waiter out of
     * the queue, and grants the next requests.  If a callback of a ticket throws in that thread, the program
     * ends.
     */
    [[nodiscard]] bool acquire(const std::stop_token &stop, std::int64_t n = 1, int priority = 0,
                               share *client = nullptr)
    {
        return until_stop(stop, n, priority, client, [&](const wait_options &how) {
            return wait(n, how);
        });
    }

    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::stop_token &stop,
                                       const std::chrono::duration<Rep, Period> &rel_time,
                                       std::int64_t n = 1, int priority = 0, share *client = nullptr)
    {
        return until_stop(stop, n, priority, client, [&](const wait_options &how) {
            return wait_for(rel_time, n, how);
        });
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::stop_token &stop,
                                         const std::chrono::time_point<Clock, Duration> &abs_time,
                                         std::int64_t n = 1, int priority = 0,
                                         share *client = nullptr)
    {
        return until_stop(stop, n, priority, client, [&](const wait_options &how) {
            return wait_until(abs_time, n, how);
        });
    }
#endif

    /* ---- Without a blocked thread: async.hpp ---- */

    [[nodiscard]] std::future<units> acquire_future(std::int64_t n = 1, int priority = 0,
                                                    share *client = nullptr);
#if defined(__cpp_lib_coroutine)
    acquisition async_acquire(std::int64_t n = 1, int priority = 0, share *client = nullptr) noexcept;
#if defined(__cpp_lib_jthread)
    stoppable_acquisition async_acquire(std::stop_token stop, std::int64_t n = 1,
                                        int priority = 0, share *client = nullptr) noexcept;
#endif
#endif

    /* ---- Capacity, debt, close ---- */

    std::int64_t capacity() const noexcept { return fairsem_capacity(&sem_); }

    /* Throws EINVAL. */
    void set_capacity(std::int64_t capacity)
    {
        detail::must(fairsem_set_capacity(&sem_, capacity), "fairsem::semaphore::set_capacity");
    }

    /* Takes n units ahead of all waiters, free or not.  Throws EOVERFLOW, EINVAL. */
    void consume(std::int64_t n)
    {
        detail::must(fairsem_consume(&sem_, n), "fairsem::semaphore::consume");
    }

    /*
     * Every waiter and every later acquire fails with `reason`; 0 stands for ESHUTDOWN.  Returns false if the
     * semaphore was closed before: the first reason stays.  Throws EINVAL if reason < 0.
     */
    bool close(int reason = 0)
    {
        return detail::must_or(EALREADY, fairsem_close(&sem_, reason),
                               "fairsem::semaphore::close");
    }

    /*
     * Closes the semaphore, and waits until n units are free.  If n is the number of all units, no unit is held
     * when drain returns.  Throws as acquire does.
     */
    void drain(std::int64_t n, const wait_options &how = {})
    {
        const fairsem_wait_t wait = detail::wait_of(how);

        detail::must(fairsem_drain(&sem_, n, &wait), "fairsem::semaphore::drain");
    }

    /* As drain, for at most rel_time.  Returns false if that time has passed. */
    template <class Rep, class Period>
    [[nodiscard]] bool drain_for(const std::chrono::duration<Rep, Period> &rel_time,
                                 std::int64_t n, const wait_options &how = {})
    {
        fairsem_wait_t wait = detail::wait_of(how);

        wait.timeout_ns = detail::timeout_of(detail::nanoseconds_of(rel_time));
        return detail::must_or(ETIMEDOUT, fairsem_drain(&sem_, n, &wait),
                               "fairsem::semaphore::drain");
    }

    /* Returns the reason of the close, or 0 if the semaphore is open. */
    int closed() const noexcept { return fairsem_closed(&sem_); }

    /* ---- Inspect ---- */

    std::int64_t available() const noexcept { return fairsem_available(&sem_); }
    std::int64_t waiters() const noexcept { return fairsem_waiters(&sem_); }
    bool would_block(std::int64_t n = 1) const noexcept { return fairsem_would_block(&sem_, n); }

    fairsem_stat_t stat() const noexcept
    {
        fairsem_stat_t result;

        (void)fairsem_stat(&sem_, &result);
        return result;
    }

    /* The longest wait and the longest queue are those since the last call of this function. */
    fairsem_stat_t stat_interval() noexcept
    {
        fairsem_stat_t result;

        (void)fairsem_stat_interval(&sem_, &result);
        return result;
    }

    /* Counts the waits that have ended, by length.  Throws EINVAL if this is not a counted_semaphore. */
    std::array<std::uint64_t, FAIRSEM_WAIT_BUCKETS> histogram() const
    {
        std::array<std::uint64_t, FAIRSEM_WAIT_BUCKETS> result;

        detail::must(fairsem_stat_histogram(&sem_, result.data()), "fairsem::semaphore::histogram");
        return result;
    }

    /* Throws ENOMEM, EIO. */
    void dump(std::FILE *file) const
    {
        detail::must(fairsem_dump(&sem_, file), "fairsem::semaphore::dump");
    }

    /* For the functions of fairsem.h. */
    fairsem_t *native_handle() noexcept { return &sem_; }

protected:
    /* A semaphore with a capacity; max() stands for no capacity.  Allowed in a constant expression. */
    constexpr semaphore(std::int64_t desired, std::int64_t capacity)
        : sem_ FAIRSEM_INITIALIZER_(checked(desired, capacity), capacity, capacity != (max)())
    {
    }

    static fairsem_attr_t attr_of(const attributes &with) noexcept
    {
        fairsem_attr_t attr = {};

        attr.name = with.name;
        attr.capacity = with.capacity;
        attr.max_waiters = with.max_waiters;
        attr.bypass_ns = with.bypass.count();
        attr.aging_ns = with.aging.count();
        attr.flags = (with.interruptible ? FAIRSEM_INTERRUPTIBLE : 0)
                     | (with.no_spin ? FAIRSEM_NO_SPIN : 0)
                     | (attr.bypass_ns != 0 ? FAIRSEM_BOUNDED_BYPASS : 0);
        return attr;
    }

private:
    static constexpr std::int64_t checked(std::int64_t desired, std::int64_t most)
    {
        if (desired < 0 || desired > most)
            detail::fail(EINVAL, "fairsem::semaphore");
        return desired;
    }

    static bool in_time(int error)
    {
        return detail::must_or(ETIMEDOUT, error, "fairsem::semaphore::acquire");
    }

    int wait(std::int64_t n, const wait_options &how)
    {
        const fairsem_wait_t wait = detail::wait_of(how);

        return fairsem_acquire_with(&sem_, n, &wait);
    }

    template <class Rep, class Period>
    int wait_for(const std::chrono::duration<Rep, Period> &rel_time, std::int64_t n,
                 const wait_options &how)
    {
        fairsem_wait_t wait = detail::wait_of(how);

        wait.timeout_ns = detail::timeout_of(detail::nanoseconds_of(rel_time));
        return fairsem_acquire_with(&sem_, n, &wait);
    }

    template <class Clock, class Duration>
    int wait_until(const std::chrono::time_point<Clock, Duration> &abs_time, std::int64_t n,
                   const wait_options &how)
    {
        if constexpr (detail::clock_of<Clock>::known) {
            const detail::deadline end = detail::deadline_on(detail::clock_of<Clock>::id,
                                                             abs_time.time_since_epoch());

            fairsem_wait_t wait = detail::wait_of(how);

            wait.clock = end.clock;
            wait.deadline = end.never ? nullptr : &end.at;
            return fairsem_acquire_with(&sem_, n, &wait);
        } else {
            return wait_by_ticket(abs_time, n, how);
        }
    }

    template <class Clock, class Duration>
    int wait_by_ticket(const std::chrono::time_point<Clock, Duration> &abs_time, std::int64_t n,
                       const wait_options &how)
    {
        detail::place here;

        if (how.canceled_by != nullptr && how.canceled_by->canceled())
            return how.canceled_by->reason();
        if (detail::time_left(abs_time) == 0)
            return wait_for(std::chrono::nanoseconds(0), n, how);
        const fairsem_request_t request = { &sem_, n, detail::handle_of(how.share) };
        const int error = fairsem_ticket_take_with(&here.ticket, &request, how.priority, nullptr,
                                                   nullptr);
        if (error != 0 && error != EINPROGRESS)
            return error;
        while (here.waits()) {
            const std::int64_t left = detail::time_left(abs_time);

            if (left == 0)
                return ETIMEDOUT;
            const int ended = here.sleep(detail::step_of<Clock>(left), how.canceled_by);
            if (ended != 0 && here.waits())
                return ended;
        }
        return here.claim();
    }

#if defined(__cpp_lib_jthread)
    template <class Wait>
    bool until_stop(const std::stop_token &stop, std::int64_t n, int priority, share *client,
                    const Wait &wait)
    {
        if (client == nullptr && !stop.stop_requested() && fairsem_tryacquire(&sem_, n) == 0)
            return true;
        return in_time(detail::until_stop(stop, priority, client, wait));
    }
#endif

    fairsem_t sem_;
};

/*
 * This class replaces std::counting_semaphore, and is a semaphore like any other.  LeastMaxValue is its
 * capacity: a release above the capacity throws EOVERFLOW, and a larger `desired` throws EINVAL.  Without
 * LeastMaxValue there is no capacity.  Do not delete an object by a pointer to the base class.
 */
template <std::ptrdiff_t LeastMaxValue = detail::most>
class counting_semaphore : public semaphore {
    static_assert(LeastMaxValue >= 0 && LeastMaxValue <= detail::most,
                  "a semaphore cannot count that far");

public:
    static constexpr std::ptrdiff_t (max)() noexcept { return LeastMaxValue; }

    constexpr explicit counting_semaphore(std::ptrdiff_t desired) : semaphore(desired, LeastMaxValue) {}

    /* A capacity in the attributes replaces LeastMaxValue. */
    counting_semaphore(std::ptrdiff_t desired, const attributes &with)
        : semaphore(desired, bounded(with))
    {
    }

private:
    static attributes bounded(attributes with)
    {
        if (with.capacity == 0 && LeastMaxValue != (semaphore::max)())
            with.capacity = LeastMaxValue;
        return with;
    }
};

using binary_semaphore = counting_semaphore<1>;

/*
 * A semaphore like any other that also counts its waits by length, for histogram(): fairsem_counted_t.  Do
 * not delete an object by a pointer to the base class.  Since 1.1.
 */
class counted_semaphore : public semaphore {
public:
    /* Throws EINVAL, ENOTSUP. */
    explicit counted_semaphore(std::int64_t desired, const attributes &with = {}) : semaphore(0), counts_()
    {
        const fairsem_attr_t attr = attr_of(with);

        static_assert(sizeof(counted_semaphore) == sizeof(fairsem_counted_t),
                      "the counters are behind the semaphore");
        detail::must(fairsem_counted_init(reinterpret_cast<fairsem_counted_t *>(this), desired, &attr),
                     "fairsem::counted_semaphore");
    }

protected:
    std::uint64_t counts_[FAIRSEM_WAIT_BUCKETS];
};

} // namespace fairsem

#endif
#endif

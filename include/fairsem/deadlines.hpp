/* SPDX-License-Identifier: MIT */
/* deadlines.hpp - private: converts times of <chrono> for fairsem.h; included by semaphore.hpp. */
#ifndef FAIRSEM_DEADLINES_HPP
#define FAIRSEM_DEADLINES_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace fairsem::detail {

/* A cast without a warning: on some systems the two types are the same, and the cast is useless. */
template <class To, class From> constexpr To as(From number)
{
    return static_cast<To>(number);
}

/*
 * Returns a duration in nanoseconds, rounded up, because a wait must not end early.  The result is at most
 * the largest number (292 years), and 0 if the duration is negative or not a number.
 */
template <class Rep, class Period>
std::int64_t nanoseconds_of(const std::chrono::duration<Rep, Period> &time)
{
    const std::chrono::duration<long double, std::nano> wide(time);

    if (!(wide.count() > 0))
        return 0;
    if (wide.count() >= 9.2e18L)
        return (std::numeric_limits<std::int64_t>::max)();
    return std::chrono::ceil<std::chrono::nanoseconds>(time).count();
}

/* A time on a clock of the system; `never` if the time is too large. */
struct deadline {
    clockid_t clock;
    bool      never;
    timespec  at;
};

inline deadline deadline_at(clockid_t clock, std::int64_t seconds, std::int64_t nanoseconds)
{
    using time = decltype(timespec::tv_sec);

    deadline result = { clock, false, { 0, 0 } };

    seconds += nanoseconds / std::nano::den;
    if (seconds >= (std::numeric_limits<time>::max)()) {
        result.never = true;
    } else {
        result.at.tv_sec = as<time>(seconds);
        result.at.tv_nsec = as<decltype(timespec::tv_nsec)>(nanoseconds % std::nano::den);
    }
    return result;
}

/* A time before the clock's epoch becomes the epoch: both times are past. */
template <class Duration>
deadline deadline_on(clockid_t clock, const Duration &since_epoch)
{
    const std::chrono::duration<long double> wide(since_epoch);

    if (!(wide.count() > 0))
        return deadline_at(clock, 0, 0);
    if (wide.count() >= 9.2e18L)
        return deadline{ clock, true, { 0, 0 } };
    const auto whole = std::chrono::floor<std::chrono::seconds>(since_epoch);
    return deadline_at(clock, whole.count(), nanoseconds_of(since_epoch - whole));
}

/* For fairsem_wait_t, where 0 means no time-out. */
inline std::int64_t timeout_of(std::int64_t nanoseconds)
{
    return nanoseconds > 0 ? nanoseconds : -1;
}

/*
 * The system's clock that Clock reads, if fairsem.h knows it.  fairsem.h knows CLOCK_REALTIME and
 * CLOCK_MONOTONIC; on macOS, std::chrono::steady_clock reads neither.
 */
template <class Clock> struct clock_of { static constexpr bool known = false; };

template <> struct clock_of<std::chrono::system_clock> {
    static constexpr bool      known = true;
    static constexpr clockid_t id = CLOCK_REALTIME;
};

#if !defined(__APPLE__)
template <> struct clock_of<std::chrono::steady_clock> {
    static constexpr bool      known = true;
    static constexpr clockid_t id = CLOCK_MONOTONIC;
};
#endif

} // namespace fairsem::detail

#endif
#endif

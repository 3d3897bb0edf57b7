/* SPDX-License-Identifier: MIT */
/* units.hpp - a guard that knows what it holds, and can be moved; included by fairsem.hpp. */
#ifndef FAIRSEM_UNITS_HPP
#define FAIRSEM_UNITS_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/semaphore.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace fairsem {

/*
 * Units of one semaphore, which belong to the owner of this object.  The destructor releases the units, so
 * the semaphore must still exist.  An object that was moved from is empty.
 */
class [[nodiscard]] units {
public:
    /* Empty. */
    units() noexcept = default;

    /* Acquires n units: waits, and throws, as semaphore::acquire. */
    explicit units(semaphore &sem, std::int64_t n = 1)
    {
        sem.acquire(n);
        units_ = { sem.native_handle(), n };
    }

    units(semaphore &sem, std::int64_t n, const wait_options &how)
    {
        sem.acquire(n, how);
        units_ = { sem.native_handle(), n };
    }

    /* Tries to acquire n units; if that is not possible now, the object is empty. */
    units(semaphore &sem, std::int64_t n, std::try_to_lock_t) noexcept
    {
        detail::dropping([&] {
            (void)fairsem_units_tryacquire(&units_, sem.native_handle(), n);
        });
    }

    /* Adopts units that the caller holds.  Throws EINVAL. */
    units(semaphore &sem, std::int64_t n, std::adopt_lock_t)
    {
        detail::must(fairsem_units_adopt(&units_, sem.native_handle(), n), "fairsem::units");
    }

    /* Adopts the units of a guard of C, for instance one that fairsem_ticket_claim has filled. */
    explicit units(const fairsem_units_t &held) noexcept : units_(held) {}

    units(units &&other) noexcept : units_(other.units_) { (void)other.forget(); }

    /* Releases the units of this object first. */
    units &operator=(units &&other) noexcept
    {
        units moved(std::move(other));

        swap(moved);
        return *this;
    }

    /* Ignores EOVERFLOW, which means that another thread has released units that it did not hold. */
    ~units()
    {
        detail::dropping([this] { (void)fairsem_units_release(&units_); });
    }

    void swap(units &other) noexcept { std::swap(units_, other.units_); }

    std::int64_t count() const noexcept { return units_.n; }
    explicit operator bool() const noexcept { return units_.n != 0; }

    /* Releases all units, or n.  Throws EOVERFLOW; EINVAL if the guard has fewer than n units. */
    void release()
    {
        detail::must(fairsem_units_release(&units_), "fairsem::units::release");
    }

    void release(std::int64_t n)
    {
        detail::must(fairsem_units_return(&units_, n), "fairsem::units::release");
    }

    /* Moves n units into a new guard.  Throws EINVAL if this guard has fewer. */
    units split(std::int64_t n)
    {
        units part;

        detail::must(fairsem_units_split(&units_, n, &part.units_), "fairsem::units::split");
        return part;
    }

    /* Moves all units of `other`, which must be of the same semaphore, into this guard.  Throws EINVAL. */
    void merge(units &&other)
    {
        detail::must(fairsem_units_merge(&units_, &other.units_), "fairsem::units::merge");
    }

    /* Empties the guard without a release.  Returns the number of units, which the caller now holds. */
    std::int64_t forget() noexcept { return fairsem_units_forget(&units_); }

private:
    fairsem_units_t units_ = {};
};

inline void swap(units &a, units &b) noexcept { a.swap(b); }

/* ---- Several semaphores at once: fairsem_acquire_all(3) ---- */

/* Units of one semaphore, and the client's share there. */
struct request {
    semaphore      &from;
    std::int64_t    n = 1;
    fairsem::share *share = nullptr;
};

namespace detail {

/* The acquire_all functions return an errno value. */

template <std::size_t N, std::size_t... Index>
int acquire_all(const request (&requests)[N], const fairsem_wait_t &how,
                std::index_sequence<Index...>)
{
    const fairsem_request_t all[] = {
        { requests[Index].from.native_handle(), requests[Index].n, handle_of(requests[Index].share) }...
    };

    return fairsem_acquire_all(all, N, &how);
}

template <std::size_t N> int acquire_all(const request (&requests)[N], const wait_options &how)
{
    return acquire_all(requests, wait_of(how), std::make_index_sequence<N>());
}

template <class Rep, class Period, std::size_t N>
int acquire_all_for(const std::chrono::duration<Rep, Period> &rel_time,
                    const request (&requests)[N], const wait_options &how)
{
    fairsem_wait_t wait = wait_of(how);

    wait.timeout_ns = timeout_of(nanoseconds_of(rel_time));
    return acquire_all(requests, wait, std::make_index_sequence<N>());
}

struct part {
    semaphore      *from;
    std::int64_t    n;
    fairsem::share *share;
};

/* Sums up the requests for each semaphore, in the order of addresses; returns the number of semaphores. */
template <std::size_t N> std::size_t in_order(const request (&requests)[N], part (&parts)[N])
{
    std::size_t count = 0;

    for (const request &one : requests) {
        std::size_t at = 0;

        while (at < count && std::less<>()(parts[at].from, &one.from))
            at++;
        if (at == count || parts[at].from != &one.from) {
            std::move_backward(parts + at, parts + count, parts + count + 1);
            parts[at] = { &one.from, 0, nullptr };
            count++;
        }
        const bool two_shares = one.share != nullptr && parts[at].share != nullptr
                                && one.share != parts[at].share;
        if (one.n < 0 || one.n > (semaphore::max)() - parts[at].n || two_shares)
            must(EINVAL, "fairsem::acquire_all");
        parts[at].n += one.n;
        if (one.share != nullptr)
            parts[at].share = one.share;
    }
    return count;
}

/*
 * As fairsem_acquire_all(), for a clock that the library does not know.  If this function returns false or
 * throws, the guards release their units, the newest guard first.
 */
template <class Clock, class Duration, std::size_t N>
bool acquire_each(const std::chrono::time_point<Clock, Duration> &abs_time,
                  const request (&requests)[N], const wait_options &how)
{
    part parts[N];
    std::array<units, N> held;
    const std::size_t count = in_order(requests, parts);
    wait_options with = how;

    if (how.share != nullptr)
        must(EINVAL, "fairsem::acquire_all");
    for (std::size_t i = 0; i < count; i++) {
        with.share = parts[i].share;
        if (!parts[i].from->try_acquire_until(abs_time, parts[i].n, with))
            return false;
        held[i] = units(fairsem_units_t{ parts[i].from->native_handle(), parts[i].n });
    }
    for (units &one : held)
        (void)one.forget();
    return true;
}

template <class Clock, class Duration, std::size_t N>
int acquire_all_until(const std::chrono::time_point<Clock, Duration> &abs_time,
                      const request (&requests)[N], const wait_options &how)
{
    if constexpr (clock_of<Clock>::known) {
        const deadline end = deadline_on(clock_of<Clock>::id, abs_time.time_since_epoch());
        fairsem_wait_t wait = wait_of(how);

        wait.clock = end.clock;
        wait.deadline = end.never ? nullptr : &end.at;
        return acquire_all(requests, wait, std::make_index_sequence<N>());
    } else {
        return acquire_each(abs_time, requests, how) ? 0 : ETIMEDOUT;
    }
}

template <std::size_t N, std::size_t... Index>
std::array<units, N> guards_of(const request (&requests)[N], std::index_sequence<Index...>) noexcept
{
    return { { units(fairsem_units_t{ requests[Index].from.native_handle(), requests[Index].n })... } };
}

template <std::size_t N>
std::optional<std::array<units, N>> guards_in_time(int error, const request (&requests)[N])
{
    if (!must_or(ETIMEDOUT, error, "fairsem::acquire_all"))
        return std::nullopt;
    return guards_of(requests, std::make_index_sequence<N>());
}

} // namespace detail

/*
 * Acquires the units of all requests or none, the units of each request into a guard of their own:
 *
 *     auto [file, memory] = fairsem::acquire_all({ { files, 1 }, { bytes, size } });
 *
 * Such calls never deadlock with each other, whatever the order of the list.  Throws as
 * semaphore::acquire does, and EINVAL if the units of one semaphore add up to more than
 * semaphore::max(), if two requests for one semaphore have different shares, or if `how` has a share.
 */
template <std::size_t N>
[[nodiscard]] std::array<units, N> acquire_all(const request (&requests)[N],
                                               const wait_options &how = {})
{
    detail::must(detail::acquire_all(requests, how), "fairsem::acquire_all");
    return detail::guards_of(requests, std::make_index_sequence<N>());
}

/* As acquire_all, for at most rel_time in all.  The result is empty if that time has passed. */
template <class Rep, class Period, std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
try_acquire_all_for(const std::chrono::duration<Rep, Period> &rel_time,
                    const request (&requests)[N], const wait_options &how = {})
{
    return detail::guards_in_time(detail::acquire_all_for(rel_time, requests, how), requests);
}

/* As acquire_all, with a deadline on any clock, as for semaphore::try_acquire_until. */
template <class Clock, class Duration, std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
try_acquire_all_until(const std::chrono::time_point<Clock, Duration> &abs_time,
                      const request (&requests)[N], const wait_options &how = {})
{
    return detail::guards_in_time(detail::acquire_all_until(abs_time, requests, how), requests);
}

#if defined(__cpp_lib_jthread)
/* If a stop is requested, these functions return an empty result, where semaphore::acquire returns false. */
template <std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
acquire_all(const std::stop_token &stop, const request (&requests)[N], int priority = 0)
{
    const auto wait = [&](const wait_options &how) {
        return detail::acquire_all(requests, how);
    };

    return detail::guards_in_time(detail::until_stop(stop, priority, nullptr, wait), requests);
}

template <class Rep, class Period, std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
try_acquire_all_for(const std::stop_token &stop,
                    const std::chrono::duration<Rep, Period> &rel_time,
                    const request (&requests)[N], int priority = 0)
{
    const auto wait = [&](const wait_options &how) {
        return detail::acquire_all_for(rel_time, requests, how);
    };

    return detail::guards_in_time(detail::until_stop(stop, priority, nullptr, wait), requests);
}

template <class Clock, class Duration, std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
try_acquire_all_until(const std::stop_token &stop,
                      const std::chrono::time_point<Clock, Duration> &abs_time,
                      const request (&requests)[N], int priority = 0)
{
    const auto wait = [&](const wait_options &how) {
        return detail::acquire_all_until(abs_time, requests, how);
    };

    return detail::guards_in_time(detail::until_stop(stop, priority, nullptr, wait), requests);
}
#endif

} // namespace fairsem

#endif
#endif

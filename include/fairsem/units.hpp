/* SPDX-License-Identifier: MIT */
/* units.hpp - a guard that knows what it holds, and can be moved; included by fairsem.hpp. */
#ifndef FAIRSEM_UNITS_HPP
#define FAIRSEM_UNITS_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/semaphore.hpp>

#include <array>
#include <mutex>
#include <optional>
#include <utility>

namespace fairsem {

/*
 * Units of one semaphore, which belong to the owner of this object.  It releases them when it ends,
 * and the semaphore must still exist then.  One that was moved from is empty.
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

    /* Tries: if they cannot be taken now, the object is empty. */
    units(semaphore &sem, std::int64_t n, std::try_to_lock_t) noexcept
    {
        (void)fairsem_units_tryacquire(&units_, sem.native_handle(), n);
    }

    /* Takes over units that the caller holds.  Throws EINVAL. */
    units(semaphore &sem, std::int64_t n, std::adopt_lock_t)
    {
        detail::must(fairsem_units_adopt(&units_, sem.native_handle(), n), "fairsem::units");
    }

    /* Takes over a guard of C, or what fairsem_ticket_claim has filled. */
    explicit units(const fairsem_units_t &held) noexcept : units_(held) {}

    units(units &&other) noexcept : units_(other.units_) { (void)other.forget(); }

    /* Releases what it has held. */
    units &operator=(units &&other) noexcept
    {
        units moved(std::move(other));

        swap(moved);
        return *this;
    }

    /* Ignores EOVERFLOW: another thread has released units that it did not hold. */
    ~units() { (void)fairsem_units_release(&units_); }

    void swap(units &other) noexcept { std::swap(units_, other.units_); }

    std::int64_t count() const noexcept { return units_.n; }
    explicit operator bool() const noexcept { return units_.n != 0; }

    /* All of them, or n.  Throws EOVERFLOW; EINVAL if n is more than it holds. */
    void release()
    {
        detail::must(fairsem_units_release(&units_), "fairsem::units::release");
    }

    void release(std::int64_t n)
    {
        detail::must(fairsem_units_return(&units_, n), "fairsem::units::release");
    }

    /* Moves n of them into a guard of their own.  Throws EINVAL if that is more than it holds. */
    units split(std::int64_t n)
    {
        units part;

        detail::must(fairsem_units_split(&units_, n, &part.units_), "fairsem::units::split");
        return part;
    }

    /* Moves all of `other`, of the same semaphore, into this one.  Throws EINVAL. */
    void merge(units &&other)
    {
        detail::must(fairsem_units_merge(&units_, &other.units_), "fairsem::units::merge");
    }

    /* Empties the guard without a release.  The units, as many as it returns, are the caller's. */
    std::int64_t forget() noexcept { return fairsem_units_forget(&units_); }

private:
    fairsem_units_t units_ = {};
};

inline void swap(units &a, units &b) noexcept { a.swap(b); }

/* ---- Several semaphores at once: fairsem_acquire_all(3) ---- */

/* What is wanted of one semaphore. */
struct request {
    semaphore   &from;
    std::int64_t n = 1;
};

namespace detail {

template <std::size_t N, std::size_t... I>
int acquire_all(const request (&requests)[N], const fairsem_wait_t &how,
                std::index_sequence<I...>)
{
    const fairsem_request_t all[] = { { requests[I].from.native_handle(), requests[I].n }... };

    return fairsem_acquire_all(all, N, &how);
}

template <std::size_t N, std::size_t... I>
std::array<units, N> guards_of(const request (&requests)[N], std::index_sequence<I...>) noexcept
{
    return { { units(fairsem_units_t{ requests[I].from.native_handle(), requests[I].n })... } };
}

} // namespace detail

/*
 * Acquires all of them or none, each into a guard of its own:
 *
 *     auto [file, memory] = fairsem::acquire_all({ { files, 1 }, { bytes, size } });
 *
 * Calls of it never deadlock each other, whatever they list first.  Throws what semaphore::acquire
 * throws, and EINVAL if the units asked of one semaphore add up to more than semaphore::max().
 */
template <std::size_t N>
[[nodiscard]] std::array<units, N> acquire_all(const request (&requests)[N],
                                               const wait_options &how = {})
{
    const auto each = std::make_index_sequence<N>();

    detail::must(detail::acquire_all(requests, detail::wait_of(how), each),
                 "fairsem::acquire_all");
    return detail::guards_of(requests, each);
}

/* The same for at most rel_time in all.  Empty: that has passed. */
template <class Rep, class Period, std::size_t N>
[[nodiscard]] std::optional<std::array<units, N>>
try_acquire_all_for(const std::chrono::duration<Rep, Period> &rel_time,
                    const request (&requests)[N], const wait_options &how = {})
{
    const auto each = std::make_index_sequence<N>();
    fairsem_wait_t wait = detail::wait_of(how);

    wait.timeout_ns = detail::timeout_of(detail::nanoseconds_of(rel_time));
    if (!detail::must_or(ETIMEDOUT, detail::acquire_all(requests, wait, each),
                         "fairsem::acquire_all"))
        return std::nullopt;
    return detail::guards_of(requests, each);
}

} // namespace fairsem

#endif
#endif

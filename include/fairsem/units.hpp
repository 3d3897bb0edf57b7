/* SPDX-License-Identifier: MIT */
/* units.hpp - a guard that knows what it holds, and can be moved; included by fairsem.hpp. */
#ifndef FAIRSEM_UNITS_HPP
#define FAIRSEM_UNITS_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/semaphore.hpp>

#include <mutex>
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

} // namespace fairsem

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* coroutine.hpp - units for a coroutine of C++20; included by async.hpp. */
#ifndef FAIRSEM_COROUTINE_HPP
#define FAIRSEM_COROUTINE_HPP

#include <fairsem/units.hpp>

#if !defined(FAIRSEM_CXX17_)
#elif !defined(__cpp_lib_coroutine)
#error "fairsem/coroutine.hpp needs C++20 and its coroutines"
#else

#include <atomic>
#include <coroutine>
#include <optional>

/*
 * Not inlined: once the ticket is in the queue, another thread may run the coroutine to its end, and free its
 * frame.  Some compilers would keep variables of an inlined await_suspend in that frame.
 */
#if defined(__GNUC__)
#define FAIRSEM_NOT_INLINED_ __attribute__((__noinline__))
#else
#define FAIRSEM_NOT_INLINED_
#endif

namespace fairsem {

/*
 * The result of semaphore::async_acquire, to be awaited once, in the same expression:
 *
 *     fairsem::units held = co_await slots.async_acquire(2);
 *
 * The coroutine goes on at once if the units are free and nobody waits.  Otherwise the thread whose
 * release grants the units resumes the coroutine, inside the release but with no lock held.  The thread
 * resumes several coroutines one after the other, in the order of their grants, and never one inside the
 * other.  co_await throws what acquire throws.
 *
 * A waiting coroutine may be destroyed: its request leaves the queue.  Make sure that no thread resumes it at
 * the same time.
 *
 * A future or a coroutine is a ticket with a callback.  While a semaphore has such requests, no signal
 * handler may inspect the semaphore: fairsem_init(3), FAIRSEM_INTERRUPTIBLE.
 */
class [[nodiscard]] acquisition {
public:
    acquisition(semaphore &sem, std::int64_t n, int priority, share *client = nullptr) noexcept
        : sem_(sem), n_(n), priority_(priority), share_(client)
    {
    }

    ~acquisition()
    {
        if (waits_)
            detail::dropping([this] { (void)fairsem_ticket_return(&ticket_); });
    }

    acquisition(const acquisition &) = delete;
    acquisition &operator=(const acquisition &) = delete;

    /* If units are free and nobody waits, no ticket is needed, except to let the library check a share. */
    bool await_ready() noexcept
    {
        taken_ = share_ == nullptr && sem_.try_acquire(n_);
        return taken_;
    }

    FAIRSEM_NOT_INLINED_ bool await_suspend(std::coroutine_handle<> coroutine)
    {
        coroutine_ = coroutine;
        waits_ = true;
        detail::take take{ &ticket_, { sem_.native_handle(), n_, detail::handle_of(share_) }, priority_,
                           granted, this };
        const int error = take.result();

        if (error == EINPROGRESS)
            return true;            /* this object may be gone already */
        error_ = error;
        return false;
    }

    units await_resume()
    {
        fairsem_units_t claimed = {};

        if (taken_)
            return units(fairsem_units_t{ sem_.native_handle(), n_ });
        waits_ = false;
        if (error_ == 0)
            error_ = fairsem_ticket_claim(&ticket_, &claimed);
        detail::must(error_, "fairsem::semaphore::async_acquire");
        return units(claimed);
    }

private:
    static void granted(fairsem_ticket_t *, void *self)
    {
        static_cast<acquisition *>(self)->coroutine_.resume();
    }

    semaphore              &sem_;
    std::int64_t            n_;
    int                     priority_;
    share                  *share_;
    int                     error_ = 0;
    bool                    taken_ = false;
    bool                    waits_ = false;
    std::coroutine_handle<> coroutine_;
    fairsem_ticket_t        ticket_ = {};
};

inline acquisition semaphore::async_acquire(std::int64_t n, int priority, share *client) noexcept
{
    return acquisition(*this, n, priority, client);
}

#if defined(__cpp_lib_jthread)
/*
 * As acquisition, until a stop is requested.  The thread that requests the stop then resumes the coroutine,
 * and co_await throws ECANCELED.  When the coroutine leaves the queue, coroutines behind it may be granted
 * their units and run.  If such a coroutine throws, the program ends.
 */
class [[nodiscard]] stoppable_acquisition {
public:
    stoppable_acquisition(semaphore &sem, std::stop_token stop, std::int64_t n,
                          int priority, share *client = nullptr) noexcept
        : sem_(sem), stop_(std::move(stop)), n_(n), priority_(priority), share_(client)
    {
    }

    ~stoppable_acquisition()
    {
        on_stop_.reset();
        if (gone_ != nullptr)
            *gone_ = true;
        if (waits_)
            detail::dropping([this] { (void)fairsem_ticket_return(&ticket_); });
    }

    stoppable_acquisition(const stoppable_acquisition &) = delete;
    stoppable_acquisition &operator=(const stoppable_acquisition &) = delete;

    /* If units are free and nobody waits, no ticket is needed, except to let the library check a share. */
    bool await_ready() noexcept
    {
        taken_ = share_ == nullptr && !stop_.stop_requested() && sem_.try_acquire(n_);
        return taken_;
    }

    /* The coroutine goes on after two events: the end of its wait, and the end of this function. */
    FAIRSEM_NOT_INLINED_ bool await_suspend(std::coroutine_handle<> coroutine)
    {
        if (stop_.stop_requested()) {
            error_ = ECANCELED;
            return false;
        }
        coroutine_ = coroutine;
        waits_ = true;
        detail::take take{ &ticket_, { sem_.native_handle(), n_, detail::handle_of(share_) }, priority_,
                           granted, this };
        const int error = take.result();

        if (error != EINPROGRESS) {
            error_ = error;
            return false;
        }
        on_stop_.emplace(stop_, stopped{ this });
        return !was_last() || !may_go_on();
    }

    units await_resume()
    {
        fairsem_units_t claimed = {};

        if (taken_)
            return units(fairsem_units_t{ sem_.native_handle(), n_ });
        on_stop_.reset();
        waits_ = false;
        if (error_ == 0)
            error_ = fairsem_ticket_claim(&ticket_, &claimed);
        detail::must(error_, "fairsem::semaphore::async_acquire");
        return units(claimed);
    }

private:
    struct stopped {
        stoppable_acquisition *self;

        void operator()() const noexcept { self->stop(); }
    };

    bool ends_wait() noexcept { return !over_.exchange(true, std::memory_order_acq_rel); }
    bool was_last() noexcept { return undone_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

    void resume_if_last()
    {
        if (was_last() && may_go_on())
            coroutine_.resume();
    }

    /*
     * Called after both events of await_suspend().  After a stop, this function takes the ticket out of the
     * queue.  That may grant another coroutine its units, and resume it; the resumed coroutine may destroy this
     * object.  Returns false if this object no longer exists.
     */
    bool may_go_on() noexcept
    {
        bool gone = false;

        if (!stopped_)
            return true;
        gone_ = &gone;
        (void)fairsem_ticket_return(&ticket_);
        if (gone)
            return false;
        gone_ = nullptr;
        return true;
    }

    static void granted(fairsem_ticket_t *, void *arg)
    {
        stoppable_acquisition *self = static_cast<stoppable_acquisition *>(arg);

        if (self->ends_wait())
            self->resume_if_last();
    }

    void stop()
    {
        if (!ends_wait())
            return;
        error_ = ECANCELED;
        stopped_ = true;
        resume_if_last();
    }

    semaphore              &sem_;
    std::stop_token         stop_;
    std::int64_t            n_;
    int                     priority_;
    share                  *share_;
    int                     error_ = 0;
    bool                    taken_ = false;
    bool                    waits_ = false;
    bool                    stopped_ = false;
    bool                   *gone_ = nullptr;    /* set to true by the destructor */
    std::atomic<bool>       over_{ false };
    std::atomic<int>        undone_{ 2 };
    std::coroutine_handle<> coroutine_;
    fairsem_ticket_t        ticket_ = {};
    std::optional<std::stop_callback<stopped>> on_stop_;
};

inline stoppable_acquisition semaphore::async_acquire(std::stop_token stop, std::int64_t n,
                                                      int priority, share *client) noexcept
{
    return stoppable_acquisition(*this, std::move(stop), n, priority, client);
}
#endif

} // namespace fairsem

#endif
#endif

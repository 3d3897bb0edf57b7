/* SPDX-License-Identifier: MIT */
/* place.hpp - private: a place in the queue that a thread keeps over several sleeps; included by
 * semaphore.hpp. */
#ifndef FAIRSEM_PLACE_HPP
#define FAIRSEM_PLACE_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/deadlines.hpp>
#include <fairsem/options.hpp>

#include <algorithm>

namespace fairsem::detail {

/*
 * Returns the nanoseconds until `at`, rounded up, or 0 if that time has passed.  The exact difference is not
 * computed for times more than 30 years apart: it may not fit in their type.
 */
template <class Clock, class Duration>
std::int64_t time_left(const std::chrono::time_point<Clock, Duration> &at)
{
    using wide = std::chrono::duration<long double>;
    constexpr wide years(1e9L);
    const auto now = Clock::now();
    const wide left = wide(at.time_since_epoch()) - wide(now.time_since_epoch());

    if (left > years)
        return (std::numeric_limits<std::int64_t>::max)();
    return left > -years ? nanoseconds_of(at - now) : 0;
}

/* Returns how long to sleep before reading the clock again.  A clock that is not steady may jump. */
template <class Clock> std::int64_t step_of(std::int64_t left)
{
    constexpr std::int64_t tenth = 100000000;

    return Clock::is_steady ? left : (std::min)(left, tenth);
}

struct place {
    fairsem_ticket_t ticket = {};

    place() = default;
    ~place()
    {
        dropping([this] { (void)fairsem_ticket_return(&ticket); });
    }
    place(const place &) = delete;
    place &operator=(const place &) = delete;

    bool waits() const noexcept { return fairsem_ticket_state(&ticket) == FAIRSEM_TICKET_WAITING; }

    /* Returns why the sleep ended: 0 (granted, or the time has passed), the token's reason, or EINTR. */
    int sleep(std::int64_t timeout_ns, token *canceled_by)
    {
        fairsem_wait_t wait = {};
        int error;

        wait.timeout_ns = timeout_of(timeout_ns);
        wait.token = canceled_by != nullptr ? canceled_by->native_handle() : nullptr;
        error = fairsem_ticket_wait(&ticket, &wait);
        if (canceled_by != nullptr && canceled_by->canceled())
            return canceled_by->reason();
        return error == ETIMEDOUT ? 0 : error;
    }

    int claim()
    {
        fairsem_units_t units = {};

        return fairsem_ticket_claim(&ticket, &units);
    }
};

/*
 * fairsem_ticket_take_with, whose result is not lost if the callback of another request throws.
 *
 * The take runs inside a callback, of a ticket `first` that is granted for this purpose.  So the library runs
 * all other callbacks after this callback has stored the result and has returned.  Once the request is in the
 * queue, this code accesses neither the request's ticket nor `arg`, which may have been freed.
 */
struct take {
    fairsem_ticket_t  *ticket;
    fairsem_request_t  request;
    int                priority;
    fairsem_notify_fn *notify;
    void              *arg;
    bool               done = false;
    int                error = 0;

    void make()
    {
        done = true;
        error = fairsem_ticket_take_with(ticket, &request, priority, notify, arg);
    }

    static void called(fairsem_ticket_t *, void *self) { static_cast<take *>(self)->make(); }

    int result() noexcept
    {
#if defined(__cpp_exceptions)
        fairsem_t inner FAIRSEM_INITIALIZER(0);
        fairsem_ticket_t first = {};

        dropping([&] {
            if (fairsem_ticket_take(&first, &inner, 1, 0, called, this) == EINPROGRESS)
                (void)fairsem_release(&inner, 1);
        });
        (void)fairsem_ticket_return(&first);
        (void)fairsem_destroy(&inner);
#endif
        if (!done)          /* the caller is in a callback: all other callbacks run later */
            make();
        return error;
    }
};

} // namespace fairsem::detail

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* async.hpp - units for a std::future, or for a coroutine. */
#ifndef FAIRSEM_ASYNC_HPP
#define FAIRSEM_ASYNC_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/units.hpp>

#include <future>
#include <memory>

#if defined(__cpp_lib_coroutine)
#include <fairsem/coroutine.hpp>
#endif

namespace fairsem {

namespace detail {

/* The ticket of a future.  The queue owns it until its callback runs. */
struct promised_units {
    fairsem_ticket_t    ticket = {};
    std::promise<units> promise;

    void fulfill(int error)
    {
        fairsem_units_t claimed = {};

        if (error == 0)
            error = fairsem_ticket_claim(&ticket, &claimed);
        if (error == 0)
            promise.set_value(units(claimed));
        else
            promise.set_exception(
                std::make_exception_ptr(error_of(error, "fairsem::semaphore::acquire_future")));
    }

    static void granted(fairsem_ticket_t *, void *arg)
    {
        std::unique_ptr<promised_units>(static_cast<promised_units *>(arg))->fulfill(0);
    }
};

} // namespace detail

/*
 * Returns a future that gets the units when they are granted, or any error as an exception.  The thread
 * whose release grants the units fulfills the future.  If the future is thrown away, the request keeps its
 * place, and its units are released when they are granted; the semaphore must exist until that moment.  A
 * future is a ticket with a callback: see coroutine.hpp.
 *
 * Throws std::bad_alloc.
 */
inline std::future<units> semaphore::acquire_future(std::int64_t n, int priority, share *client)
{
    auto request = std::make_unique<detail::promised_units>();
    std::future<units> future = request->promise.get_future();

    if (client == nullptr && try_acquire(n)) {
        request->promise.set_value(units(fairsem_units_t{ &sem_, n }));
        return future;
    }
    detail::take take{ &request->ticket, { &sem_, n, detail::handle_of(client) }, priority,
                       detail::promised_units::granted, request.get() };
    const int error = take.result();

    if (error == EINPROGRESS)
        (void)request.release();    /* the object may be gone already */
    else
        request->fulfill(error);
    return future;
}

} // namespace fairsem

#endif
#endif

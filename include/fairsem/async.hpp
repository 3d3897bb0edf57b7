/* SPDX-License-Identifier: MIT */
/* async.hpp - units that come later: to a std::future, or to a coroutine. */
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

/* A ticket on its way to a future.  It belongs to the queue until its callback comes. */
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
 * A future that gets the units when they are granted; or the error, whatever it is, as an
 * exception.  The thread whose release grants them fulfills it.  The request keeps its place if
 * the future is thrown away; its units are released again when they come.  The semaphore must
 * exist until then.  It is a callback: see coroutine.hpp.
 *
 * Throws std::bad_alloc.
 */
inline std::future<units> semaphore::acquire_future(std::int64_t n, int priority)
{
    auto request = std::make_unique<detail::promised_units>();
    std::future<units> future = request->promise.get_future();

    if (try_acquire(n)) {
        request->promise.set_value(units(fairsem_units_t{ &sem_, n }));
        return future;
    }
    detail::take take{ &request->ticket, &sem_, n, priority, detail::promised_units::granted,
                       request.get() };
    const int error = take.result();

    if (error == EINPROGRESS)
        (void)request.release();    /* it may be gone already */
    else
        request->fulfill(error);
    return future;
}

} // namespace fairsem

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* errors.hpp - errors as std::error_code; included by fairsem.hpp. */
#ifndef FAIRSEM_ERRORS_HPP
#define FAIRSEM_ERRORS_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace fairsem {

/*
 * The errors by name, to compare with:
 *
 *     catch (const std::system_error &e) {
 *         if (e.code() == fairsem::errc::closed) ...
 *
 * fairsem.h lists the conditions of each error.  A close or a token may also have a reason of its own, any
 * number > 0; e.code().value() is that reason.
 */
enum class errc {
    would_wait = EAGAIN,            /* the request would have to wait */
    too_large = E2BIG,              /* more units than the capacity */
    canceled = ECANCELED,           /* by the wait's token, or its std::stop_token */
    interrupted = EINTR,            /* by a signal handler; attributes::interruptible */
    invalid = EINVAL,               /* a number of units, a clock or an attribute */
    queue_full = ENOBUFS,           /* attributes::max_waiters */
    not_supported = ENOTSUP,        /* attributes::interruptible, outside Linux */
    over_released = EOVERFLOW,      /* too many free units, or too large a debt */
    closed = ESHUTDOWN,
    timed_out = ETIMEDOUT
};

class FAIRSEM_API error_category final : public std::error_category {
public:
    const char *name() const noexcept override { return "fairsem"; }

    /* As fairsem_strerror(), or as strerror(3) for numbers that fairsem_strerror() does not know. */
    std::string message(int error) const override
    {
        const char *here = fairsem_strerror(error);

        /* A number that fairsem_strerror() does not know is the user's reason of a close or a cancel. */
        if (std::strcmp(here, fairsem_strerror(-1)) == 0)
            return std::generic_category().message(error);
        return here;
    }

    /* Makes code() == std::errc::operation_canceled true, too. */
    std::error_condition default_error_condition(int error) const noexcept override
    {
        return std::error_condition(error, std::generic_category());
    }
};

/* The category of all errors of this library: name() is "fairsem". */
FAIRSEM_API inline const std::error_category &category() noexcept
{
    static const error_category instance;

    return instance;
}

inline std::error_code make_error_code(errc error) noexcept
{
    return std::error_code(static_cast<int>(error), category());
}

namespace detail {

inline std::system_error error_of(int error, const char *what)
{
    return std::system_error(error, category(), what);
}

[[noreturn]] inline void fail(int error, const char *what)
{
#if defined(__cpp_exceptions)
    throw error_of(error, what);
#else
    std::fprintf(stderr, "%s: %s\n", what, category().message(error).c_str());
    std::abort();
#endif
}

inline void must(int error, const char *what)
{
    if (error != 0)
        fail(error, what);
}

/* Calls a function, and drops exceptions of other requests' callbacks: "Callbacks" in fairsem.hpp. */
template <class Call> void dropping(const Call &call) noexcept
{
#if defined(__cpp_exceptions)
    try {
        call();
    } catch (...) {
    }
#else
    call();
#endif
}

/* Returns true for 0, and false for the expected error; throws any other error. */
inline bool must_or(int expected, int error, const char *what)
{
    if (error == expected)
        return false;
    must(error, what);
    return true;
}

} // namespace detail
} // namespace fairsem

template <> struct std::is_error_code_enum<fairsem::errc> : std::true_type {};

#endif
#endif

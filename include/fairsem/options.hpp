/* SPDX-License-Identifier: MIT */
/* options.hpp - the attributes of a semaphore, the options of a wait, a token, a share. */
#ifndef FAIRSEM_OPTIONS_HPP
#define FAIRSEM_OPTIONS_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/errors.hpp>

#include <chrono>
#include <cstdint>

namespace fairsem {

/* fairsem_attr_t.  With C++20:  fairsem::semaphore slots(4, { .name = "slots" }); */
struct attributes {
    const char  *name = nullptr;    /* for debugging; the caller keeps the string alive */
    std::int64_t capacity = 0;      /* the most units that can be free, or 0 for unbounded */
    std::int64_t max_waiters = 0;   /* or 0 for no limit */
    bool         interruptible = false;     /* with futures or coroutines, see fairsem_init(3) */
    bool         no_spin = false;
    std::chrono::nanoseconds bypass{ 0 };   /* > 0: FAIRSEM_BOUNDED_BYPASS */
    /* If > 0, a request that has waited this long precedes better priorities.  A future or a coroutine has no
     * waiting thread, so its request gains this precedence only in the next call on the semaphore. */
    std::chrono::nanoseconds aging{ 0 };
};

/* fairsem_token_t: cancels any number of waits, on any semaphores. */
class token {
public:
    constexpr token() noexcept : token_ FAIRSEM_TOKEN_INITIALIZER {}

    /* Every wait that uses the token must have returned, or have been canceled by the token. */
    ~token() { (void)fairsem_token_destroy(&token_); }

    token(const token &) = delete;
    token &operator=(const token &) = delete;

    /*
     * Ends the waits with `reason`; 0 stands for ECANCELED.  Returns false if the token was canceled
     * before: the first reason stays.  Throws EINVAL if reason < 0.
     */
    bool cancel(int reason = 0)
    {
        return detail::must_or(EALREADY, fairsem_token_cancel(&token_, reason),
                               "fairsem::token::cancel");
    }

    int  reason() const noexcept { return fairsem_token_reason(&token_); }
    bool canceled() const noexcept { return reason() != 0; }

    fairsem_token_t *native_handle() noexcept { return &token_; }

private:
    fairsem_token_t token_;
};

/*
 * fairsem_share_t: a client of a semaphore, of one semaphore at a time.  Units go round between the clients
 * whose requests wait, in proportion to their weights: fairsem_share_init(3).
 */
class share {
public:
    /* Throws EINVAL if weight is not 1 .. FAIRSEM_MAX_WEIGHT. */
    constexpr explicit share(std::uint32_t weight = 1) : share_ FAIRSEM_SHARE_INITIALIZER(checked(weight)) {}

    /* No request with this share may be in a queue. */
    ~share() { (void)fairsem_share_destroy(&share_); }

    share(const share &) = delete;
    share &operator=(const share &) = delete;

    /* Counts n units more, or fewer if n < 0, in the next grant.  Throws EINVAL. */
    void charge(std::int64_t n)
    {
        detail::must(fairsem_share_charge(&share_, n), "fairsem::share::charge");
    }

    fairsem_share_t *native_handle() noexcept { return &share_; }

private:
    static constexpr std::uint16_t checked(std::uint32_t weight)
    {
        if (weight == 0 || weight > FAIRSEM_MAX_WEIGHT)
            detail::fail(EINVAL, "fairsem::share");
        return static_cast<std::uint16_t>(weight);
    }

    fairsem_share_t share_;
};

/* How to wait.  With C++20:  slots.acquire(1, { .priority = -1 }); */
struct wait_options {
    int    priority = 0;            /* any int; lower numbers are granted first */
    token *canceled_by = nullptr;   /* the wait throws this token's reason */
    fairsem::share *share = nullptr;        /* the client's */
};

namespace detail {

inline fairsem_share_t *handle_of(share *client) noexcept
{
    return client != nullptr ? client->native_handle() : nullptr;
}

inline fairsem_wait_t wait_of(const wait_options &how) noexcept
{
    fairsem_wait_t wait = {};

    wait.priority = how.priority;
    wait.token = how.canceled_by != nullptr ? how.canceled_by->native_handle() : nullptr;
    wait.share = handle_of(how.share);
    return wait;
}

} // namespace detail

} // namespace fairsem

#endif
#endif

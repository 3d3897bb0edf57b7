/* SPDX-License-Identifier: MIT */
/* trial.hpp - a minimal test library for C++: a list of trials, checks, and helpers. */
#ifndef TRIAL_HPP
#define TRIAL_HPP

#include <fairsem.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

/*
 *     TRIAL(an_empty_semaphore_has_no_unit)
 *     {
 *         fairsem::semaphore sem(0);
 *
 *         CHECK(!sem.try_acquire());
 *     }
 *
 * Only the thread that runs the trial uses CHECK: the workers record what they see.
 */
#define TRIAL(name)                                                 \
    static void name();                                             \
    static const bool name##_is_listed = trial::add(#name, name);   \
    static void name()

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition))                                           \
            trial::failed(__FILE__, __LINE__, #condition);          \
    } while (0)

/* Check that the statement throws this error, in fairsem's category. */
#define CHECK_THROWS(expected, ...)                                 \
    do {                                                            \
        int thrown_ = 0;                                            \
        try {                                                       \
            __VA_ARGS__;                                            \
        } catch (const std::system_error &e_) {                     \
            CHECK(e_.code().category() == fairsem::category());     \
            thrown_ = e_.code().value();                            \
        }                                                           \
        CHECK(thrown_ == (expected));                               \
    } while (0)

namespace trial {

bool add(const char *name, void (*run)());

[[noreturn]] inline void failed(const char *file, int line, const char *what)
{
    std::fprintf(stderr, "FAILED: %s:%d: %s\n", file, line, what);
    std::_Exit(1);
}

inline void await_waiters(const fairsem::semaphore &sem, std::int64_t n)
{
    while (sem.waiters() != n)
        std::this_thread::yield();
}

/* A thread that is joined when it goes out of scope. */
class worker {
public:
    template <class Run> explicit worker(Run run) : thread_(run) {}
    ~worker() { join(); }
    worker(const worker &) = delete;
    worker &operator=(const worker &) = delete;

    void join()
    {
        if (thread_.joinable())
            thread_.join();
    }

    std::thread::native_handle_type native_handle() { return thread_.native_handle(); }

private:
    std::thread thread_;
};

} // namespace trial

#endif

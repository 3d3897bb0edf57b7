/* SPDX-License-Identifier: MIT */
/*
 * park_futex.c - parking on a futex, for Linux (futex(2)).
 *
 * The word is on the stack of the waiter's thread, and may no longer exist when fs_unpark_word() is called.
 * A futex wake at an address where no thread sleeps does nothing, even if the address is no longer mapped.
 * If another thread sleeps at that address by then, it gets a spurious wake-up, which every user of futexes
 * expects.
 *
 * A signal handler can end a sleep on a futex, but not on a condition variable.  If the handler was installed
 * without SA_RESTART, the sleep ends with EINTR; with SA_RESTART the kernel puts the thread back to sleep.
 * (A sleep with a deadline ends in both cases, as for sem_t.)
 */
#define _GNU_SOURCE
#include "system/parking.h"

#if FS_HAS_FUTEX

#include "system/futex.h"
#include "tools/annotate.h"
#include "tools/compiler.h"

#include <errno.h>
#include <pthread.h>

/* From <linux/futex.h>: see futex.h. */
#define WAIT_BITSET_PRIVATE (9 | 128)
#define WAKE_PRIVATE        (1 | 128)
#define ON_CLOCK_REALTIME   256
#define ANY_BIT             0xffffffffu

/*
 * ---- Faked clocks ----
 *
 * A tool such as libfaketime replaces functions of the C library, such as clock_gettime(), but a futex call
 * still sleeps by the kernel's clock.  So if the caller's clock differs from the kernel's, the thread sleeps
 * for the time that is left on the faked clock.  The faked clock may run faster, or be set, so the sleep is
 * short, and the caller reads the clock again.
 */
#define FAKED_SLEEP_NS 50000000
#define APART_NS        1000000     /* a difference beyond this means a faked clock, or a preemption */

static bool is_faked(clockid_t clock)
{
    struct timespec kernels, seen;
    int64_t ahead_s, ahead_ns;

    if (syscall(FS_CLOCK_CALL, clock, &kernels) != 0 || clock_gettime(clock, &seen) != 0)
        return false;
    ahead_s = (int64_t)seen.tv_sec - kernels.tv_sec;
    if (ahead_s < -1 || ahead_s > 1)
        return true;
    ahead_ns = ahead_s * 1000000000 + seen.tv_nsec - kernels.tv_nsec;
    return ahead_ns < 0 || ahead_ns > APART_NS;
}

/*
 * ---- Sleeping ----
 *
 * futex() is not a cancellation point.  So the thread allows asynchronous cancellation during the call, as
 * the C library's own waits do.  The thread may be canceled after its grant, so the caller's clean-up handler
 * loads the waiter's state under the semaphore's mutex.  A signal handler that interrupts the sleep also runs
 * with asynchronous cancellation, until it calls fs_block_signals(), which defers cancellation.
 */
FS_NOT_INLINE FS_NO_TSAN
bool fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    int op = WAIT_BITSET_PRIVATE;
    const struct timespec *time = NULL;
    struct timespec left = { .tv_sec = 0 };
    int before = errno, deferred, async;
    bool interrupted;
    long result;

    if (deadline != NULL && is_faked(deadline->clock)) {
        op = FS_FUTEX_WAIT;
        left.tv_nsec = (long)fs_deadline_rest(deadline, FAKED_SLEEP_NS);
        time = &left;
    } else if (deadline != NULL) {
        if (deadline->clock == CLOCK_REALTIME)
            op |= ON_CLOCK_REALTIME;
        time = &deadline->at;
    }
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &deferred);
    result = fs_futex_wait(word, op, value, time, ANY_BIT);
    pthread_setcanceltype(deferred, &async);
    interrupted = result == -1 && errno == EINTR;
    errno = before;
    return interrupted;
}

void fs_unpark_word(const _Atomic int *word)
{
    int before = errno;

    if (fs_under_valgrind)
        fs_ignore_word((const void *)word);
    syscall(SYS_futex, word, WAKE_PRIVATE, 1);
    errno = before;
}

#else

/* Never called: without futexes no thread sleeps on a word. */
bool fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    (void)word;
    (void)value;
    (void)deadline;
    return false;
}

void fs_unpark_word(const _Atomic int *word)
{
    (void)word;
}

#endif

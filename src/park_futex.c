/* SPDX-License-Identifier: MIT */
/*
 * park_futex.c - parking on a futex, for Linux (futex(2)).
 *
 * The word is the waiter's state, on its thread's stack.  A thread that changes it calls
 * fs_unpark_word() later, with no lock held, when the waiter may have seen the change, gone,
 * and given the memory to something else.  A wake on an address where nobody sleeps does
 * nothing, mapped or not; one where somebody else sleeps by now is a wake for no reason, and
 * what uses futexes expects those.
 *
 * Two bits of the kernel are the reason for all this.  The sleep ends with EINTR when a
 * signal handler has run that was installed without SA_RESTART; with SA_RESTART the kernel
 * puts the thread back to sleep.  (With a deadline it ends in both cases, as for sem_t.)
 */
#define _GNU_SOURCE
#include "parking.h"

#if FS_HAS_FUTEX

#include "annotate.h"
#include "futex.h"

#include <errno.h>
#include <pthread.h>

/* From linux/futex.h, which comes with the kernel and not with every C library. */
#define WAIT_BITSET_PRIVATE (9 | 128)
#define WAKE_PRIVATE        (1 | 128)
#define ON_CLOCK_REALTIME   256
#define ANY_BIT             0xffffffffu

/*
 * futex() is not a cancellation point.  So the thread allows asynchronous cancellation
 * while it is in it, and in nothing else; that is also how the C library's own waits do it.
 * A cancellation may strike when the thread has been granted already: the handler that the
 * caller pushed loads the state under the mutex.  A signal handler that interrupts the
 * sleep runs with asynchronous cancellation, too; fs_hold_signals() sees to that.
 */
FS_NOT_INLINE
bool fs_park_on_word(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    int op = WAIT_BITSET_PRIVATE;
    int before = errno, deferred, async;
    bool interrupted;
    long result;

    if (deadline != NULL && deadline->clock == CLOCK_REALTIME)
        op |= ON_CLOCK_REALTIME;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &deferred);
    result = syscall(FS_FUTEX_CALL, word, op, value, deadline != NULL ? &deadline->at : NULL, NULL,
                     ANY_BIT);
    pthread_setcanceltype(deferred, &async);
    interrupted = result == -1 && errno == EINTR;
    errno = before;
    return interrupted;
}

void fs_unpark_word(const _Atomic int *word)
{
    int before = errno;

    if (fs_under_valgrind)
        fs_hide_word((const void *)word);
    syscall(SYS_futex, word, WAKE_PRIVATE, 1);
    errno = before;
}

#else

/* Nobody sleeps where there is no futex. */
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

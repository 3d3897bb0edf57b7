/* SPDX-License-Identifier: MIT */
/*
 * signals.c - see signals.h.
 *
 * A signal to the process goes to the first thread that has it unblocked when it comes, on
 * Linux the main thread if possible.  But until that thread has woken up, any thread that
 * unblocks signals takes the signal away.  The sleep that it was to end goes on then, and Ctrl-C
 * is lost.  So a thread that is about to let signals in first leaves other threads a moment to
 * take what is pending.  (Two threads in contention and a signal from outside to a third: lost 45
 * to 170 times in 300 without this, 0 to 8 times with it.  What is left comes between the last
 * check and the moment after it.)
 */
#include "signals.h"

#include "invariant.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define LAST_SIGNAL 31      /* the standard ones; of the others each that is sent is kept */
#define MOMENTS     20
#define MOMENT_NS   50000   /* between two checks */
#define RARELY      1024

/*
 * Some signals no other thread can take: those that were sent to this thread (pthread_kill, the
 * timer of a profiler), and those that all others block.  The kernel does not distinguish them
 * from the rest, and a thread that waited for others each time would lose a millisecond each
 * time.  So the process counts, for each signal number, how often it has come since a wait of
 * full length was in vain; 0: none was.
 *
 * The same number can be sent to a thread now and to the process later, or nobody took it only
 * because all cores were busy.  So the 1st, 2nd, 4th, 8th time and so on, and then each
 * RARELY-th time, other threads get one moment.  If one of them takes the signal, the number is
 * waited for as at first.  Until then a signal to the process can be lost, as if no thread ever
 * waited.
 *
 * Relaxed: they are only numbers, and a lost update costs a moment.
 */
static _Atomic uint32_t vain[LAST_SIGNAL + 1];

void fs_hold_signals(struct fs_held_signals *signals)
{
    sigset_t all;

    sigfillset(&all);
    FS_MUST(pthread_sigmask(SIG_BLOCK, &all, &signals->before));
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &signals->cancel_type);
    signals->held = true;
}

static uint32_t bit(int sig)
{
    return UINT32_C(1) << sig;
}

/* The signals that wait only because we hold them: their bits. */
static uint32_t held_back(const struct fs_held_signals *signals)
{
    sigset_t pending;
    uint32_t bits = 0;

    if (sigpending(&pending) != 0)
        return 0;
    for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
        if (sigismember(&pending, sig) == 1 && sigismember(&signals->before, sig) == 0)
            bits |= bit(sig);
    }
    return bits;
}

/* How many moments is it worth to wait for others to take the signal? */
static int moments(int sig)
{
    uint32_t times = atomic_load_explicit(&vain[sig], memory_order_relaxed);

    if (times == 0)
        return MOMENTS;
    return (times & (times - 1)) == 0 || times % RARELY == 0 ? 1 : 0;
}

/* The signals for which it is worth to wait for more than so many moments. */
static uint32_t worth_waiting_for(uint32_t bits, int so_many)
{
    for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
        if ((bits & bit(sig)) != 0 && moments(sig) <= so_many)
            bits &= ~bit(sig);
    }
    return bits;
}

/* These were there at first.  What has stayed nobody else has taken, in so many moments. */
static void remember(uint32_t first, uint32_t stayed, int so_many)
{
    for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
        uint32_t times = atomic_load_explicit(&vain[sig], memory_order_relaxed);

        if ((first & ~stayed & bit(sig)) != 0)
            times = 0;
        else if ((stayed & bit(sig)) != 0 && (times != 0 || so_many == MOMENTS))
            times++;
        else
            continue;
        atomic_store_explicit(&vain[sig], times, memory_order_relaxed);
    }
}

static void leave_them_to_others(const struct fs_held_signals *signals)
{
    const struct timespec moment = { .tv_nsec = MOMENT_NS };
    int error = errno, cancelable, disabled, so_many = 0;
    uint32_t first = held_back(signals), stayed = first, now = first;

    if (first == 0)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    while (worth_waiting_for(now, so_many) != 0) {
        nanosleep(&moment, NULL);
        so_many++;
        now = held_back(signals);
        stayed &= now;
    }
    pthread_setcancelstate(cancelable, &disabled);
    remember(first, stayed, so_many);
    errno = error;
}

void fs_let_signals_in(struct fs_held_signals *signals)
{
    int deferred;

    leave_them_to_others(signals);
    FS_MUST(pthread_sigmask(SIG_SETMASK, &signals->before, NULL));
    pthread_setcanceltype(signals->cancel_type, &deferred);
    signals->held = false;
}

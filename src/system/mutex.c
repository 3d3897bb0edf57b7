/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes that inherit priority; see mutex.h.
 *
 * The holder of a mutex may be preempted by a thread of a higher priority.  Without inheritance, a real-time
 * thread that needs the mutex waits until the preempting thread has finished, perhaps for tens of
 * milliseconds.  With inheritance, the holder goes on at once.  Inheritance costs nothing while the mutex is
 * free.
 */
#include "system/mutex.h"

#include "system/deadline.h"
#include "system/system.h"
#include "tools/invariant.h"

#include <errno.h>
#include <stdatomic.h>

/*
 * Do mutexes of this process inherit priority?  False in a process that may not have real-time priorities.
 * A sandbox that forbids such priorities may also forbid FUTEX_LOCK_PI, which inheritance needs: the sandbox
 * of Chromium kills the process.
 */
static bool inherits(void)
{
    static _Atomic bool may;        /* remembers true; fs_may_be_real_time() remembers false */

    if (!atomic_load_explicit(&may, memory_order_relaxed)) {
        if (!fs_may_be_real_time())
            return false;
        atomic_store_explicit(&may, true, memory_order_relaxed);
    }
    return true;
}

/* If inheritance fails, the mutex is an ordinary one. */
void fs_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    int before = errno;

    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (inherits() && pthread_mutexattr_init(&attr) == 0) {
        if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) != 0
            || pthread_mutex_init(mutex, &attr) != 0)
            *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        pthread_mutexattr_destroy(&attr);
    }
    errno = before;
}

/*
 * Lock a contended mutex in four steps.
 *
 *  1. Spin for a microsecond or two: a section takes less time than a sleep and a wake-up.  (Two threads that
 *     hand units to each other often contend; the spin makes a hand-off across cores a third shorter.)
 *  2. Yield once: the holder may need this core.
 *  3. With many cores: poll, with short sleeps between the polls.  If threads slept on the mutex, each unlock
 *     would wake one of them, which takes the time of several sections, and by then another thread would have
 *     locked the mutex.  Worse, the unlock of a mutex that inherits priority hands the mutex over to a sleeper,
 *     and until the sleeper runs, all other threads fall asleep, too.  (Simulated, 16 cores: polls allow twice
 *     as many holds as sleeps on the mutex, and twenty times as many as sleeps on an inheriting mutex.)
 *     With few cores, sleeps on the mutex are rare, and another thread needs this core.  (2 cores: polls would
 *     cost a sixth of the holds.)
 *  4. Sleep on the mutex, which may have been locked at each poll.
 *
 * A thread that sleeps on the mutex lends its priority to the holder; a polling thread does not.  So a
 * real-time thread skips steps 2 and 3.  If a real-time thread has been seen, other threads poll only a few
 * times, for this case: a real-time thread sleeps on one mutex, whose holder polls for a second mutex.  The
 * priority reaches the holder of the second mutex only when the holder of the first one sleeps, too.
 */
#define SHORT_SLEEP_NS 100000
#define POLLS_IF_REAL_TIME 3
#define POLLS      50

static _Atomic bool real_time_seen;

static bool is_real_time(void)
{
    if (fs_cpu_is_time_shared())
        return false;
    atomic_store_explicit(&real_time_seen, true, memory_order_relaxed);
    return true;
}

bool fs_mutex_lends_priority(void)
{
    return inherits() && is_real_time();
}

static bool poll_until_free(pthread_mutex_t *mutex)
{
    int naps = atomic_load_explicit(&real_time_seen, memory_order_relaxed) ? POLLS_IF_REAL_TIME : POLLS;

    for (int i = 0; i < naps; i++) {
        fs_sleep_shortly(SHORT_SLEEP_NS);
        if (pthread_mutex_trylock(mutex) == 0)
            return true;
    }
    return false;
}

void fs_mutex_lock_contended(pthread_mutex_t *mutex)
{
    bool many_cores = fs_cpu_count() >= FS_MANY_CORES;

    for (int pauses = 1; pauses <= (many_cores ? 16 : 32); pauses *= 2) {
        for (int i = 0; i < pauses; i++)
            fs_cpu_pause();
        if (pthread_mutex_trylock(mutex) == 0)
            return;
    }
    if (!is_real_time()
        && ((fs_cpu_yield() && pthread_mutex_trylock(mutex) == 0)
            || (many_cores && poll_until_free(mutex))))
        return;
    FS_MUST(pthread_mutex_lock(mutex));
}

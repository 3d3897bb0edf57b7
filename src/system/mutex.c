/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes that inherit priority; see mutex.h.
 *
 * A thread with a low priority holds a mutex of the library for less than a microsecond, unless a
 * second thread, with a higher priority, preempts it.  Without inheritance, a third thread with the
 * highest priority that releases a unit then waits until the second one has finished, which can take
 * tens of milliseconds.  With inheritance the first one goes on at once.  Inheritance costs nothing
 * while the mutex is free.
 */
#include "system/mutex.h"

#include "system/deadline.h"
#include "system/system.h"
#include "tools/invariant.h"

#include <errno.h>
#include <stdatomic.h>

/*
 * Do mutexes of this process inherit priority?  Not in a process without real-time priorities: a
 * sandbox, in which a process may not have them anyway, may forbid the system call that inheritance
 * needs (FUTEX_LOCK_PI: the sandbox of Chromium kills the process).
 */
static bool inherits(void)
{
    static _Atomic bool may;        /* true is recorded here; fs_may_be_real_time() records false */

    if (!atomic_load_explicit(&may, memory_order_relaxed)) {
        if (!fs_may_be_real_time())
            return false;
        atomic_store_explicit(&may, true, memory_order_relaxed);
    }
    return true;
}

/* If the system has no inheritance, or no memory for it, the mutex is an ordinary one. */
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
 * A section takes less time than going to sleep and being woken.  So this thread first tries again
 * for a microsecond or two.  Two threads that hand units to each other often contend here, and the
 * retries make a hand-off across cores a third shorter.
 *
 * Then it yields once, because the holder may need this core.
 *
 * Then it polls between short sleeps, instead of sleeping on the mutex.  Each unlock would wake a
 * thread that sleeps there, which takes the time of several sections; and by then another thread
 * would have locked the mutex.  Worse, the unlock of a mutex that inherits priority hands the mutex
 * over to the sleeper, and no other thread can lock it until the sleeper runs.  Meanwhile the others
 * fall asleep, too, and from then on each section is followed by a wake-up.  (Simulated, 16 cores, 16
 * threads, 4 units, 1 us: 1,230,000 holds a second with short sleeps, 620,000 with sleeps on the
 * mutex, 57,000 with sleeps on an inheriting one.)
 *
 * With few cores it does not poll: there another thread needs this thread's core, and sleeps are
 * rare.  (2 cores, 16 threads, 2 units, 2 us: 300,000 holds a second without short sleeps, 250,000
 * with them.)
 *
 * In the end it sleeps on the mutex, because other threads may lock the mutex before each of its
 * polls.  It polls less often if a real-time thread has been seen in this process: that thread may
 * wait for another mutex that this thread holds, and so lend its priority to this thread, from which
 * the holder of this mutex must inherit it.  A thread that has a real-time priority itself sleeps on
 * the mutex at once.
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

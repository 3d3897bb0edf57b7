/* SPDX-License-Identifier: MIT */
/*
 * machine.c - see machine.h.  The linker redirects these calls of the library to this file (--wrap).
 */
#include "machine.h"

#include "model.h"
#include "threads.h"
#include "words.h"

#include "../../support/bare.h"
#include "../../support/wide_time.h"
#include "../engine/unlearned.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>

#define WRAPPED(type, name, ...)       \
    type __real_##name(__VA_ARGS__);   \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *ts);
WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *m);
WRAPPED(int, pthread_mutex_trylock, pthread_mutex_t *m);
WRAPPED(int, pthread_mutex_unlock, pthread_mutex_t *m);
WRAPPED(int, pthread_cond_init, pthread_cond_t *c, const pthread_condattr_t *attr);
WRAPPED(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m);
WRAPPED(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m,
        const struct timespec *deadline);
WRAPPED(int, pthread_cond_signal, pthread_cond_t *c);
WRAPPED(pthread_t, pthread_self, void);
WRAPPED(int, pthread_key_create, pthread_key_t *key, void (*destructor)(void *));
WRAPPED(void *, pthread_getspecific, pthread_key_t key);
WRAPPED(int, pthread_setspecific, pthread_key_t key, const void *value);
WRAPPED(long, syscall, long number, ...);

_Thread_local bool machine_on;
int  machine_locks;

/* ---- Time ---- */

BARE int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    int64_t now = model_now_ns + (clock == CLOCK_REALTIME ? model_ahead_ns : 0);

    if (!machine_on)
        return __real_clock_gettime(clock, ts);
    ts->tv_sec = (time_t)(now / 1000000000);
    ts->tv_nsec = (long)(now % 1000000000);
    return 0;
}

/* ---- Threads ---- */

pthread_t __wrap_pthread_self(void)
{
    return machine_on ? (pthread_t)(uintptr_t)(thread_running() + 1) : __real_pthread_self();
}

/* ---- Locks: a wait for a lock is an error, because no thread would unlock it ---- */

/*
 * For each thread, the mutex that a condition variable has locked again at the end of a sleep.  This mutex does
 * not count as locked, because the library may initialize it again instead of unlocking it (park_cond.c).
 */
static const pthread_mutex_t *given_back[STACKED];

BARE int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!machine_on)
        return __real_pthread_mutex_lock(m);
    if (__real_pthread_mutex_trylock(m) != 0)
        finding("the library locks a locked mutex, or one that is gone");
    if (given_back[thread_running()] == m)
        given_back[thread_running()] = NULL;
    machine_locks++;
    thread_locks();
    return 0;
}

/* The library tries to lock for a moment before it blocks.  In this machine the first try succeeds. */
BARE int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return __wrap_pthread_mutex_lock(m);
}

BARE int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (machine_on && given_back[thread_running()] == m)
        given_back[thread_running()] = NULL;
    else
        machine_locks -= machine_on;
    return __real_pthread_mutex_unlock(m);
}

/* ---- Sleep on condition variables ---- */

/* The clock of each condition variable that was made by pthread_cond_init(); the others need none. */
static struct { const pthread_cond_t *cond; clockid_t clock; } conds[256];
static int conds_made;

BARE int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    if (machine_on && conds_made < (int)(sizeof conds / sizeof conds[0])) {
        conds[conds_made].cond = c;
        conds[conds_made].clock = CLOCK_REALTIME;
        if (attr != NULL)
            pthread_condattr_getclock(attr, &conds[conds_made].clock);
        conds_made++;
    }
    return __real_pthread_cond_init(c, attr);
}

static clockid_t clock_of(const pthread_cond_t *c)
{
    for (int i = 0; i < conds_made; i++) {
        if (conds[i].cond == c)
            return conds[i].clock;
    }
    finding("the library sleeps on a condition variable that it has not made");
}

static int sleep_on_cond(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *deadline)
{
    enum wakeup why;

    (void)__wrap_pthread_mutex_unlock(m);
    why = thread_sleeps(c, clock_of(c), deadline, false);
    (void)__real_pthread_mutex_lock(m);
    given_back[thread_running()] = m;
    if (why == CANCELED)
        thread_is_canceled();
    return why == EXPIRED ? ETIMEDOUT : 0;
}

BARE int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return machine_on ? sleep_on_cond(c, m, NULL) : __real_pthread_cond_wait(c, m);
}

BARE int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                       const struct timespec *deadline)
{
    return machine_on ? sleep_on_cond(c, m, deadline)
                      : __real_pthread_cond_timedwait(c, m, deadline);
}

BARE int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    if (!machine_on)
        return __real_pthread_cond_signal(c);
    thread_is_woken(c);
    return 0;
}

/* ---- Sleep on futexes: the library calls FUTEX_WAIT_BITSET and FUTEX_WAKE, both private ---- */

enum { WAIT = 9 | 128, WAKE = 1 | 128, BY_REALTIME = 256 };

static long futex_wait(const _Atomic int *word, int op, int value, const struct timespec *deadline)
{
    enum wakeup why;

    errno = EAGAIN;
    if (*word != value)
        return -1;
    why = thread_sleeps((const void *)word,
                        (op & BY_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, deadline,
                        true);
    if (why == CANCELED)
        thread_is_canceled();
    errno = why == INTERRUPTED ? EINTR : ETIMEDOUT;
    return why == INTERRUPTED || why == EXPIRED ? -1 : 0;
}

static long futex(const void *word, int op, int value, const struct timespec *deadline)
{
    if ((op & ~BY_REALTIME) == WAIT)
        return futex_wait((const _Atomic int *)word, op, value, deadline);
    if (op != WAKE)
        finding("the library calls futex() for %#x", (unsigned)op);
    thread_is_woken(word);
    return 0;
}

static bool is_futex(long number)
{
#if defined(SYS_futex_time64)
    return number == SYS_futex || number == SYS_futex_time64;
#elif defined(SYS_futex)
    return number == SYS_futex;
#else
    return number < 0;
#endif
}

/* Does this system call read a clock?  It must read the simulated clock, too. */
static bool is_clock(long number)
{
#if defined(SYS_clock_gettime64)
    return number == SYS_clock_gettime || number == SYS_clock_gettime64;
#elif defined(SYS_clock_gettime)
    return number == SYS_clock_gettime;
#else
    return number < 0;
#endif
}

/* As in the C library: read six arguments for any system call. */
BARE long __wrap_syscall(long number, ...)
{
    va_list list;
    long arg[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (machine_on && is_futex(number))
        return futex((const void *)arg[0], (int)arg[1], (int)arg[2],
                     (const struct timespec *)arg[3]);
    if (machine_on && is_clock(number))
        return __wrap_clock_gettime((clockid_t)arg[0], (struct timespec *)arg[1]);
    return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* ---- A replacement of src/awake/awake.c: all waiters stay awake, and all are pre-woken ---- */

enum fs_prewake fs_awake_enqueued(const struct fs_awake *awake, const struct fs_awake_facts *facts,
                                  int core, enum fs_strategy *strategy)
{
    (void)awake;
    (void)core;
    *strategy = facts->is_front ? FS_SPIN_AS_FRONT : FS_YIELD_IN_QUEUE;
    return facts->is_front || facts->only_front ? FS_PREWAKE_NOBODY : FS_PREWAKE_ON_CORE;
}

bool fs_awake_before_queue(const _Atomic uint8_t *penalty, int64_t start_ns, int64_t now_ns)
{
    (void)penalty;
    return start_ns == now_ns && now_ns / 1000 % 2 == 0;
}

void fs_awake_learn_before_queue(_Atomic uint8_t *penalty, bool paid)
{
    (void)penalty;
    (void)paid;
}

/* Never a convoy: then only a part of the queue is near, which is harder for the library. */
bool fs_awake_in_convoy(void)
{
    return false;
}

int fs_awake_near(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    (void)awake;
    return facts->only_front ? 0 : (int)(now_ns / 1000 % 4);
}

enum fs_strategy fs_awake_strategy_near(const struct fs_awake *awake, const struct fs_awake_facts *facts)
{
    (void)awake;
    return facts->is_front ? FS_SPIN_AS_FRONT : FS_YIELD_IN_QUEUE;
}

bool fs_awake_prewakes_front(const struct fs_awake *awake, const struct fs_awake_facts *facts, int64_t now_ns)
{
    (void)awake;
    (void)now_ns;
    return !facts->only_front;
}

bool fs_awake_stay(const _Atomic int *word, int value, const _Atomic uint8_t *strategy,
                   int64_t enqueued_ns, const struct fs_deadline *deadline)
{
    (void)enqueued_ns;
    (void)deadline;
    if (*strategy == FS_SLEEP_AT_ONCE)
        return false;
    if (*word == value)
        thread_spins();
    return true;
}

/* ---- Thread-specific values.  (A sanitizer makes its key before machine_on.) ---- */

static pthread_key_t library_key;
static bool          key_made;

BARE int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = __real_pthread_key_create(key, destructor);

    if (machine_on && error == 0) {
        library_key = *key;
        key_made = true;
    }
    return error;
}

BARE void *__wrap_pthread_getspecific(pthread_key_t key)
{
    if (!key_made || key != library_key)
        return __real_pthread_getspecific(key);
    return *thread_specific();
}

BARE int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (!key_made || key != library_key)
        return __real_pthread_setspecific(key, value);
    *thread_specific() = (void *)(uintptr_t)value;
    return 0;
}

bool machine_can_cancel(void)
{
#if MACHINE_CAN_UNWIND
    int state, enabled;

    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_setcancelstate(state, &enabled);
    return state == PTHREAD_CANCEL_ENABLE;
#else
    return false;
#endif
}

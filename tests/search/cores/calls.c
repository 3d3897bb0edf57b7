/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the calls of layer.h.  Also replaces the functions of system_linux.c, which would find real threads
 * and cores.
 */
#define _GNU_SOURCE
#define CORES_SIMULATOR
#include "layer.h"

#include "simulator.h"
#include "system/system.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>

bool real_time;

static const int64_t second = 1000000000;

/* ---- Mutexes, as in glibc ---- */

enum { FREE, HELD, HELD_WITH_SLEEPERS };

/* Stored in the memory of a pthread_mutex_t. */
struct mutex {
    int  state;
    bool inherits;
};

int xs_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    struct mutex *m = (struct mutex *)mutex;
    int protocol = PTHREAD_PRIO_NONE;

    if (attr != NULL)
        pthread_mutexattr_getprotocol(attr, &protocol);
    m->state = FREE;
    m->inherits = protocol == PTHREAD_PRIO_INHERIT;
    return 0;
}

int xs_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int xs_mutex_trylock(pthread_mutex_t *mutex)
{
    struct mutex *m = (struct mutex *)mutex;

    touch(m, LOCKED);
    if (m->state != FREE)
        return EBUSY;
    m->state = HELD;
    return 0;
}

/* With priority inheritance: a thread that has slept owns the mutex when it wakes up, see xs_mutex_unlock(). */
static void lock_by_kernel(struct mutex *m)
{
    spend(2 * machine.sleep);
    if (m->state == FREE) {
        m->state = HELD;
    } else {
        m->state = HELD_WITH_SLEEPERS;
        sleep_on(m, NEVER);
    }
}

static void lock_contended(struct mutex *m)
{
    for (;;) {
        int before;

        touch(m, LOCKED);
        before = m->state;
        m->state = HELD_WITH_SLEEPERS;
        if (before == FREE)
            return;
        spend(machine.sleep);
        if (m->state == HELD_WITH_SLEEPERS)
            sleep_on(m, NEVER);
    }
}

int xs_mutex_lock(pthread_mutex_t *mutex)
{
    struct mutex *m = (struct mutex *)mutex;

    if (xs_mutex_trylock(mutex) == 0)
        return 0;
    if (m->inherits)
        lock_by_kernel(m);
    else
        lock_contended(m);
    return 0;
}

int xs_mutex_unlock(pthread_mutex_t *mutex)
{
    struct mutex *m = (struct mutex *)mutex;
    int before;

    touch(m, LOCKED);
    before = m->state;
    /* The kernel hands a mutex with priority inheritance to a sleeper: the mutex is never free in between. */
    if (!m->inherits || !any_sleeps_on(m))
        m->state = FREE;
    if (before == HELD_WITH_SLEEPERS)
        wake(m, 1);
    return 0;
}

/* ---- Condition variables: a count of signals, on which waiters sleep ---- */

static unsigned *signals_of(pthread_cond_t *cond)
{
    return (unsigned *)cond;
}

int xs_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    memset(cond, 0, sizeof *cond);
    return 0;
}

int xs_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until)
{
    unsigned before;
    bool in_time = true;

    touch(cond, LOCKED);
    before = *signals_of(cond);
    xs_mutex_unlock(mutex);
    spend(machine.sleep);
    if (*signals_of(cond) == before)
        in_time = sleep_on(cond, until);
    touch(cond, LOCKED);
    xs_mutex_lock(mutex);
    return in_time ? 0 : ETIMEDOUT;
}

int xs_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_until(cond, mutex, NEVER);
}

/* The library's clocks begin at one second, so that no time is 0. */
int xs_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at)
{
    return wait_until(cond, mutex, (at->tv_sec - 1) * second + at->tv_nsec);
}

int xs_cond_signal(pthread_cond_t *cond)
{
    touch(cond, LOCKED);
    ++*signals_of(cond);
    wake(cond, 1);
    return 0;
}

int xs_cond_broadcast(pthread_cond_t *cond)
{
    touch(cond, LOCKED);
    ++*signals_of(cond);
    wake(cond, MOST_THREADS);
    return 0;
}

/* ---- The calling thread ---- */

/* While fn runs, no simulated time passes, so no other thread runs. */
int xs_once(pthread_once_t *once, void (*fn)(void))
{
    struct thread *me = self;

    if (*once == PTHREAD_ONCE_INIT) {
        self = NULL;
        fn();
        self = me;
        *once = PTHREAD_ONCE_INIT + 1;
    }
    return 0;
}

static const void *specific_outside[SPECIFICS];

static const void **specific(pthread_key_t key)
{
    if (key >= SPECIFICS)
        abort();
    return self != NULL ? &self->specific[key] : &specific_outside[key];
}

void *xs_getspecific(pthread_key_t key)
{
    return (void *)(uintptr_t)*specific(key);
}

int xs_setspecific(pthread_key_t key, const void *value)
{
    *specific(key) = value;
    return 0;
}

pthread_t xs_self(void)
{
    return (pthread_t)fs_thread_id();
}

int fs_thread_id(void)
{
    return self != NULL ? self->number + 2 : 1;
}

void fs_thread_name(int id, char name[FS_THREAD_NAME])
{
    (void)id;
    name[0] = '\0';
}

bool fs_may_be_real_time(void)
{
    return real_time;
}

/* No thread is canceled or gets a signal. */
int xs_setcancelstate(int state, int *before)
{
    (void)state;
    *before = PTHREAD_CANCEL_ENABLE;
    return 0;
}

int xs_setcanceltype(int type, int *before)
{
    (void)type;
    *before = PTHREAD_CANCEL_DEFERRED;
    return 0;
}

int xs_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    if (before != NULL)
        sigemptyset(before);
    return 0;
}

void xs_testcancel(void)
{
}

/* ---- Time and cores ---- */

int xs_clock_gettime(clockid_t clock, struct timespec *at)
{
    int64_t ns;

    /* Vary the time: by its low bits, the library lets one thread in 16 stay awake despite a penalty. */
    spend(machine.clock + (int64_t)(random_number() % 8));
    ns = clock == CLOCK_PROCESS_CPUTIME_ID ? used_by_all() : second + now();
    at->tv_sec = ns / second;
    at->tv_nsec = ns % second;
    return 0;
}

int xs_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    spend(machine.sleep);
    sleep_on(time, now() + time->tv_sec * second + time->tv_nsec);
    return 0;
}

int xs_yield(void)
{
    yield_core();
    return 0;
}

void xs_pause(void)
{
    spend(machine.pause);
}

int fs_cpu_current(void)
{
    spend(machine.atomic);
    return self != NULL ? self->core : 0;
}

bool fs_cpu_is_time_shared(void)
{
    spend(machine.clock * 4);       /* a system call */
    return true;
}

int fs_cpu_count(void)
{
    return machine.cores;
}

/* ---- System calls ---- */

static long futex_wait(const int *word, int value)
{
    spend(machine.sleep);
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    sleep_on(word, NEVER);
    return 0;
}

/* FUTEX_WAIT has no time-out: in src/core/, only waits that a signal handler may end sleep on a futex. */
long xs_syscall(long number, ...)
{
    va_list arguments;
    const int *word;
    int operation, value;

    if (number != SYS_futex) {
        errno = ENOSYS;
        return -1;
    }
    va_start(arguments, number);
    word = va_arg(arguments, const int *);
    operation = va_arg(arguments, int) & FUTEX_CMD_MASK;
    value = va_arg(arguments, int);
    va_end(arguments);
    return operation == FUTEX_WAKE ? wake(word, value) : futex_wait(word, value);
}

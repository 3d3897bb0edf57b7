/* SPDX-License-Identifier: MIT */
/*
 * layer.h - included before the library's sources (cc -include) to compile them for the explorer.
 *
 * Every call by which the library blocks, wakes, reads a clock or ends goes to the explorer.  The
 * system's headers come first, so that their names can be redefined afterwards.  Loads and stores,
 * atomic and plain, need no names: with -fsanitize=thread the compiler inserts calls to the
 * explorer's functions for them, see access.c.
 */
#ifndef XP_LAYER_H
#define XP_LAYER_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int xp_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int xp_mutex_destroy(pthread_mutex_t *mutex);
int xp_mutex_lock(pthread_mutex_t *mutex);
int xp_mutex_unlock(pthread_mutex_t *mutex);
int xp_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int xp_cond_destroy(pthread_cond_t *cond);
int xp_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int xp_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at);
int xp_cond_signal(pthread_cond_t *cond);
int xp_cond_broadcast(pthread_cond_t *cond);
int xp_once(pthread_once_t *once, void (*fn)(void));
int xp_key_create(pthread_key_t *key, void (*destroy)(void *));
void *xp_getspecific(pthread_key_t key);
int xp_setspecific(pthread_key_t key, const void *value);
int xp_setcancelstate(int state, int *before);
int xp_setcanceltype(int type, int *before);
void xp_testcancel(void);
pthread_t xp_self(void);
int xp_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int xp_sigmask(int how, const sigset_t *set, sigset_t *before);
int xp_clock_gettime(clockid_t clock, struct timespec *now);
int xp_nanosleep(const struct timespec *time, struct timespec *left);
long xp_syscall(long number, ...);
void xp_pause(void);
int xp_yield(void);
int xp_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int xp_getcpu(void);
long xp_sysconf(int name);
void *xp_malloc(size_t size);
void xp_free(void *block);
int xp_fprintf(FILE *file, const char *format, ...);
_Noreturn void xp_abort(void);

struct xp_cleanup {
    void (*fn)(void *);
    void *arg;
    struct xp_cleanup *outer;
};
void xp_cleanup_push(struct xp_cleanup *cleanup);
void xp_cleanup_pop(bool execute);

#ifndef XP_EXPLORER     /* the explorer itself needs only the declarations */
#define pthread_mutex_init xp_mutex_init
#define pthread_mutex_destroy xp_mutex_destroy
#define pthread_mutex_lock xp_mutex_lock
#define pthread_mutex_trylock xp_mutex_lock    /* tried for a moment, then locked: the same here */
#define pthread_mutex_unlock xp_mutex_unlock
#define pthread_cond_init xp_cond_init
#define pthread_cond_destroy xp_cond_destroy
#define pthread_cond_wait xp_cond_wait
#define pthread_cond_timedwait xp_cond_timedwait
#define pthread_cond_signal xp_cond_signal
#define pthread_cond_broadcast xp_cond_broadcast
#define pthread_once xp_once
#define pthread_key_create xp_key_create
#define pthread_getspecific xp_getspecific
#define pthread_setspecific xp_setspecific
#define pthread_setcancelstate xp_setcancelstate
#define pthread_setcanceltype xp_setcanceltype
#define pthread_testcancel xp_testcancel
#define pthread_self xp_self
#define pthread_atfork xp_atfork
#define pthread_sigmask xp_sigmask
#define clock_gettime xp_clock_gettime
#define nanosleep xp_nanosleep
#define syscall xp_syscall
#define malloc xp_malloc
#define free xp_free
#define fprintf xp_fprintf
#define abort xp_abort
#define __builtin_ia32_pause xp_pause
#define sched_yield xp_yield
#define sched_getaffinity xp_getaffinity
#define sched_getcpu xp_getcpu
#define sysconf xp_sysconf

#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(f, a)                              \
    do {                                                        \
        struct xp_cleanup xp_cleanup = { (f), (a), NULL };      \
        xp_cleanup_push(&xp_cleanup)
#define pthread_cleanup_pop(execute)                            \
        xp_cleanup_pop(execute);                                \
    } while (0)
#endif

#endif

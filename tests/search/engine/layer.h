/* SPDX-License-Identifier: MIT */
/*
 * layer.h - the common part of ../core/layer.h and ../shared/layer.h: redirects the calls by which the library
 * blocks, reads a clock or ends to the explorer.
 *
 * The system's headers come first, so that their names can be redefined afterwards.  Loads and
 * stores, atomic and plain, need no names: with -fsanitize=thread the compiler inserts calls to the
 * functions of instrument.c for them.
 */
#ifndef XP_ENGINE_LAYER_H
#define XP_ENGINE_LAYER_H

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

int xp_mutex_lock(pthread_mutex_t *mutex);
int xp_mutex_unlock(pthread_mutex_t *mutex);
int xp_setcancelstate(int state, int *before);
int xp_setcanceltype(int type, int *before);
int xp_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int xp_sigmask(int how, const sigset_t *set, sigset_t *before);
int xp_clock_gettime(clockid_t clock, struct timespec *now);
int xp_nanosleep(const struct timespec *time, struct timespec *left);
int xp_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int xp_getcpu(void);
long xp_sysconf(int name);
void *xp_malloc(size_t size);
void xp_free(void *block);
_Noreturn void xp_abort(void);

struct xp_cleanup {
    void (*fn)(void *);
    void *arg;
    struct xp_cleanup *outer;
};
void xp_cleanup_push(struct xp_cleanup *cleanup);
void xp_cleanup_pop(int execute);

#ifndef XP_EXPLORER     /* the explorer itself needs only the declarations */
#define pthread_mutex_lock xp_mutex_lock
#define pthread_mutex_unlock xp_mutex_unlock
#define pthread_mutex_trylock xp_mutex_lock    /* a failed trylock would only delay the lock */
#define pthread_setcancelstate xp_setcancelstate
#define pthread_setcanceltype xp_setcanceltype
#define pthread_atfork xp_atfork
#define pthread_sigmask xp_sigmask
#define clock_gettime xp_clock_gettime
#define nanosleep xp_nanosleep
#define malloc xp_malloc
#define free xp_free
#define abort xp_abort
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

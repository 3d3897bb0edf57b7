/* SPDX-License-Identifier: MIT */
/*
 * layer.h - included before src/ and src/shared/ (cc -include) to compile them here; see dies.h.
 *
 * Loads and stores go to access.c by -fsanitize=thread, and the library's kernel calls to kernel.c,
 * which replaces that of src/shared/.  These are the other calls.
 */
#ifndef DIES_LAYER_H
#define DIES_LAYER_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int dies_mutex_lock(pthread_mutex_t *mutex);
int dies_mutex_unlock(pthread_mutex_t *mutex);
int dies_setcancelstate(int state, int *before);
int dies_setcanceltype(int type, int *before);
int dies_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int dies_sigmask(int how, const sigset_t *set, sigset_t *before);
int dies_clock_gettime(clockid_t clock, struct timespec *now);
int dies_nanosleep(const struct timespec *time, struct timespec *left);
void *dies_malloc(size_t size);
void *dies_calloc(size_t count, size_t size);
void dies_free(void *block);
int dies_getcpu(void);
int dies_getaffinity(pid_t pid, size_t size, void *set);
long dies_sysconf(int name);
_Noreturn void dies_abort(void);

struct dies_cleanup {
    void (*fn)(void *);
    void *arg;
    struct dies_cleanup *outer;
};
void dies_cleanup_push(struct dies_cleanup *cleanup);
void dies_cleanup_pop(int execute);

#ifndef DIES_EXPLORER       /* the explorer itself needs only the declarations */
#define pthread_mutex_lock dies_mutex_lock
#define pthread_mutex_unlock dies_mutex_unlock
#define pthread_setcancelstate dies_setcancelstate
#define pthread_setcanceltype dies_setcanceltype
#define pthread_atfork dies_atfork
#define pthread_sigmask dies_sigmask
#define clock_gettime dies_clock_gettime
#define nanosleep dies_nanosleep
#define malloc dies_malloc
#define calloc dies_calloc
#define free dies_free
#define sched_getcpu dies_getcpu
#define sched_getaffinity dies_getaffinity
#define sysconf dies_sysconf
#define abort dies_abort

#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(f, a)                              \
    do {                                                        \
        struct dies_cleanup dies_cleanup = { (f), (a), NULL };  \
        dies_cleanup_push(&dies_cleanup)
#define pthread_cleanup_pop(execute)                            \
        dies_cleanup_pop(execute);                              \
    } while (0)
#endif

#endif

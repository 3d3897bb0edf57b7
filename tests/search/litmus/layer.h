/* SPDX-License-Identifier: MIT */
/*
 * layer.h - included before the library's sources (cc -include): its calls of mutexes become
 * events, a sleep returns at once, the clock stands still.
 */
#ifndef LITMUS_LAYER_H
#define LITMUS_LAYER_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int calls_lock(pthread_mutex_t *mutex);
int calls_unlock(pthread_mutex_t *mutex);
int calls_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int calls_nothing(const void *object);
int calls_clock(clockid_t clock, struct timespec *now);
int calls_set(int value, int *before);
int calls_sigmask(int how, const sigset_t *set, sigset_t *before);
int calls_getcpu(void);
long calls_syscall(long number, ...);
int calls_print(FILE *file, const char *format, ...);
_Noreturn void calls_abort(void);

#define pthread_mutex_lock calls_lock
#define pthread_mutex_trylock calls_lock    /* tried for a moment, then locked: the same here */
#define pthread_mutex_unlock calls_unlock
#define pthread_mutex_destroy(mutex) calls_nothing(mutex)
#define pthread_cond_wait calls_wait
#define pthread_cond_timedwait(cond, mutex, at) ((void)(at), calls_wait(cond, mutex))
#define pthread_cond_signal(cond) calls_nothing(cond)
#define pthread_setcancelstate calls_set
#define pthread_setcanceltype calls_set
#define pthread_sigmask calls_sigmask
#define clock_gettime calls_clock
#define sched_getcpu calls_getcpu
#define syscall calls_syscall
#define fprintf calls_print
#define abort calls_abort

#endif

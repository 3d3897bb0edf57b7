/* SPDX-License-Identifier: MIT */
/*
 * layer.h - redirects calls of the library and of the peers to calls.c: all calls by which they block, wake,
 * yield or read a clock.  Included before each of their sources (cc -include).
 *
 * This file replaces ../engine/layer.h, in which pthread_mutex_trylock() is a lock, and malloc() a part of the
 * engine.
 */
#ifndef CORES_LAYER_H
#define CORES_LAYER_H

/* The library's constructors do not run: they would run before the machine of a run is set. */
#define constructor unused

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

int xs_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int xs_mutex_destroy(pthread_mutex_t *mutex);
int xs_mutex_lock(pthread_mutex_t *mutex);
int xs_mutex_trylock(pthread_mutex_t *mutex);
int xs_mutex_unlock(pthread_mutex_t *mutex);
int xs_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int xs_cond_destroy(pthread_cond_t *cond);
int xs_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int xs_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at);
int xs_cond_signal(pthread_cond_t *cond);
int xs_cond_broadcast(pthread_cond_t *cond);
int xs_once(pthread_once_t *once, void (*fn)(void));
void *xs_getspecific(pthread_key_t key);
int xs_setspecific(pthread_key_t key, const void *value);
pthread_t xs_self(void);
int xs_setcancelstate(int state, int *before);
int xs_setcanceltype(int type, int *before);
int xs_sigmask(int how, const sigset_t *set, sigset_t *before);
void xs_testcancel(void);
int xs_clock_gettime(clockid_t clock, struct timespec *now);
int xs_nanosleep(const struct timespec *time, struct timespec *left);
int xs_yield(void);
void xs_pause(void);
long xs_syscall(long number, ...);

#ifndef CORES_SIMULATOR         /* the simulator itself needs only the declarations */
#define pthread_mutex_init xs_mutex_init
#define pthread_mutex_destroy xs_mutex_destroy
#define pthread_mutex_lock xs_mutex_lock
#define pthread_mutex_trylock xs_mutex_trylock
#define pthread_mutex_unlock xs_mutex_unlock
#define pthread_cond_init xs_cond_init
#define pthread_cond_destroy xs_cond_destroy
#define pthread_cond_wait xs_cond_wait
#define pthread_cond_timedwait xs_cond_timedwait
#define pthread_cond_signal xs_cond_signal
#define pthread_cond_broadcast xs_cond_broadcast
#define pthread_once xs_once
#define pthread_getspecific xs_getspecific
#define pthread_setspecific xs_setspecific
#define pthread_self xs_self
#define pthread_setcancelstate xs_setcancelstate
#define pthread_setcanceltype xs_setcanceltype
#define pthread_sigmask xs_sigmask
#define pthread_testcancel xs_testcancel
#define clock_gettime xs_clock_gettime
#define nanosleep xs_nanosleep
#define sched_yield xs_yield
#define syscall xs_syscall
#define __builtin_ia32_pause xs_pause
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * layer.h - redirects the library's calls to the explorer: included before each of its sources (cc -include).
 *
 * Redirected are the calls by which the library blocks, wakes, reads a clock or ends.  ../engine/layer.h has
 * those that ../shared/ needs, too.
 */
#ifndef XP_LAYER_H
#define XP_LAYER_H

#include "../engine/layer.h"

int xp_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int xp_mutex_destroy(pthread_mutex_t *mutex);
void xp_make_anew(pthread_mutex_t *mutex);
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
void xp_testcancel(void);
pthread_t xp_self(void);
long xp_syscall(long number, ...);
void xp_pause(void);
int xp_yield(void);
bool xp_answers_otherwise(void);    /* for instead/awake.c: choose the unusual answer? */
bool xp_in_convoy(void);            /* likewise: do many waiters form a convoy in this run? */
int xp_fprintf(FILE *file, const char *format, ...);

#ifndef XP_EXPLORER
#define pthread_mutex_init xp_mutex_init
#define pthread_mutex_destroy xp_mutex_destroy
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
#define pthread_testcancel xp_testcancel
#define pthread_self xp_self
#define syscall xp_syscall
#define fprintf xp_fprintf
#define __builtin_ia32_pause xp_pause
#define sched_yield xp_yield
#define FS_ROUNDS_MAX 1
#define FS_MAKE_ANEW xp_make_anew
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fairsem/posix.h - the POSIX names, made fair.
 *
 * Include it instead of <semaphore.h> and recompile: sem_t and its functions are then this
 * library's, in the rest of the source file.  It does not matter whether <semaphore.h> is
 * included too, before or after; other headers that use sem_t must go before.
 *
 *     #include <fairsem/posix.h>               cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 *     sem_t slots;
 *     sem_init(&slots, 0, 4);
 *     sem_wait(&slots);
 *
 * Results, errno and EINTR are those of glibc on Linux; every wait is a cancellation point;
 * sem_post may be called in a signal handler, whatever it interrupted.  fairsem_posix(7) says
 * more.
 *
 * WHAT DIFFERS
 *   - Waiters are served in order of arrival.  Those under SCHED_FIFO and SCHED_RR go first,
 *     the highest real-time priority before others, as POSIX asks of sem_post.
 *   - A sem_t has 256 bytes and must be initialized with sem_init.  It belongs to one
 *     process: sem_init with pshared fails with ENOSYS; so do sem_open, sem_close and
 *     sem_unlink.
 *   - All sources that share a sem_t must be compiled with the same header: the types have
 *     different names, so that the compiler, and in C++ the linker, notices.
 *   - Call sem_destroy before the memory of a sem_t ends: then that may be at once, in a
 *     thread whose wait has returned.
 *   - A wait in a signal handler that interrupted a wait on the same semaphore comes after it.
 *   - An operation on a semaphore that was destroyed is not detected, as in glibc.
 *
 * Linux only: elsewhere sem_init fails with ENOSYS.  Since 0.1.
 */
#ifndef FAIRSEM_POSIX_H
#define FAIRSEM_POSIX_H

/* Before the names below mean something else. */
#include <semaphore.h>

#include <fairsem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fairsem_sem {
    fairsem_t fairsem_inside_;
} fairsem_sem_t;

/* -1 and EINVAL: value > SEM_VALUE_MAX; ENOSYS: pshared is not 0. */
FAIRSEM_API int fairsem_sem_init(fairsem_sem_t *sem, int pshared, unsigned value);

/* 0.  While somebody waits it changes nothing, and the semaphore goes on working. */
FAIRSEM_API int fairsem_sem_destroy(fairsem_sem_t *sem);

/* -1 and EINTR.  Cancellation point, also if a unit is free. */
FAIRSEM_API int fairsem_sem_wait(fairsem_sem_t *sem);

/* -1 and EAGAIN: no unit is free, or somebody waits. */
FAIRSEM_API int fairsem_sem_trywait(fairsem_sem_t *sem);

/*
 * -1 and EINVAL: tv_nsec outside 0 .. 999999999, or an unknown clock, even if a unit is
 * free; ETIMEDOUT; EINTR.  Cancellation points, also if a unit is free.
 */
FAIRSEM_API int fairsem_sem_timedwait(fairsem_sem_t *sem, const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_timedwait);
FAIRSEM_API int fairsem_sem_clockwait(fairsem_sem_t *sem, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_clockwait);

/* -1 and EOVERFLOW: the value is SEM_VALUE_MAX.  Async-signal-safe. */
FAIRSEM_API int fairsem_sem_post(fairsem_sem_t *sem);

/* 0; *value is 0 while somebody waits. */
FAIRSEM_API int fairsem_sem_getvalue(fairsem_sem_t *sem, int *value);

/* Named semaphores are between processes: SEM_FAILED or -1, and ENOSYS. */
FAIRSEM_API fairsem_sem_t *fairsem_sem_open(const char *name, int oflag, ...);
FAIRSEM_API int fairsem_sem_close(fairsem_sem_t *sem);
FAIRSEM_API int fairsem_sem_unlink(const char *name);

#ifdef __cplusplus
}
#endif

#define sem_t         fairsem_sem_t
#define sem_init      fairsem_sem_init
#define sem_destroy   fairsem_sem_destroy
#define sem_wait      fairsem_sem_wait
#define sem_trywait   fairsem_sem_trywait
#define sem_timedwait fairsem_sem_timedwait
#define sem_clockwait fairsem_sem_clockwait
#define sem_post      fairsem_sem_post
#define sem_getvalue  fairsem_sem_getvalue
#define sem_open      fairsem_sem_open
#define sem_close     fairsem_sem_close
#define sem_unlink    fairsem_sem_unlink

#endif /* FAIRSEM_POSIX_H */

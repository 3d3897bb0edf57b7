/* SPDX-License-Identifier: MIT */
/*
 * fairsem/posix.h - the POSIX names, made fair.
 *
 * Include it instead of <semaphore.h> and recompile.  In the rest of the source file, sem_t and
 * its functions are then those of this library.  You may also include <semaphore.h>, before or
 * after.  Include other headers that use sem_t before this one.
 *
 * Example:
 *
 *     #include <fairsem/posix.h>
 *
 *     static sem_t slots;
 *
 *     int main(void)
 *     {
 *         if (sem_init(&slots, 0, 4) != 0)
 *             return 1;
 *         sem_wait(&slots);
 *         // at most four threads are here
 *         sem_post(&slots);
 *         return sem_destroy(&slots);
 *     }
 *
 * To build it:  cc prog.c $(pkg-config --cflags --libs fairsem)
 *
 * Results, errno and EINTR are those of glibc on Linux.  Every wait is a cancellation point.
 * A signal handler may call sem_post, whatever it interrupted.  fairsem_posix(7) says more.
 *
 * WHAT DIFFERS
 *   - Waiters are granted units in order of arrival.  Those under SCHED_FIFO and SCHED_RR come
 *     before the others, the highest real-time priority first, as POSIX asks of sem_post.
 *   - A sem_t has 256 bytes and must be initialized with sem_init.  It belongs to one
 *     process: sem_init with pshared fails with ENOSYS, and so do sem_open, sem_close and
 *     sem_unlink.
 *   - All source files that share a sem_t must be compiled with the same header.  The two types
 *     have different names, so the compiler, and in C++ the linker, reports a mixture.
 *   - Call sem_destroy before you free or reuse the memory of a sem_t.  A thread whose wait has
 *     returned may do both at once.
 *   - If a signal handler interrupts a wait and waits on the same semaphore, its wait comes
 *     after the one that it interrupted.
 *   - A wait, sem_trywait, sem_post or sem_destroy on a sem_t that is all zero or destroyed prints
 *     a message and aborts the program.  In glibc such a semaphore works.
 *
 * Linux only: elsewhere sem_init fails with ENOSYS.  Since 1.0.
 */
#ifndef FAIRSEM_POSIX_H
#define FAIRSEM_POSIX_H

/* It must come before the macros below give its names another meaning. */
#include <semaphore.h>

#include <fairsem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fairsem_sem {
    fairsem_t fairsem_inside_;
} fairsem_sem_t;

/*
 * Each function returns 0, or -1 with errno set to one of the values that its comment lists.
 */

/* EINVAL: value > SEM_VALUE_MAX.  ENOSYS: pshared is not 0, or this is not Linux. */
FAIRSEM_API int fairsem_sem_init(fairsem_sem_t *sem, int pshared, unsigned value);

/* Always returns 0.  While somebody waits, it changes nothing: the semaphore goes on working. */
FAIRSEM_API int fairsem_sem_destroy(fairsem_sem_t *sem);

/* EINTR: a signal handler ran.  This is a cancellation point, even if a unit is free. */
FAIRSEM_API int fairsem_sem_wait(fairsem_sem_t *sem);

/* EAGAIN: no unit is free, or somebody waits. */
FAIRSEM_API int fairsem_sem_trywait(fairsem_sem_t *sem);

/*
 * EINVAL: tv_nsec outside 0 .. 999999999, or an unknown clock, even if a unit is free.
 * ETIMEDOUT: the deadline has passed.  EINTR: a signal handler ran.  Both functions are
 * cancellation points, even if a unit is free.
 */
FAIRSEM_API int fairsem_sem_timedwait(fairsem_sem_t *sem, const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_timedwait);
FAIRSEM_API int fairsem_sem_clockwait(fairsem_sem_t *sem, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_clockwait);

/* EOVERFLOW: the value is SEM_VALUE_MAX already.  The function is async-signal-safe. */
FAIRSEM_API int fairsem_sem_post(fairsem_sem_t *sem);

/* Always returns 0.  *value is 0 while somebody waits. */
FAIRSEM_API int fairsem_sem_getvalue(fairsem_sem_t *sem, int *value);

/* ENOSYS: always, because named semaphores are between processes.  sem_open returns SEM_FAILED. */
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

/* SPDX-License-Identifier: MIT */
/*
 * fairsem/posix.h - the POSIX names, made fair.
 *
 * Include this header instead of <semaphore.h> and recompile: in the rest of the source file, sem_t and its
 * functions are those of this library.  You may also include <semaphore.h>, before or after this header;
 * NAMES below says how the order matters.  Include other headers that use sem_t before this header.
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
 *   - Waiters are granted units in order of arrival.  Threads under SCHED_FIFO and SCHED_RR come
 *     before all others, the highest real-time priority first, as POSIX requires of sem_post.
 *   - A sem_t has 256 bytes, on macOS 288.  It belongs to one process: sem_init with pshared fails
 *     with ENOSYS, and so do sem_open, sem_close and sem_unlink.
 *   - All source files that share a sem_t must be compiled with this header.  Its sem_t has another
 *     name than libc's, so the compiler, and in C++ the linker, reports a mixture.
 *   - Call sem_destroy before you free or reuse the memory of a sem_t.  A thread whose wait has
 *     returned may destroy and free at once.
 *   - If the handler of a signal waits on the sem_t whose wait it has interrupted, the handler's wait
 *     comes after the interrupted wait.
 *   - A wait, sem_post or sem_destroy on a destroyed sem_t aborts the program, with a message.  In
 *     glibc such a call works.
 *
 * An all-zero sem_t has the value 0, as in glibc.
 *
 * NAMES
 *   - If <semaphore.h> has not been included before this header, this header declares the same names,
 *     but each function has another name for the linker.  No name is a macro.
 *   - If it has been included before, in C++, functions for this library's semaphores are overloaded with
 *     libc's.  (The headers of C++20 include <semaphore.h>.)  An ambiguous use, such as
 *     decltype(&sem_destroy), does not compile: write fairsem_sem_destroy.  Only sem_t, sem_open and
 *     sem_unlink are macros.
 *   - If it has been included before, in C, all names are macros.  They also rename members of structs.
 *
 * Linux only: elsewhere sem_init fails with ENOSYS.  Since 1.0.
 */
#ifndef FAIRSEM_POSIX_H
#define FAIRSEM_POSIX_H

#include <fairsem.h>

/*
 * Private.  FAIRSEM_NAMES_ARE_FREE_ is 1 if this header can give libc's declarations other names, and take
 * the names of POSIX itself.  It is 0 if libc's header, which defines SEM_FAILED, was included before, and
 * on systems other than Linux, where a name may have a prefix for the linker.
 */
#if defined(__linux__) && defined(__GNUC__) && !defined(SEM_FAILED)
#define FAIRSEM_NAMES_ARE_FREE_ 1
#else
#define FAIRSEM_NAMES_ARE_FREE_ 0
#endif

#if FAIRSEM_NAMES_ARE_FREE_
#define sem_t         fairsem_libc_sem_t
#define sem_init      fairsem_libc_sem_init
#define sem_destroy   fairsem_libc_sem_destroy
#define sem_wait      fairsem_libc_sem_wait
#define sem_trywait   fairsem_libc_sem_trywait
#define sem_timedwait fairsem_libc_sem_timedwait
#define sem_clockwait fairsem_libc_sem_clockwait
#define sem_post      fairsem_libc_sem_post
#define sem_getvalue  fairsem_libc_sem_getvalue
#define sem_open      fairsem_libc_sem_open
#define sem_close     fairsem_libc_sem_close
#define sem_unlink    fairsem_libc_sem_unlink
#include <semaphore.h>
#undef sem_t
#undef sem_init
#undef sem_destroy
#undef sem_wait
#undef sem_trywait
#undef sem_timedwait
#undef sem_clockwait
#undef sem_post
#undef sem_getvalue
#undef sem_open
#undef sem_close
#undef sem_unlink
#else
#include <semaphore.h>
#endif

/*
 * Private.  The compiler warns about calls that always fail with ENOSYS: sem_open, and sem_init with a
 * constant pshared other than 0, which gcc sees only when it optimizes.
 */
#define FAIRSEM_FAILS_
#if defined(__has_attribute)
#if __has_attribute(__warning__)
#undef FAIRSEM_FAILS_
#define FAIRSEM_FAILS_ __attribute__((__warning__("it fails with ENOSYS: see fairsem_posix(7)")))
#endif
#endif
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#pragma clang diagnostic ignored "-Wuser-defined-warnings"   /* within this header */
#define FAIRSEM_FAILS_IF_(condition) \
    __attribute__((__diagnose_if__(condition, "it fails with ENOSYS: see fairsem_posix(7)", "warning")))
#else
#define FAIRSEM_FAILS_IF_(condition)
#endif

#ifdef __cplusplus
extern "C" {
#endif

FAIRSEM_CHECK_LAYOUT_(fairsem_sem);

typedef struct fairsem_sem {
    fairsem_t fairsem_inside_;
} fairsem_sem_t;

/*
 * Each function returns 0, or -1 and an errno value from its comment.
 */

/* EINVAL: value > SEM_VALUE_MAX.  ENOSYS: pshared is not 0, or this is not Linux. */
FAIRSEM_API int fairsem_sem_init(fairsem_sem_t *sem, int pshared, unsigned value)
    FAIRSEM_NONNULL_(1) FAIRSEM_FAILS_IF_(pshared != 0);

/* Always returns 0.  While a thread waits, this call changes nothing: the semaphore remains usable. */
FAIRSEM_API int fairsem_sem_destroy(fairsem_sem_t *sem) FAIRSEM_NONNULL_(1);

/* EINTR: a signal handler ran.  A cancellation point, even with a free unit. */
FAIRSEM_API int fairsem_sem_wait(fairsem_sem_t *sem) FAIRSEM_NONNULL_(1);

/* EAGAIN: no unit is free, or somebody waits. */
FAIRSEM_API int fairsem_sem_trywait(fairsem_sem_t *sem) FAIRSEM_NONNULL_(1);

/*
 * EINVAL: tv_nsec outside 0 .. 999999999, or an unknown clock, even if a unit is free.
 * ETIMEDOUT: the deadline has passed.  EINTR: a signal handler ran.  Both functions are
 * cancellation points, even with a free unit.
 */
FAIRSEM_API int fairsem_sem_timedwait(fairsem_sem_t *sem, const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_timedwait) FAIRSEM_NONNULL_(1, 2);
FAIRSEM_API int fairsem_sem_clockwait(fairsem_sem_t *sem, clockid_t clock,
                                      const struct timespec *deadline)
    FAIRSEM_TIME64_(fairsem_sem_clockwait) FAIRSEM_NONNULL_(1, 3);

/* EOVERFLOW: the value is SEM_VALUE_MAX already.  The function is async-signal-safe. */
FAIRSEM_API int fairsem_sem_post(fairsem_sem_t *sem) FAIRSEM_NONNULL_(1);

/* Always returns 0.  *value is 0 while somebody waits. */
FAIRSEM_API int fairsem_sem_getvalue(fairsem_sem_t *sem, int *value) FAIRSEM_NONNULL_(1, 2);

/* ENOSYS: always, because named semaphores are between processes.  sem_open returns SEM_FAILED. */
FAIRSEM_API fairsem_sem_t *fairsem_sem_open(const char *name, int oflag, ...)
    FAIRSEM_NONNULL_(1) FAIRSEM_FAILS_;
FAIRSEM_API int fairsem_sem_close(fairsem_sem_t *sem) FAIRSEM_NONNULL_(1);
FAIRSEM_API int fairsem_sem_unlink(const char *name) FAIRSEM_NONNULL_(1);

/* ======================================================================== *
 *  The names of POSIX
 * ======================================================================== */

#if FAIRSEM_NAMES_ARE_FREE_

/* Private.  The declared function is the library's function `name`. */
#define FAIRSEM_IS_(name) __asm__(#name)
#ifdef FAIRSEM_ASM_TIME64_
#define FAIRSEM_IS_TIMED_(name) FAIRSEM_ASM_TIME64_(name)
#else
#define FAIRSEM_IS_TIMED_(name) FAIRSEM_IS_(name)
#endif

typedef fairsem_sem_t sem_t;

extern FAIRSEM_API int sem_init(sem_t *sem, int pshared, unsigned value)
    FAIRSEM_FAILS_IF_(pshared != 0) FAIRSEM_IS_(fairsem_sem_init) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_destroy(sem_t *sem)
    FAIRSEM_IS_(fairsem_sem_destroy) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_wait(sem_t *sem) FAIRSEM_IS_(fairsem_sem_wait) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_trywait(sem_t *sem)
    FAIRSEM_IS_(fairsem_sem_trywait) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_timedwait(sem_t *sem, const struct timespec *deadline)
    FAIRSEM_IS_TIMED_(fairsem_sem_timedwait) FAIRSEM_NONNULL_(1, 2);
extern FAIRSEM_API int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *deadline)
    FAIRSEM_IS_TIMED_(fairsem_sem_clockwait) FAIRSEM_NONNULL_(1, 3);
extern FAIRSEM_API int sem_post(sem_t *sem) FAIRSEM_IS_(fairsem_sem_post) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_getvalue(sem_t *sem, int *value)
    FAIRSEM_IS_(fairsem_sem_getvalue) FAIRSEM_NONNULL_(1, 2);
extern FAIRSEM_API sem_t *sem_open(const char *name, int oflag, ...)
    FAIRSEM_IS_(fairsem_sem_open) FAIRSEM_NONNULL_(1) FAIRSEM_FAILS_;
extern FAIRSEM_API int sem_close(sem_t *sem) FAIRSEM_IS_(fairsem_sem_close) FAIRSEM_NONNULL_(1);
extern FAIRSEM_API int sem_unlink(const char *name)
    FAIRSEM_IS_(fairsem_sem_unlink) FAIRSEM_NONNULL_(1);

#if defined(__OPTIMIZE__) && !defined(__clang__)
extern FAIRSEM_API int fairsem_init_shared_(sem_t *sem, int pshared, unsigned value)
    FAIRSEM_IS_(fairsem_sem_init) FAIRSEM_FAILS_;

extern __inline__ __attribute__((__gnu_inline__, __always_inline__))
int sem_init(sem_t *sem, int pshared, unsigned value)
{
    if (__builtin_constant_p(pshared) && pshared != 0)
        return fairsem_init_shared_(sem, pshared, value);
    return fairsem_sem_init(sem, pshared, value);
}
#endif

#else

/* Macros: a type cannot be declared again, and functions with the same parameters cannot be overloaded. */
#define sem_t      fairsem_sem_t
#define sem_open   fairsem_sem_open
#define sem_unlink fairsem_sem_unlink

#ifdef __cplusplus
extern "C++" {

/* The waits are not noexcept: a cancellation must pass through them. */
FAIRSEM_NONNULL_(1) inline int sem_init(fairsem_sem_t *sem, int pshared, unsigned value)
    FAIRSEM_FAILS_IF_(pshared != 0)
{
    return fairsem_sem_init(sem, pshared, value);
}

FAIRSEM_NONNULL_(1) inline int sem_destroy(fairsem_sem_t *sem)
{
    return fairsem_sem_destroy(sem);
}

FAIRSEM_NONNULL_(1) inline int sem_wait(fairsem_sem_t *sem)
{
    return fairsem_sem_wait(sem);
}

FAIRSEM_NONNULL_(1) inline int sem_trywait(fairsem_sem_t *sem)
{
    return fairsem_sem_trywait(sem);
}

FAIRSEM_NONNULL_(1, 2)
inline int sem_timedwait(fairsem_sem_t *sem, const struct timespec *deadline)
{
    return fairsem_sem_timedwait(sem, deadline);
}

FAIRSEM_NONNULL_(1, 3)
inline int sem_clockwait(fairsem_sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
    return fairsem_sem_clockwait(sem, clock, deadline);
}

FAIRSEM_NONNULL_(1) inline int sem_post(fairsem_sem_t *sem)
{
    return fairsem_sem_post(sem);
}

FAIRSEM_NONNULL_(1, 2) inline int sem_getvalue(fairsem_sem_t *sem, int *value)
{
    return fairsem_sem_getvalue(sem, value);
}

FAIRSEM_NONNULL_(1) inline int sem_close(fairsem_sem_t *sem)
{
    return fairsem_sem_close(sem);
}

} /* extern "C++" */
#else

/*
 * Macros without parameters, so that &sem_post works.  Members of structs are renamed, too, but only within
 * this source file: the linker does not see their names.
 */
#define sem_init      fairsem_sem_init
#define sem_destroy   fairsem_sem_destroy
#define sem_wait      fairsem_sem_wait
#define sem_trywait   fairsem_sem_trywait
#define sem_timedwait fairsem_sem_timedwait
#define sem_clockwait fairsem_sem_clockwait
#define sem_post      fairsem_sem_post
#define sem_getvalue  fairsem_sem_getvalue
#define sem_close     fairsem_sem_close
#endif
#endif

#ifdef __cplusplus
}
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif /* FAIRSEM_POSIX_H */

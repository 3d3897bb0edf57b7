/* SPDX-License-Identifier: MIT */
/*
 * invariant.h - stop the program where a fault of this library is found.
 *
 * A mistake of the caller, or a failure of the environment, is reported as a result.  FS_INVARIANT
 * checks in every build what must hold in any case: a semaphore that goes on after a broken invariant
 * turns one bug into a hang somewhere else.
 */
#ifndef FS_INVARIANT_H
#define FS_INVARIANT_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The test build also checks what is too expensive for every build: sem_check.c. */
#if !defined(FS_CHECKED)
#define FS_CHECKED 0
#endif

/* The string "FILE:LINE: ". */
#define FS_HERE_OF(file, line)  file ":" #line ": "
#define FS_HERE_IN(file, line)  FS_HERE_OF(file, line)
#define FS_HERE                 FS_HERE_IN(__FILE__, __LINE__)

#define FS_INVARIANT(condition, what)                          \
    do {                                                       \
        if (!(condition))                                      \
            fs_stop(FS_HERE "broken: ", (what));               \
    } while (0)

/* fprintf() is a cancellation point, but a canceled thread must still reach abort(). */
static inline _Noreturn void fs_stop(const char *where, const char *what)
{
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    fprintf(stderr, "fairsem: %s%s\n", where, what);
    abort();
}

/*
 * End the program after a usage error that no result can report.  The message has the semaphore's
 * address, and the caller: misuse.c.
 */
_Noreturn void fs_usage_error(const void *sem, const char *what);

/* For pthread calls that cannot fail unless memory was overwritten. */
#define FS_MUST(call) FS_INVARIANT((call) == 0, #call)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * invariant.h - stop at the fault when this library itself is wrong.
 *
 * What a caller or the world does wrong is a result.  What must be true whatever they
 * do is checked here, in every build, because a semaphore that goes on after a broken
 * invariant turns one bug into a hang somewhere else.
 */
#ifndef FS_INVARIANT_H
#define FS_INVARIANT_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* "FILE:LINE: " */
#define FS_HERE_OF(file, line)  file ":" #line ": "
#define FS_HERE_IN(file, line)  FS_HERE_OF(file, line)
#define FS_HERE                 FS_HERE_IN(__FILE__, __LINE__)

#define FS_INVARIANT(condition, what)                          \
    do {                                                       \
        if (!(condition))                                      \
            fs_stop(FS_HERE "broken: ", (what));               \
    } while (0)

/* fprintf is a cancellation point: a thread that is to be canceled must still come to abort. */
static inline _Noreturn void fs_stop(const char *where, const char *what)
{
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    fprintf(stderr, "fairsem: %s%s\n", where, what);
    abort();
}

/* What no result can say, because there is no semaphore to work on. */
static inline _Noreturn void fs_misused(const char *what)
{
    fs_stop("", what);
}

/* For pthread calls that cannot fail unless memory was overwritten. */
#define FS_MUST(call) FS_INVARIANT((call) == 0, #call)

#endif

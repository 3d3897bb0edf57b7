/* SPDX-License-Identifier: MIT */
/*
 * hang.h - when a test counts as hanging: the one limit of time that tests have.  In C and in C++,
 * with Check and without it.
 *
 * No test is that slow, not on a busy machine and not under a sanitizer: who reaches the limit
 * hangs.  CK_TIMEOUT_MULTIPLIER, which Check knows as well, makes it longer, or shorter (0.05) where
 * hangs are wanted soon.
 */
#ifndef HANG_H
#define HANG_H

#include <stdlib.h>
#include <unistd.h>

#define HANG_S 300      /* before it is multiplied */

/* In whole seconds, at least 1.  It counts up to them: C and C++ have no cast in common. */
static inline unsigned hang_limit_s(void)
{
    const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");
    double wanted = HANG_S * (multiplier != NULL ? strtod(multiplier, NULL) : 1);
    unsigned seconds = 1;

    while (seconds < wanted && seconds < 100000000)
        seconds++;
    return seconds;
}

/* End this process by SIGALRM if it still runs then. */
static inline void hang_alarm(void)
{
    alarm(hang_limit_s());
}

#endif

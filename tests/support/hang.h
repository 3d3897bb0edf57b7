/* SPDX-License-Identifier: MIT */
/*
 * hang.h - the time after which a test counts as hanging, for C and C++, with Check and without it.  Tests have
 * no other limit of time.
 *
 * Even on a busy machine or under a sanitizer no test is so slow: a test that reaches the limit hangs.
 * CK_TIMEOUT_MULTIPLIER, which Check uses as well, makes the limit longer.  For a test that is expected to
 * hang, it makes the limit shorter (0.05).
 */
#ifndef HANG_H
#define HANG_H

#include <stdlib.h>
#include <unistd.h>

#define HANG_S 300      /* seconds, before the multiplication */

/* Returns whole seconds, at least 1.  A loop counts them, because C and C++ have no common cast. */
static inline unsigned hang_limit_s(void)
{
    const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");
    double wanted = HANG_S * (multiplier != NULL ? strtod(multiplier, NULL) : 1);
    unsigned seconds = 1;

    while (seconds < wanted && seconds < 100000000)
        seconds++;
    return seconds;
}

/* End this process by SIGALRM if it still runs at the limit. */
static inline void hang_alarm(void)
{
    alarm(hang_limit_s());
}

#endif

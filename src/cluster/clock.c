/* SPDX-License-Identifier: MIT */
/* clock.c - see clock.h. */
#include "clock.h"

#include <sys/timerfd.h>
#include <time.h>

int64_t fs_boot_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * FS_NS_PER_S + now.tv_nsec;
}

void fs_alarm_set(int alarm, int64_t at)
{
    struct itimerspec when = { { 0, 0 }, { 0, 0 } };

    /* FS_NEVER leaves all members 0, which disarms the timer.  A time of 0 becomes 1 ns, to expire at once. */
    if (at != FS_NEVER) {
        when.it_value.tv_sec = (time_t)(at / FS_NS_PER_S);
        when.it_value.tv_nsec = at > 0 ? (long)(at % FS_NS_PER_S) : 1;
    }
    timerfd_settime(alarm, TFD_TIMER_ABSTIME, &when, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * deadline.h - the deadline of a wait: an absolute time on a clock.
 *
 * A NULL pointer means no deadline.  A relative time is converted to a deadline once, so a loop that waits
 * again cannot lengthen the time.
 */
#ifndef FS_DEADLINE_H
#define FS_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct fs_deadline {
    clockid_t       clock;      /* CLOCK_MONOTONIC or CLOCK_REALTIME */
    struct timespec at;
};

bool fs_clock_valid(clockid_t clock);
bool fs_timespec_valid(const struct timespec *ts);

/*
 * Returns the time that is `ns` nanoseconds from now (ns > 0), on CLOCK_MONOTONIC.  If the seconds overflow,
 * they are the largest time_t.
 */
struct fs_deadline fs_deadline_after(int64_t ns);

/* Returns the time of CLOCK_MONOTONIC in nanoseconds, for durations. */
int64_t fs_now_ns(void);

/* Returns the processor time that this process has used, or 0 if that is unknown. */
int64_t fs_process_ns(void);

/*
 * Sleep for `ns` nanoseconds, less than a second, or until a signal handler has run.  Not a cancellation
 * point.  Keeps errno.
 */
void fs_sleep_shortly(int64_t ns);

bool fs_deadline_passed(const struct fs_deadline *deadline);

/* Returns the nanoseconds until the deadline, or 0 after it, but at most `most`, which is a year or less. */
int64_t fs_deadline_rest(const struct fs_deadline *deadline, int64_t most);

/*
 * Returns the earlier of two times: *end, and at_ns on CLOCK_MONOTONIC.  `end` may be NULL; *at is memory for
 * the result.  If *end is on another clock, that clock may be set during the sleep.  So in that case the result
 * is at most a second from now, even if both times are later.
 */
const struct fs_deadline *fs_deadline_or(const struct fs_deadline *end, int64_t at_ns,
                                         struct fs_deadline *at);

#endif

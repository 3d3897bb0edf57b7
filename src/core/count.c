/* SPDX-License-Identifier: MIT */
/* count.c - see count.h. */
#include "count.h"

const char *fs_why_canceled(bool ticket, enum fs_waiter_state state)
{
    switch (state) {
    case FS_CANCELED:    return "token";
    case FS_INTERRUPTED: return "signal";
    case FS_REFUSED:     return "capacity";
    case FS_CLOSED:      return "close";
    default:             return ticket ? "returned" : "thread";
    }
}

/* A count of mistakes: the last number stands for "or more". */
void fs_count_over_release(struct fs_sem *s, int64_t n, int64_t room)
{
    if (s->over_releases != UINT32_MAX)
        s->over_releases++;
    fs_probe_over_release(s, s->name, n, room);
}

/* SPDX-License-Identifier: MIT */
/* count.c - see count.h. */
#include "count.h"

const char *fs_end_word(enum fs_end end)
{
    static const char *const words[] = {
        [FS_BY_TOKEN] = "token", [FS_BY_SIGNAL] = "signal", [FS_BY_CANCEL] = "thread",
        [FS_BY_RETURN] = "returned", [FS_BY_CAPACITY] = "capacity", [FS_BY_CLOSE] = "close",
    };

    return words[end];
}

void fs_count_over_release(struct fs_sem *s, int64_t n, int64_t room)
{
    if (s->over_releases != UINT32_MAX)
        s->over_releases++;
    fs_probe_over_release(s, s->name, n, room);
}

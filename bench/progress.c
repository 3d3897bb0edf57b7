/* SPDX-License-Identifier: MIT */
/* progress.c - one line on stderr that shows the progress, if stderr is a terminal. */
#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 24 };

bool progress_visible(void)
{
    return isatty(STDERR_FILENO) == 1;
}

void progress_show(const char *what, double done)
{
    static const char full[] = "########################";
    static const char empty[] = "........................";
    int n = done <= 0 ? 0 : done >= 1 ? BAR : (int)(done * BAR);

    if (!progress_visible())
        return;
    fprintf(stderr, "\r%-46.46s [%.*s%.*s] %3d%%", what, n, full, BAR - n, empty,
            (int)(100.0 * n / BAR));
    fflush(stderr);
}

void progress_clear(void)
{
    if (progress_visible())
        fprintf(stderr, "\r%78s\r", "");
}

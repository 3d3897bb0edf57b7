/* SPDX-License-Identifier: MIT */
/* descriptors.c - see descriptors.h. */
#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

static int   *given;
static size_t given_count;
static bool   is_known;

/* Do something with each that is open. */
static bool each(void (*act)(int fd))
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (directory == NULL)
        return false;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            act(atoi(entry->d_name));
    }
    closedir(directory);
    return true;
}

static void add(int fd)
{
    int *more = realloc(given, (given_count + 1) * sizeof *given);

    if (more == NULL) {
        is_known = false;
        return;
    }
    given = more;
    given[given_count++] = fd;
}

static void hide_other(int fd)
{
    for (size_t i = 0; i < given_count; i++) {
        if (given[i] == fd)
            return;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void descriptors_are_given(void)
{
    is_known = true;
    is_known = each(add) && is_known;
}

void descriptors_hide_others(void)
{
    if (is_known)
        each(hide_other);
}

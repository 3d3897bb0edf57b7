/* SPDX-License-Identifier: MIT */
/* descriptors.c - see descriptors.h. */
#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

/* Do something with each that is open. */
static bool each(void (*act)(struct descriptors *given, int fd), struct descriptors *given)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (directory == NULL)
        return false;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            act(given, atoi(entry->d_name));
    }
    closedir(directory);
    return true;
}

static void add(struct descriptors *given, int fd)
{
    int *more = realloc(given->list, (given->count + 1) * sizeof *more);

    if (more == NULL) {
        given->known = false;
        return;
    }
    given->list = more;
    given->list[given->count++] = fd;
}

static void hide_other(struct descriptors *given, int fd)
{
    for (size_t i = 0; i < given->count; i++) {
        if (given->list[i] == fd)
            return;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void descriptors_are_given(struct descriptors *given)
{
    *given = (struct descriptors){ .known = true };
    given->known = each(add, given) && given->known;
}

void descriptors_hide_others(struct descriptors *given)
{
    if (given->known)
        each(hide_other, given);
}

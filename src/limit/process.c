/* SPDX-License-Identifier: MIT */
/* process.c - see process.h. */
#include "process.h"

#include <inttypes.h>
#include <stdio.h>

size_t process_command(const fairsem_shared_user_t *user, char *text, size_t size)
{
    char path[40];
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/cmdline", user->local_pid);
    file = user->local_pid > 0 ? fopen(path, "re") : NULL;
    if (file != NULL) {
        length = fread(text, 1, size - 1, file);
        fclose(file);
    }
    while (length > 0 && text[length - 1] == '\0')
        length--;
    text[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0')        /* the end of an argument */
            text[i] = ' ';
    }
    return length;
}

time_t process_since(const fairsem_shared_user_t *user)
{
    return time(NULL) - (time_t)(user->ns / 1000000000);
}

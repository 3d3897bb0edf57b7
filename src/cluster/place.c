/* SPDX-License-Identifier: MIT */
/* place.c - see place.h. */
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* The name of this program, as ps shows it. */
static void read_program(char *program, size_t size)
{
    int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, program, size - 1) : 0;

    if (file >= 0)
        close(file);
    program[length > 0 ? length : 0] = '\0';
    program[strcspn(program, "\n")] = '\0';
}

/* JSON is UTF-8, and people read it. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text >= 0x7f)
            *text = '?';
}

bool fs_place_fill(struct fs_place *place, const char *program)
{
    do
        if (getrandom(&place->lease, sizeof place->lease, 0) != (ssize_t)sizeof place->lease)
            return false;
    while ((place->lease &= INT64_MAX) == 0);
    place->pid = getpid();
    if (gethostname(place->host, sizeof place->host) != 0)
        place->host[0] = '\0';
    place->host[sizeof place->host - 1] = '\0';
    if (program != NULL)
        snprintf(place->program, sizeof place->program, "%s", program);
    else
        read_program(place->program, sizeof place->program);
    make_printable(place->host);
    make_printable(place->program);
    return true;
}

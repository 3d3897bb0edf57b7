/* SPDX-License-Identifier: MIT */
/* memory.c - see memory.h. */
#include "memory.h"

#include "emulated.h"

#include <stdio.h>
#include <unistd.h>

int64_t resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long long total, resident = 0;

    if (file == NULL)
        return 0;
    if (emulated())     /* most of it is the emulator's, and grows */
        resident = 0;
    else if (fscanf(file, "%lld %lld", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

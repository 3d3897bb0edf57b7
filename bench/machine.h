/* SPDX-License-Identifier: MIT */
/* machine.h - describe the machine on which the numbers were measured. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

struct machine {
    char cpu[80];
    char kernel[128];
    char libc[40];
    char clock[80];
    char compiler[96];
    int cores;   /* that this process may use */
    double load; /* average of the last minute; NaN if unknown */
};

void machine_look(struct machine *m);

/* Write the whole description as one line, without a line end. */
void machine_line(const struct machine *m, char *line, size_t size);

#endif /* BENCH_MACHINE_H */

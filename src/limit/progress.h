/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr, if that is a terminal: "3rd in line, 2 running, waited 12 s". */
#ifndef LIMIT_PROGRESS_H
#define LIMIT_PROGRESS_H

#include <fairsem/shared.h>

struct progress {
    fairsem_shared_t *slots;
    const char       *name;
    bool              terminal, shown;
};

void progress_begin(struct progress *p, fairsem_shared_t *slots, const char *name);

/* Returns in how many milliseconds it must be called again; -1: never. */
int progress_show(struct progress *p);

/* Remove the line. */
void progress_end(struct progress *p);

/* "st", "nd", "rd" or "th". */
const char *ordinal_suffix(int64_t n);

#endif

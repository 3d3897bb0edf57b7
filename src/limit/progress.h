/* SPDX-License-Identifier: MIT */
/* progress.h - one line on stderr, if that is a terminal: "3rd in line, 2 running, waited 12 s". */
#ifndef LIMIT_PROGRESS_H
#define LIMIT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What there is to say about a wait. */
struct standing {
    int64_t     place;
    int         running;
    const char *trouble;        /* NULL: none */
};

struct progress {
    const char *name;
    bool (*ask)(void *arg, struct standing *standing);  /* false: there is nothing to say yet */
    void       *arg;
    int         terminal;       /* its descriptor; -1: stderr is none */
    struct timespec began;
    bool        shown;
};

void progress_begin(struct progress *p, const char *name,
                    bool (*ask)(void *arg, struct standing *standing), void *arg);

/* Returns in how many milliseconds it must be called again; -1: never. */
int progress_show(struct progress *p);

/* Remove the line. */
void progress_end(struct progress *p);

/* Is it a terminal that obeys control sequences, as far as TERM says? */
bool terminal_can_erase(int fd);

/* "st", "nd", "rd" or "th". */
const char *ordinal_suffix(int64_t n);

#endif

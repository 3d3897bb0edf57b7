/* SPDX-License-Identifier: MIT */
/* values.h - private to record.c and values.c: the run that is recorded, and its values. */
#ifndef LITMUS_VALUES_H
#define LITMUS_VALUES_H

#include "explorer.h"

#include <setjmp.h>

enum { SECTIONS = 6, LOCKED = 1, UNLOCKED = 2 };

/* Why a run ends early. */
enum { STOPPED = 1, WAITS_FOR_EVER, IMPOSSIBLE };

extern int self;                    /* the thread that runs; -1: none, and nothing is recorded */
extern jmp_buf end;
extern unsigned char at_first[SHARED];

/* All runs: what is known of all of them, and the choices of the next one. */
void values_forget(void);
bool values_grow(void);             /* have they, since the last call? */
bool next_choices(void);            /* false: there have been all */

/* One run. */
void    values_begin(void);
int64_t guess(int location);
void    note_stored(int location, int64_t value);
int64_t note_lock(int mutex);       /* what the mutex has stored in it */
int64_t note_unlock(int mutex);     /* what the mutex stores then */
void    values_end(void);

#endif

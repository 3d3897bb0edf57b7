/* SPDX-License-Identifier: MIT */
/* search.h - what schedule.c, which makes one run, and search.c, which makes all, share. */
#ifndef XP_SEARCH_H
#define XP_SEARCH_H

#include "explore.h"


/* A run from its beginning.  False if it failed. */
bool run_once(struct outcome *outcome);

void decisions_begin(void);     /* of a run */
bool decisions_are_new(void);   /* all prescribed decisions have been made */
void decisions_forget(void);    /* before the first run */
bool decisions_next(void);      /* of the next run, if there is one */

#endif

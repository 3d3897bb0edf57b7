/* SPDX-License-Identifier: MIT */
/* doctored.h - does the checker find what it is there for? */
#ifndef DOCTORED_H
#define DOCTORED_H

#include <stdbool.h>

/* Histories with a known verdict; says which is judged wrongly. */
bool doctored_histories_are_judged_rightly(void);

#endif

/* SPDX-License-Identifier: MIT */
/* doctored.h - does the checker find passes, and only passes? */
#ifndef DOCTORED_H
#define DOCTORED_H

#include <stdbool.h>

/* Checks histories with a known verdict, and prints those that are judged wrongly. */
bool doctored_histories_are_judged_rightly(void);

#endif

/* SPDX-License-Identifier: MIT */
/* duration.h - a duration as text: "12 s", "4 min 12 s", "3 h 5 min". */
#ifndef LIMIT_DURATION_H
#define LIMIT_DURATION_H

#include <stdint.h>

enum { DURATION_SIZE = 40 };

/* Returns text. */
const char *duration_text(int64_t ns, char text[DURATION_SIZE]);

#endif

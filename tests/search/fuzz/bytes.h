/* SPDX-License-Identifier: MIT */
/* bytes.h - reads the input as small decisions.  After the end of the input, all decisions are 0. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void    bytes_are(const uint8_t *data, size_t size);
bool    bytes_end(void);
uint8_t byte(void);
int     below(int n);       /* 0 .. n - 1 */

/* A number of units: mostly small, sometimes at a limit or beyond it. */
int64_t units(void);
int     priority(void);     /* mostly 0 */
int     reason(void);       /* for a close or a cancel */
int64_t nanoseconds(void);  /* a relative time, mostly below 10 us */

#endif

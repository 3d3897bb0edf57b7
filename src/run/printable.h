/* SPDX-License-Identifier: MIT */
/* printable.h - a text of somebody else's, on a terminal, which obeys control characters. */
#ifndef RUN_PRINTABLE_H
#define RUN_PRINTABLE_H

#include <string.h>

/*
 * How many bytes at `text` are a control character: 0, 1, or 2 for those that UTF-8 has besides the
 * ones of ASCII.
 */
static inline int control_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    return (c[0] != '\0' && c[0] < ' ') || c[0] == 0x7f;
}

/* Blanks instead of them. */
static inline void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        memset(text, ' ', (size_t)control_length(text));
}

#endif

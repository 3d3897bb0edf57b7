/* SPDX-License-Identifier: MIT */
/*
 * printable.h - replace the control characters of untrusted text, which a terminal would obey; and check
 * for UTF-8.
 */
#ifndef RUN_PRINTABLE_H
#define RUN_PRINTABLE_H

#include <string.h>

/*
 * Returns the length of the control character at `text`: 1 in ASCII, 2 for U+0080 to U+009F in UTF-8; or 0
 * if there is none.
 */
static inline int control_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    return (c[0] != '\0' && c[0] < ' ') || c[0] == 0x7f;
}

/* Returns the length of the character at `text` if it is valid UTF-8, else 0. */
static inline size_t character_length(const unsigned char *text)
{
    static const struct { unsigned char least, most; size_t length; unsigned lowest; } form[] = {
        { 0x00, 0x7f, 1, 0 }, { 0xc2, 0xdf, 2, 0x80 }, { 0xe0, 0xef, 3, 0x800 },
        { 0xf0, 0xf4, 4, 0x10000 },
    };

    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        size_t length = form[i].length;
        unsigned code;

        if (text[0] < form[i].least || text[0] > form[i].most)
            continue;
        code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
        for (size_t j = 1; j < length; j++) {
            if ((text[j] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[j] & 0x3f);
        }
        /* Reject an overlong form, a surrogate, and a code above U+10FFFF. */
        return code < form[i].lowest || code / 0x800 == 0x1b || code > 0x10ffff ? 0 : length;
    }
    return 0;
}

/* Replace control characters by blanks. */
static inline void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        memset(text, ' ', (size_t)control_length(text));
}

#endif

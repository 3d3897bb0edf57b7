/* SPDX-License-Identifier: MIT */
/* base64.c - see base64.h. */
#include "base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fs_base64_write(const void *bytes, size_t n, char *out)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < n; i += 3) {
        unsigned word = (unsigned)in[i] << 16;

        if (i + 1 < n)
            word |= (unsigned)in[i + 1] << 8;
        if (i + 2 < n)
            word |= in[i + 2];
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = i + 1 < n ? digits[word >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digits[word & 63] : '=';
    }
    *out = '\0';
}

long fs_base64_read(const char *text, size_t n, unsigned char *out)
{
    unsigned word = 0;
    size_t length = 0;

    if (n % 4 != 0)
        return -1;
    while (n > 0 && length < 2 && text[n - 1] == '=') {
        n--;
        length++;
    }
    length = 0;
    for (size_t i = 0; i < n; i++) {
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

        if (digit == NULL)
            return -1;
        word = word << 6 | (unsigned)(digit - digits);
        if (i % 4 != 0)
            out[length++] = (unsigned char)(word >> (6 - i % 4 * 2));
    }
    return (long)length;
}

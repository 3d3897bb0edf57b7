/* SPDX-License-Identifier: MIT */
/* complain.c - see complain.h. */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

void complain(const char *format, ...)
{
    va_list args;

    fputs("fairsem-run: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

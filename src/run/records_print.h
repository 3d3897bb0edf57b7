/* SPDX-License-Identifier: MIT */
/* records_print.h - print the statistics of a program, for people. */
#ifndef FS_RECORDS_PRINT_H
#define FS_RECORDS_PRINT_H

#include "preload/records.h"

#include <stdio.h>

/*
 * path: the program's file, for source lines, which are printed if addr2line is installed.  bypass_ns: the
 * time of --bypass, or 0.
 */
void records_print(FILE *file, const struct fs_records *records, const char *path, int64_t bypass_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* data_file.h - files with the numbers behind tables and plots, if somebody wants them. */
#ifndef BENCH_DATA_FILE_H
#define BENCH_DATA_FILE_H

#include <stdbool.h>

/* Write into this directory, which exists; what an earlier run left there is lost. */
void data_directory(const char *path);

/* True if a directory was named: worth computing something for it. */
bool data_wanted(void);

/* Append to a file of that name; nothing if no directory was named. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void data_printf(const char *name, const char *format, ...);

/* Close them.  False if one could not be written. */
bool data_end(void);

#endif /* BENCH_DATA_FILE_H */

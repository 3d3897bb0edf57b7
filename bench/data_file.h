/* SPDX-License-Identifier: MIT */
/* data_file.h - files with the numbers behind tables and plots, where --data asks for them. */
#ifndef BENCH_DATA_FILE_H
#define BENCH_DATA_FILE_H

#include <stdbool.h>

/* Write into this directory, which must exist; files of an earlier run are overwritten. */
void data_directory(const char *path);

/* True if a directory was named, so that numbers for it are worth computing. */
bool data_wanted(void);

/* Append to the file of that name; do nothing if no directory was named. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void data_printf(const char *name, const char *format, ...);

/* Close all files.  False if one could not be written. */
bool data_end(void);

#endif /* BENCH_DATA_FILE_H */

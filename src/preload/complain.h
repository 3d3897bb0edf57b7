/* SPDX-License-Identifier: MIT */
/* complain.h - how fairsem-run reports an error: a line on stderr and an exit status. */
#ifndef FS_COMPLAIN_H
#define FS_COMPLAIN_H

/* The exit statuses of env(1), nice(1) and others, for errors that are not the program's. */
enum { OWN_FAILURE = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: MIT */
/* output.h - print the status of names, of this machine or in etcd: a table or JSON, once or each second. */
#ifndef LIMIT_OUTPUT_H
#define LIMIT_OUTPUT_H

#include "request.h"
#include "shown.h"

/* Print an error message; the first one is also the "error" of JSON.  Returns OWN_FAILURE. */
__attribute__((format(printf, 1, 2))) int output_failure(const char *format, ...);

/* Returns true if `limit` is the limit of the request, else prints a message and returns false. */
bool limit_is_as_asked(const struct request *request, int64_t limit);

/*
 * Print the status by means of `print`, which calls output_name() for each name.  Both functions return an exit
 * status, after a message if it is not 0.
 */
int output_status(const struct request *request, int (*print)(const void *arg), const void *arg);
void output_name(const struct shown_name *name);
extern bool output_is_first;    /* true until a name is printed; a parent clears it after its child has printed one */

/* Print one line, for the log of a job: the wait has timed out, and which commands run, or why that is unknown. */
void output_gave_up(const struct request *request, const struct shown_name *name, const char *trouble);

/* Is it a terminal that, according to TERM, obeys control sequences? */
bool terminal_can_erase(int fd);

/* Returns "st", "nd", "rd" or "th". */
const char *ordinal_suffix(int64_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* output.h - print the status of names, as a table, JSON or metrics, once or each second. */
#ifndef LIMIT_OUTPUT_H
#define LIMIT_OUTPUT_H

#include "request.h"
#include "shown.h"

/* Print an error message.  The first message is also the "error" of JSON.  Returns OWN_FAILURE. */
__attribute__((format(printf, 1, 2))) int output_failure(const char *format, ...);

/* Is `limit` the limit in the request?  If not, prints a message. */
bool limit_is_as_asked(const struct request *request, int64_t limit);

/*
 * Print the status by means of `print`, which calls output_name() for each name.  Both output_status() and
 * `print` return 0, or an exit status after a message.
 */
int output_status(const struct request *request, int (*print)(const void *arg), const void *arg);
void output_name(const struct shown_name *name);
/* True until a name is printed.  A parent clears output_is_first after its child has printed a name. */
extern bool output_is_first;

/*
 * After a timeout, print one line for the log of a job.  If `trouble` is NULL, the line names a running command
 * and counts the others.  Otherwise the line contains `trouble`, which says why the commands are unknown.
 */
void output_gave_up(const struct request *request, const struct shown_name *name, const char *trouble);

/* Is the descriptor a terminal that obeys control sequences, according to TERM? */
bool terminal_can_erase(int fd);

const char *ordinal_suffix(int64_t n);

#endif

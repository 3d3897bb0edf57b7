/* SPDX-License-Identifier: MIT */
/* output.h - what is printed of a name, wherever its units are: a table or JSON, once or each second. */
#ifndef LIMIT_OUTPUT_H
#define LIMIT_OUTPUT_H

#include "request.h"
#include "shown.h"

/* Print the message, which is also the "error" of JSON if it is the first.  Returns OWN_FAILURE. */
__attribute__((format(printf, 1, 2))) int output_failure(const char *format, ...);

/* Is it the limit of the request?  If not, it says so. */
bool limit_is_as_asked(const struct request *request, int64_t limit);

/*
 * `print` calls output_name() for each name, and returns an exit status, as this function does; if that is
 * not 0, a message has been printed.
 */
int output_status(const struct request *request, int (*print)(const void *arg), const void *arg);
void output_name(const struct shown_name *name);
extern bool output_is_first;    /* no name has been printed: a parent whose child has printed one clears it */

/* For the log of a job: one line on stderr, that it has waited in vain, and who runs, or why nobody knows. */
void output_gave_up(const struct request *request, const struct shown_name *name, const char *trouble);

/* Is it a terminal that obeys control sequences, as far as TERM says? */
bool terminal_can_erase(int fd);

/* "st", "nd", "rd" or "th". */
const char *ordinal_suffix(int64_t n);

#endif

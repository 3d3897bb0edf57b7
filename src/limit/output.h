/* SPDX-License-Identifier: MIT */
/* output.h - the status on standard output, as a table or as JSON, once or each second. */
#ifndef LIMIT_OUTPUT_H
#define LIMIT_OUTPUT_H

#include "request.h"
#include "shown.h"

struct output {
    bool json;
    bool first;         /* no name has been printed */
};

void output_name(struct output *output, const struct shown_name *name);

/* Print the message, which is also the "error" of JSON if it is the first.  Returns OWN_FAILURE. */
__attribute__((format(printf, 1, 2))) int output_failure(const char *format, ...);

/*
 * `print` prints the names, and returns an exit status, as this function does; if that is not 0, a
 * message has been printed.
 */
int output_status(const struct request *request,
                  int (*print)(struct output *output, const void *arg), const void *arg);

#endif

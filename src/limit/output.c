/* SPDX-License-Identifier: MIT */
/* output.c - see output.h. */
#include "output.h"

#include "json.h"
#include "progress.h"
#include "table.h"

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char failure[1000];      /* the first one; "": none */

int output_failure(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (*failure == '\0')
        vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    vwarnx(format, arguments);
    va_end(arguments);
    return OWN_FAILURE;
}

void output_name(struct output *output, const struct shown_name *name)
{
    if (output->json)
        print_json_name(stdout, name, output->first);
    else
        table_print(name);
    output->first = false;
}

int output_status(const struct request *request,
                  int (*print)(struct output *output, const void *arg), const void *arg)
{
    for (;;) {
        struct output output = { .json = request->json, .first = true };
        int result;

        *failure = '\0';
        if (request->json)
            print_json_begin(stdout);
        else if (request->watch && terminal_can_erase(STDOUT_FILENO))
            fputs("\033[H\033[J", stdout);
        result = print(&output, arg);
        if (request->json)
            print_json_end(stdout, failure);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            warnx("standard output: %s", strerror(errno));
            return OWN_FAILURE;
        }
        if (!request->watch)
            return result;
        sleep(1);
    }
}

/* SPDX-License-Identifier: MIT */
/* output.c - see output.h. */
#include "output.h"

#include "metrics.h"
#include "run/duration.h"
#include "run/printable.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_SIZE = 200, JSON_COMMAND_SIZE = 4096 };

static int status_format;
bool output_is_first;
static char failure[1000];      /* the first error message, or "" */

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

bool limit_is_as_asked(const struct request *request, int64_t limit)
{
    if (limit != request->limit)
        warnx("%s: the limit is %" PRId64 ", not %" PRId64
              ", and changes while commands run or wait only by --set-limit", request->name, limit,
              request->limit);
    return limit == request->limit;
}

bool terminal_can_erase(int fd)
{
    const char *kind = getenv("TERM");

    return kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0 && isatty(fd);
}

/* ---- A table ---- */

const char *ordinal_suffix(int64_t n)
{
    if (n % 100 / 10 == 1)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void print_since(time_t since)
{
    time_t now = time(NULL);
    char text[20] = "-";
    struct tm tm, today;

    localtime_r(&now, &today);
    localtime_r(&since, &tm);
    if (since != 0)
        strftime(text, sizeof text, tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year
                                    ? "%H:%M:%S" : "%Y-%m-%d", &tm);
    printf("  %10s", text);
}

static void print_command(const struct shown_user *user, char *text)
{
    make_printable(text);
    if (user->host == NULL && user->local_pid == 0)
        puts("  (in another PID namespace)");
    else if (user->host == NULL && user->local_pid != user->pid)
        printf("  (here %" PRId64 ") %s\n", user->local_pid, text);
    else
        printf("  %s\n", text);
}

static void print_row(const struct shown_name *name, int number)
{
    char duration[DURATION_SIZE], place[30] = "running", text[COMMAND_SIZE];
    struct shown_user user;

    name->describe(name, number, &user, text, sizeof text);
    if (user.place != 0)
        snprintf(place, sizeof place, "%" PRId64 "%s", user.place, ordinal_suffix(user.place));
    printf("  %-8s", place);
    if (name->cluster)
        printf(" %-16s", user.host);
    printf(" %8" PRId64 " %6" PRId64 " %9" PRId64, user.pid, user.units, user.priority);
    print_since(user.since);
    printf("  %12s", duration_text(user.ns, duration));
    if (name->cluster && user.fence != 0)
        printf(" %10" PRId64, user.fence);
    else if (name->cluster)
        printf(" %10s", "-");
    print_command(&user, text);
}

static void print_table(const struct shown_name *name)
{
    const char *where = name->cluster ? " (etcd)" : name->global ? " (all users)" : "";

    printf("%s%s: limit %" PRId64 ", free %" PRId64 ", running %d, waiting %" PRId64 "\n", name->name, where,
           name->limit, name->free, name->running, name->waiting);
    if (name->count > 0)
        printf("  %-8s%s %8s %6s %9s  %10s  %12s%s  %s\n", "place",
               name->cluster ? " host            " : "", "pid", "units", "priority", "since", "for",
               name->cluster ? "      fence" : "", "command");
    for (int i = 0; i < name->count; i++)
        print_row(name, i);
}

/* ---- JSON, in one line.  The functions have other names than those of libjansson, which is linked, too. ---- */

/* Print a string.  Control characters are escaped, and each byte that is not valid UTF-8 becomes U+FFFD. */
static void print_json_string(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putc('"', file);
    while (*at != '\0') {
        size_t bytes = character_length(at);

        if (bytes == 0)
            fputs("\\ufffd", file);
        else if (control_length((const char *)at) != 0)
            fprintf(file, "\\u%04x", at[bytes - 1]);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else
            fwrite(at, 1, bytes, file);
        at += bytes != 0 ? bytes : 1;
    }
    putc('"', file);
}

static void print_json_user(const struct shown_name *name, int number)
{
    char text[JSON_COMMAND_SIZE], since[30] = "null";
    struct shown_user user;
    struct tm tm;

    name->describe(name, number, &user, text, sizeof text);
    if (user.since != 0)
        strftime(since, sizeof since, "\"%Y-%m-%dT%H:%M:%SZ\"", gmtime_r(&user.since, &tm));
    putchar('{');
    if (name->cluster) {
        fputs("\"host\": ", stdout);
        print_json_string(stdout, user.host);
        printf(", \"pid\": %" PRId64 ", \"fence\": %" PRId64, user.pid, user.fence);
    } else {
        printf("\"pid\": %" PRId64 ", \"local_pid\": %" PRId64, user.pid, user.local_pid);
    }
    printf(", \"units\": %" PRId64 ", \"priority\": %" PRId64 ", \"place\": %" PRId64
            ", \"since\": %s, \"seconds\": %.3f, \"command\": ", user.units, user.priority,
            user.place, since, (double)user.ns / 1e9);
    if (*text != '\0')
        print_json_string(stdout, text);
    else
        fputs("null", stdout);
    putchar('}');
}

static void print_json_waited(const struct shown_name *name)
{
    printf(", \"waited\": {\"count\": %" PRId64 ", \"seconds\": %.6f, \"longest\": %.6f, \"histogram\": [",
           name->stat->grants, (double)name->stat->wait_ns_total / 1e9, (double)name->stat->wait_ns_max / 1e9);
    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++)
        printf("%s%" PRIu64, i > 0 ? ", " : "", name->counts[i]);
    fputs("]}", stdout);
}

static void print_json_name(const struct shown_name *name)
{
    fputs(output_is_first ? "{\"name\": " : ", {\"name\": ", stdout);
    print_json_string(stdout, name->name);
    printf(", \"%s\": %s, \"limit\": %" PRId64 ", \"free\": %" PRId64 ", \"users\": [",
            name->cluster ? "cluster" : "global", name->cluster || name->global ? "true" : "false",
            name->limit, name->free);
    for (int i = 0; i < name->count; i++) {
        if (i > 0)
            fputs(", ", stdout);
        print_json_user(name, i);
    }
    putchar(']');
    if (name->stat != NULL)
        print_json_waited(name);
    putchar('}');
}

static void print_json_end(void)
{
    putchar(']');
    if (*failure != '\0') {
        fputs(", \"error\": ", stdout);
        print_json_string(stdout, failure);
    }
    puts("}");
}

/* ---- Table or JSON, once or each second ---- */

void output_name(const struct shown_name *name)
{
    if (status_format == AS_JSON)
        print_json_name(name);
    else if (status_format == AS_METRICS)
        metrics_add(name);
    else
        print_table(name);
    output_is_first = false;
}

int output_status(const struct request *request, int (*print)(const void *arg), const void *arg)
{
    status_format = request->format;
    for (;;) {
        int error = status_format == AS_METRICS ? metrics_begin() : 0, result = 0;

        output_is_first = true;
        *failure = '\0';
        if (status_format == AS_JSON)
            fputs("{\"names\": [", stdout);
        else if (request->watch && terminal_can_erase(STDOUT_FILENO))
            fputs("\033[H\033[J", stdout);
        if (error == 0)
            result = print(arg);
        if (status_format == AS_JSON)
            print_json_end();
        else if (status_format == AS_METRICS && error == 0)
            error = metrics_print(result != 0);
        if (error != 0)
            return output_failure("no memory for all metrics: %s", strerror(error));
        if (fflush(stdout) != 0 || ferror(stdout))
            return output_failure("standard output: %s", strerror(errno));
        if (!request->watch)
            return result;
        sleep(1);
    }
}

void output_gave_up(const struct request *request, const struct shown_name *name, const char *trouble)
{
    char duration[DURATION_SIZE], text[COMMAND_SIZE], runs[COMMAND_SIZE + 80] = "nobody", more[40] = "";
    int running = 0, before = 0;

    if (request->wait_ns < 60 * INT64_C(1000000000))
        snprintf(duration, sizeof duration, "%g s", (double)request->wait_ns / 1e9);
    else
        duration_text(request->wait_ns, duration);
    if (trouble != NULL) {
        warnx("%s: timed out after %s; %s", name->name, duration, trouble);
        return;
    }
    for (int i = 0; i < name->count; i++) {
        struct shown_user user;

        name->describe(name, i, &user, text, sizeof text);
        if (user.place == 0 && running++ == 0) {
            make_printable(text);
            snprintf(runs, sizeof runs, "%s (process %" PRId64 "%s%s)",
                     *text != '\0' ? text : "a command", user.pid, user.host != NULL ? " of " : "",
                     user.host != NULL ? user.host : "");
        }
        if (user.place != 0 && (user.priority < request->priority
            || (user.priority == request->priority && user.ns >= request->wait_ns)))
            before++;
    }
    if (running > 1)
        snprintf(more, sizeof more, " and %d more", running - 1);
    warnx("%s: timed out after %s; running: %s%s; %d still before it in line", name->name,
          duration, runs, more, before);
}

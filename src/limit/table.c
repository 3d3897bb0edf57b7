/* SPDX-License-Identifier: MIT */
/* table.c - see table.h. */
#include "table.h"

#include "run/duration.h"
#include "run/printable.h"
#include "progress.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMMAND_SIZE = 200 };

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

static void clean_command(const struct shown_user *user, char *text)
{
    size_t length = user->command_length < COMMAND_SIZE ? user->command_length : COMMAND_SIZE - 1;

    memmove(text, user->command, length);
    text[length] = '\0';
    make_printable(text);
}

/* The process ID in the table is the one that the process itself knows, and its messages have. */
static void print_command(const struct shown_user *user, char *text)
{
    clean_command(user, text);
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
    struct shown_user user = { .command = "" };

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

void table_print(const struct shown_name *name)
{
    printf("%s%s%s%s: limit %" PRId64 ", free %" PRId64 ", running %d, waiting %" PRId64 "\n",
           name->name, name->where != NULL ? " (" : "", name->where != NULL ? name->where : "",
           name->where != NULL ? ")" : "", name->limit, name->free, name->running, name->waiting);
    if (name->count > 0)
        printf("  %-8s%s %8s %6s %9s  %10s  %12s%s  %s\n", "place",
               name->cluster ? " host            " : "", "pid", "units", "priority", "since", "for",
               name->cluster ? "      fence" : "", "command");
    for (int i = 0; i < name->count; i++)
        print_row(name, i);
}

void table_gave_up(const struct shown_name *name, const struct request *request)
{
    char duration[DURATION_SIZE], text[COMMAND_SIZE], runs[COMMAND_SIZE + 80] = "nobody", more[40] = "";
    int running = 0, before = 0;

    for (int i = 0; i < name->count; i++) {
        struct shown_user user = { .command = "" };

        name->describe(name, i, &user, text, sizeof text);
        if (user.place == 0 && running++ == 0) {
            clean_command(&user, text);
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
    warnx("%s: waited %s in vain; running: %s%s; %d still before it in line", name->name,
          duration_text(request->wait_ns, duration), runs, more, before);
}

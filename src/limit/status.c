/* SPDX-License-Identifier: MIT */
/* status.c - see status.h. */
#include "status.h"

#include "duration.h"
#include "names.h"
#include "progress.h"
#include "turn.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_USERS = 2048, COMMAND_SIZE = 200 };

/* ---- One process ---- */

/* In our PID namespace this ID may be another process, or none: then the text is empty. */
static void read_command(int64_t pid, char text[COMMAND_SIZE])
{
    char path[40];
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/cmdline", pid);
    file = fopen(path, "re");
    if (file != NULL) {
        length = fread(text, 1, COMMAND_SIZE - 1, file);
        fclose(file);
    }
    while (length > 0 && text[length - 1] == '\0')
        length--;
    text[length] = '\0';
    /* A terminal obeys control characters.  The arguments end with zeros. */
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
        memset(text + i, ' ', (size_t)control_length(text + i));
    }
}

static void print_since(int64_t ns)
{
    time_t now = time(NULL), since = now - (time_t)(ns / 1000000000);
    char today[20], text[20];
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(today, sizeof today, "%Y-%m-%d", &tm);
    localtime_r(&since, &tm);
    strftime(text, sizeof text, "%Y-%m-%d", &tm);
    if (strcmp(text, today) == 0)
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    printf("  %10s", text);
}

static void print_user(const fairsem_shared_user_t *user)
{
    char command[COMMAND_SIZE], duration[DURATION_SIZE], place[30] = "running";

    if (user->place != 0)
        snprintf(place, sizeof place, "%" PRId64 "%s", user->place, ordinal_suffix(user->place));
    read_command(user->pid, command);
    printf("  %-8s %8" PRId64 " %6" PRId64 " %9" PRId64, place, user->pid, user->units,
           user->priority);
    print_since(user->ns);
    printf("  %12s  %s\n", duration_text(user->ns, duration), command);
}

/* ---- One name ---- */

static void print_name(const char *name, bool global, const fairsem_shared_stat_t *stat,
                       const fairsem_shared_user_t *users, int count)
{
    int running = 0;

    for (int i = 0; i < count; i++)
        running += users[i].place == 0;
    printf("%s%s: limit %" PRId64 ", free %" PRId64 ", running %d, waiting %" PRId64 "\n", name,
           global ? " (all users)" : "", stat->capacity, stat->available, running,
           stat->waiters);
    if (count > 0)
        printf("  %-8s %8s %6s %9s  %10s  %12s  %s\n", "place", "pid", "units", "priority", "since",
               "for", "command");
    for (int i = 0; i < count; i++)
        print_user(&users[i]);
}

/* Returns an errno value. */
static int print_status_of(const char *name, bool global)
{
    static fairsem_shared_user_t users[MOST_USERS];
    char segment[SEGMENT_NAME_SIZE];
    fairsem_shared_stat_t stat;
    fairsem_shared_t *slots;
    int count = MOST_USERS, error;

    name_of_segment(name, global, segment);
    error = fairsem_shared_open(&slots, segment, 0, 0, NULL);
    if (error != 0)
        return error;
    error = fairsem_shared_stat(slots, &stat);
    if (error == 0)
        error = fairsem_shared_users(slots, users, &count);
    fairsem_shared_close(slots);
    if (error == 0)
        print_name(name, global, &stat, users, count < MOST_USERS ? count : MOST_USERS);
    return error;
}

static int print_one(const char *name, bool global)
{
    int error = print_status_of(name, global);

    if (error == 0)
        return 0;
    warnx("%s: %s", name, turn_error(error));
    return OWN_FAILURE;
}

static int print_all(void)
{
    struct listed *list = names_list();
    int result = 0;

    if (list == NULL) {
        warn("%s", names_directory());
        return OWN_FAILURE;
    }
    for (const struct listed *at = list; at->name != NULL; at++) {
        int error = print_status_of(at->name, at->global);

        /* Names of other users, and names that were removed at this moment, are no error. */
        if (error != 0 && error != EACCES && error != ENOENT) {
            warnx("%s: %s", at->name, turn_error(error));
            result = OWN_FAILURE;
        }
    }
    names_free(list);
    return result;
}

int status_print(const struct request *request)
{
    int result;

    for (;;) {
        if (request->watch && isatty(STDOUT_FILENO))
            fputs("\033[H\033[J", stdout);
        result = request->name != NULL ? print_one(request->name, request->global) : print_all();
        if (fflush(stdout) != 0 || ferror(stdout)) {
            warnx("standard output: %s", strerror(errno));
            return OWN_FAILURE;
        }
        if (!request->watch)
            return result;
        sleep(1);
    }
}

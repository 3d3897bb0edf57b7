/* SPDX-License-Identifier: MIT */
/* process.c - see process.h. */
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Does /proc belong to our PID namespace?  In the /proc of another namespace, our process IDs mean other
 * processes.
 */
static bool proc_is_ours(void)
{
    char self[20];
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);

    self[length > 0 ? length : 0] = '\0';
    return strtol(self, NULL, 10) == getpid();
}

#define RETIRED "fairsem-limit/0"

struct process process_stat(long pid)
{
    const struct process unknown = { 0 };
    struct process process;
    char path[40], text[500];
    const char *after;
    ssize_t length;
    int file;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = proc_is_ours() ? open(path, O_RDONLY | O_CLOEXEC) : -1;  /* not fopen(), which allocates memory */
    if (file < 0)
        return unknown;
    length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    after = strrchr(text, ')');     /* "1234 (a name) S 1233 ..."; the name may contain ')' */
    if (after == NULL
        || sscanf(after, ") %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                  " %llu", &process.parent, &process.started) != 2)
        return unknown;
    if (strstr(text, "(" RETIRED ")") != NULL)
        process.started = 0;
    return process;
}

void process_retire(void)
{
    prctl(PR_SET_NAME, RETIRED);
}

static bool list_has(const long list[], size_t count, long pid)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == pid)
            return true;
    }
    return false;
}

static DIR *processes;
static int  spare = -1;

static void reserve_descriptor(void)
{
    spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void process_prepare(void)
{
    processes = opendir("/proc");
    reserve_descriptor();
}

size_t process_descendants(long list[], size_t size)
{
    size_t count = 0, before;

    if (processes == NULL)
        return 0;
    if (spare >= 0)
        close(spare);
    /* A child may be listed before its parent: repeat until no process is added. */
    do {
        const struct dirent *entry;

        before = count;
        rewinddir(processes);
        while (count < size && (entry = readdir(processes)) != NULL) {
            long pid = strtol(entry->d_name, NULL, 10), parent;

            if (pid <= 0 || list_has(list, count, pid))
                continue;
            parent = process_stat(pid).parent;
            if (parent == getpid() || list_has(list, count, parent))
                list[count++] = pid;
        }
    } while (count > before);
    reserve_descriptor();
    return count;
}

/* Returns the arguments after "--" if the process is fairsem-limit and has a "--"; otherwise all arguments. */
static const char *behind_own(const char *arguments, const char *end)
{
    size_t length = strlen(arguments), own = strlen("fairsem-limit");

    if (length < own || strcmp(arguments + length - own, "fairsem-limit") != 0)
        return arguments;
    for (const char *at = arguments; at < end; at += strlen(at) + 1) {
        if (strcmp(at, "--") == 0 && at + 3 < end)
            return at + 3;
    }
    return arguments;
}

void process_command(const fairsem_shared_user_t *user, char *text, size_t size)
{
    char path[40], all[4096] = "";
    const char *from;
    size_t length = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%" PRId64 "/cmdline", user->local_pid);
    file = user->local_pid > 0 && proc_is_ours() ? fopen(path, "re") : NULL;
    if (file != NULL) {
        length = fread(all, 1, sizeof all - 1, file);
        fclose(file);
    }
    while (length > 0 && all[length - 1] == '\0')
        length--;
    from = behind_own(all, all + length);
    for (size_t i = 0; i < length; i++) {
        if (all[i] == '\0')
            all[i] = ' ';
    }
    snprintf(text, size, "%s", from);
}

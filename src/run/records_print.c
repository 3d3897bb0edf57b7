/* SPDX-License-Identifier: MIT */
/* records_print.c - see records_print.h. */
#define _GNU_SOURCE
#include "records_print.h"

#include "printable.h"
#include "program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_longest_wait(const void *a, const void *b)
{
    uint64_t x = (*(const struct fs_record *const *)a)->waited.ns_max;
    uint64_t y = (*(const struct fs_record *const *)b)->waited.ns_max;

    return (x < y) - (x > y);
}

/* Was the semaphore created by code in this file?  The record's creator begins with the file's name. */
static bool is_recorded_in(const struct fs_record *record, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t length;

    name = name != NULL ? name + 1 : path;
    length = strlen(name);
    return length < sizeof record->creator && strncmp(record->creator, name, length) == 0
           && (record->creator[length] == '(' || record->creator[length] == '+');
}

/*
 * Write the source line of the call that created a semaphore, such as "server.c:42".  Returns false if the
 * line is unknown.
 */
static bool find_line(const struct fs_record *record, const char *path, char *line, int size)
{
    char address[20];
    int ends[2], status;
    FILE *answer;
    pid_t child;
    bool known;

    if (record->call == 0 || !is_recorded_in(record, path) || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)record->call);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        unsetenv("LD_PRELOAD");
        execlp("addr2line", "addr2line", "-s", "-e", path, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    answer = fdopen(ends[0], "re");
    known = answer != NULL && fgets(line, size, answer) != NULL && line[0] != '?';
    if (answer != NULL)
        fclose(answer);
    if (child > 0)
        waitpid(child, &status, 0);
    line[known ? strcspn(line, " \n") : 0] = '\0';
    return known;
}

/*
 * Returns a percentile of the waits in milliseconds: the upper bound of its histogram bucket, but at most the
 * longest wait.  The last bucket has no bound.
 */
static double waits_within_ms(const struct fs_waited *w, int percent)
{
    double all = 0, sum = 0, longest_ms = (double)w->ns_max / 1e6;
    int64_t us = 1;

    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++)
        all += (double)w->lengths[i];
    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS - 1; i++, us *= 2) {
        sum += (double)w->lengths[i];
        if (sum * 100 >= all * percent)
            return (double)us / 1e3 < longest_ms ? (double)us / 1e3 : longest_ms;
    }
    return longest_ms;
}

static void print_waited(FILE *file, const struct fs_waited *w)
{
    fprintf(file, "%10llu %11.3f %11.3f %12.3f %14.3f", (unsigned long long)w->waits, waits_within_ms(w, 50),
            waits_within_ms(w, 99), (double)w->ns_max / 1e6, (double)w->ns_total / 1e6);
}

void records_print(FILE *file, const struct fs_records *records, const char *path, int64_t bypass_ns)
{
    static const struct fs_record *sorted[FS_RECORDS_MAX];
    uint32_t used = records->used, count = 0;
    char text[200];

    if (used > FS_RECORDS_MAX)
        used = FS_RECORDS_MAX;
    for (uint32_t i = 0; i < used; i++) {
        if (records->record[i].pid != 0 && records->record[i].waited.waits != 0)
            sorted[count++] = &records->record[i];
    }
    qsort(sorted, count, sizeof sorted[0], by_longest_wait);
    fprintf(file, "fairsem-run: semaphores created: %llu, in processes: %u\n",
            (unsigned long long)records->created, (unsigned)records->processes);
    if (records->only_count != 0)
        fputs("--libc: they stayed libc's, and their waits were measured together\n", file);
    if (records->header != 0 || program_has_archive(path))
        fputs("the program has libfairsem: what it calls by fairsem/posix.h is fair already, and not "
              "counted\n", file);
    fprintf(file, "passed through to libc: %llu process-shared, %llu opened by name, "
            "%llu calls on semaphores not made by sem_init here\n",
            (unsigned long long)records->shared, (unsigned long long)records->named,
            (unsigned long long)records->unknown);
    if (records->dangling != 0)
        fprintf(file, "calls on references that lead nowhere, refused with EINVAL: %llu\n",
                (unsigned long long)records->dangling);
    if (bypass_ns != 0)
        fprintf(file, "units taken while others waited, for at most %.3f ms: %llu\n",
                (double)bypass_ns / 1e6, (unsigned long long)records->passed);
    fprintf(file, "     waits  half <= ms  99 %% <= ms   longest ms       total ms  semaphore\n");
    print_waited(file, &records->waited);
    fprintf(file, "  all\n");
    for (uint32_t i = 0; i < count && i < 10; i++) {
        print_waited(file, &sorted[i]->waited);
        snprintf(text, sizeof text, "%.100s", sorted[i]->creator);
        make_printable(text);
        fprintf(file, "  0x%llx of process %d, by %s", (unsigned long long)sorted[i]->address,
                (int)sorted[i]->pid, text);
        if (find_line(sorted[i], path, text, sizeof text)) {
            make_printable(text);
            fprintf(file, ", %s", text);
        }
        putc('\n', file);
    }
}

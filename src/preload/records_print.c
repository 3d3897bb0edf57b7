/* SPDX-License-Identifier: MIT */
/* records_print.c - see records_print.h. */
#include "records_print.h"

#include <stdlib.h>

static int by_longest_wait(const void *a, const void *b)
{
    uint64_t x = (*(const struct fs_record *const *)a)->waited.ns_max;
    uint64_t y = (*(const struct fs_record *const *)b)->waited.ns_max;

    return (x < y) - (x > y);
}

static void print_waited(FILE *file, const struct fs_waited *w)
{
    fprintf(file, "%10llu %12.3f %14.3f", (unsigned long long)w->waits, (double)w->ns_max / 1e6,
            (double)w->ns_total / 1e6);
}

void records_print(FILE *file, const struct fs_records *records, int64_t bypass_ns)
{
    static const struct fs_record *sorted[FS_RECORDS_MOST];
    uint32_t used = records->used, count = 0;

    if (used > FS_RECORDS_MOST)
        used = FS_RECORDS_MOST;
    for (uint32_t i = 0; i < used; i++) {
        if (records->record[i].pid != 0 && records->record[i].waited.waits != 0)
            sorted[count++] = &records->record[i];
    }
    qsort(sorted, count, sizeof sorted[0], by_longest_wait);
    fprintf(file, "fairsem-run: semaphores created: %llu, in processes: %u\n",
            (unsigned long long)records->created, (unsigned)records->processes);
    if (records->only_count != 0)
        fputs("--libc: they stayed libc's, and their waits were measured together\n", file);
    if (records->header != 0)
        fputs("the program has libfairsem: what it calls by fairsem/posix.h is fair already, and not "
              "counted\n", file);
    fprintf(file, "passed through to libc: %llu process-shared, %llu opened by name, "
            "%llu calls on semaphores not made by sem_init here\n",
            (unsigned long long)records->shared, (unsigned long long)records->named,
            (unsigned long long)records->foreign);
    if (records->dead != 0)
        fprintf(file, "calls on references that lead nowhere, refused with EINVAL: %llu\n",
                (unsigned long long)records->dead);
    if (bypass_ns != 0)
        fprintf(file, "units taken while others waited, for at most %.3f ms: %llu\n",
                (double)bypass_ns / 1e6, (unsigned long long)records->passed);
    fprintf(file, "     waits   longest ms       total ms  semaphore\n");
    print_waited(file, &records->waited);
    fprintf(file, "  all\n");
    for (uint32_t i = 0; i < count && i < 10; i++) {
        print_waited(file, &sorted[i]->waited);
        fprintf(file, "  0x%llx of process %d, by %.100s\n",
                (unsigned long long)sorted[i]->address, (int)sorted[i]->pid,
                sorted[i]->creator);
    }
}

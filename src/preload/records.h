/* SPDX-License-Identifier: MIT */
/*
 * records.h - what an interposed program tells fairsem-run --stats: a file that both map.
 *
 * The program writes to the file while it runs, so it does not matter how the program ends.  Children of the
 * program write to the same file.  The file has only counters and text, and fairsem-run trusts none of it.
 */
#ifndef FS_RECORDS_H
#define FS_RECORDS_H

#include "fairsem.h"

#include <stdatomic.h>
#include <stdint.h>

/* The variable that names the file in the program's environment. */
#define FS_RECORDS_ENV "FAIRSEM_STATS_FILE"

/* The variable with the time of --bypass, in nanoseconds. */
#define FS_BYPASS_ENV "FAIRSEM_BYPASS_NS"

#define FS_RECORDS_VERSION 4
#define FS_RECORDS_MAX    16384    /* limit of the semaphores with a record of their own */

struct fs_waited {
    _Atomic uint64_t waits;     /* waits that found no unit free and ended with one */
    _Atomic uint64_t ns_total;
    _Atomic uint64_t ns_max;
    _Atomic uint64_t lengths[FAIRSEM_WAIT_BUCKETS];     /* as fairsem_stat_histogram counts */
};

struct fs_record {
    struct fs_waited waited;
    _Atomic uint64_t address;   /* of the sem_t */
    _Atomic int32_t  pid;       /* of the process; 0 until the record is complete */
    _Atomic uint64_t call;      /* address of the call of sem_init, as addr2line needs it; 0 if unknown */
    char             creator[100];  /* text: the place that called sem_init */
};

struct fs_records {
    uint32_t         version;   /* written by fairsem-run */
    uint32_t         only_count;/* written by fairsem-run: 1 for --libc */
    _Atomic uint32_t header;    /* 1 if the program has libfairsem: fairsem/posix.h is not counted */
    _Atomic uint32_t processes; /* how many processes have loaded the interposer */
    _Atomic uint32_t used;      /* used entries of record[]; may exceed FS_RECORDS_MAX for a moment */
    _Atomic uint64_t created;   /* semaphores that were made */
    _Atomic uint64_t shared;    /* passed through: sem_init with pshared */
    _Atomic uint64_t named;     /* passed through: sem_open, also if it failed */
    _Atomic uint64_t unknown;   /* passed through: calls on a sem_t that was not made by our sem_init */
    _Atomic uint64_t dangling;  /* calls on a reference to no valid cell */
    _Atomic uint64_t passed;    /* with --bypass: units that were taken while other threads waited */
    struct fs_waited waited;    /* the sum of all semaphores */
    struct fs_record record[FS_RECORDS_MAX];
};

#endif

/* SPDX-License-Identifier: MIT */
/* killed_job.h - a part of a tree, and the work on it, for killed-jobs. */
#ifndef KILLED_JOB_H
#define KILLED_JOB_H

#include <stdint.h>
#include <sys/types.h>

struct sum {
    int64_t  files, bytes;
    uint64_t checks;        /* the sum of the files' checksums */
};

/* sum.files in the reports of a job: BEGUN, HALFWAY, or the number of files when the job is done. */
enum { BEGUN = -1, HALFWAY = -2 };

struct event {
    pid_t      pid;
    int64_t    ns;          /* when, on CLOCK_MONOTONIC */
    struct sum sum;
};

int64_t now_ns(void);

void add_sum(struct sum *to, const struct sum *sum);

/*
 * Add up the files below `directory` that belong to this part of `parts`.  With `compress`, compress each file,
 * decompress it, and compare.  Exits if the directory cannot be read or a comparison fails.
 */
struct sum sum_up(const char *directory, int part, int parts, int compress);

/*
 * The program of a job.  Reports to fd; returns an exit status.  Halfway the job stops itself with SIGSTOP,
 * until another process continues it.
 */
int run_job(const char *directory, int part, int parts, int fd);

#endif

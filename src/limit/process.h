/* SPDX-License-Identifier: MIT */
/* process.h - information about processes, from /proc.  A /proc of another PID namespace is not used. */
#ifndef LIMIT_PROCESS_H
#define LIMIT_PROCESS_H

#include <fairsem/shared.h>
#include <stddef.h>

struct process {
    long               parent;      /* 0 if the process does not exist */
    unsigned long long started;     /* in clock ticks since boot; 0 if unknown, or if the process has retired */
};
struct process process_stat(long pid);

/*
 * Retire: tell all processes that call process_stat() that this process holds no units.  Only the first thread
 * may call this function.
 */
void process_retire(void);

/* Reserve a descriptor and memory for process_descendants() now, because both may be used up later. */
void process_prepare(void);

/* List all descendants of this process, at most `size`.  Returns their number. */
size_t process_descendants(long list[], size_t size);

/* Write the arguments of the process's command, separated by spaces, or "" if they are unknown. */
void process_command(const fairsem_shared_user_t *user, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * process.h - information about a process that runs or waits, from /proc.  A /proc of another PID namespace
 * is not used.
 */
#ifndef LIMIT_PROCESS_H
#define LIMIT_PROCESS_H

#include <fairsem/shared.h>
#include <stddef.h>

struct process {
    long               parent;      /* 0 if the process does not exist */
    unsigned long long started;     /* in clock ticks since boot; 0 if unknown, or if the process has retired */
};
struct process process_stat(long pid);

/* Set the name of the first thread, which every process can read, to mark that this process has no units. */
void process_retire(void);

/* Reserve the descriptor and memory of process_descendants(), which may be unavailable later. */
void process_prepare(void);

/* List children of this process, their children and so on, as far as there is room.  Returns their number. */
size_t process_descendants(long list[], size_t size);

/* Write the arguments of the process's command, separated by spaces, or "" if they are unknown. */
void process_command(const fairsem_shared_user_t *user, char *text, size_t size);

#endif

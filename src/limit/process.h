/* SPDX-License-Identifier: MIT */
/*
 * process.h - what is known of a process that runs or waits.  Where /proc is that of another PID namespace, it
 * is as if there were none.
 */
#ifndef LIMIT_PROCESS_H
#define LIMIT_PROCESS_H

#include <fairsem/shared.h>
#include <stddef.h>

struct process {
    long               parent;      /* that has made it; 0: there is no such process */
    unsigned long long started;     /* in ticks of the kernel's; 0: nobody knows, or it has retired */
};
struct process process_stat(long pid);

/* Say in the name of the first thread, which every process can read, that this process no longer has units. */
void process_retire(void);

/* Open now what process_descendants() needs: later there may be no descriptor and no memory. */
void process_prepare(void);

/* The processes that this one, and those, have made, as far as there is room.  How many? */
size_t process_descendants(long list[], size_t size);

/* Write its command's arguments, with spaces between; "": nobody knows them. */
void process_command(const fairsem_shared_user_t *user, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* thread_linux.c - a thread's number, by gettid(2), and its name, from /proc; see thread.h. */
#if defined(__linux__)

#define _GNU_SOURCE             /* syscall */
#include "thread.h"

#include "compiler.h"
#include "fork.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * By syscall(), because glibc before 2.30 has no gettid().  Once per thread, and once more after a
 * fork.  (The generation comes last: a signal handler may wait in between.)
 */
int fs_thread_id(void)
{
    static _Thread_local FS_NEVER_ALLOCATED unsigned generation;
    static _Thread_local FS_NEVER_ALLOCATED int id;

    if (id == 0 || generation != fs_fork_generation()) {
        id = (int)syscall(SYS_gettid);
        generation = fs_fork_generation();
    }
    return id;
}

/* A name can have any bytes; what would spoil a line of text becomes a question mark. */
void fs_thread_name(int id, char name[FS_THREAD_NAME])
{
    char path[48];
    ssize_t length = 0;
    int file;

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        length = read(file, name, FS_THREAD_NAME - 1);
        close(file);
    }
    if (length > 0 && name[length - 1] == '\n')
        length--;
    name[length > 0 ? length : 0] = '\0';
    for (char *at = name; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            *at = '?';
    }
}

#else
typedef int translation_unit_not_empty;
#endif

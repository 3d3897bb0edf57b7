/* SPDX-License-Identifier: MIT */
/* shared_peers.c - see shared_peers.h. */
#define _GNU_SOURCE
#include "shared_peers.h"

#include "die.h"
#include "sysv_argument.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char *const names[SHARED_KINDS] = {
    "fairsem, undo", "fairsem, no undo", "sem_t", "semop, SEM_UNDO", "semop", "flock", "fcntl",
};

const char *shared_name(enum shared_kind kind)
{
    return names[kind];
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        die("mmap", errno);
    return memory;
}

static void make_fair(struct shared_sem *s, int units, unsigned flags)
{
    const fairsem_shared_attr_t attr = { .units = units, .max_processes = 128, .flags = flags };
    int error = fairsem_shared_open(&s->fair, NULL, 0, 0, &attr);

    if (error != 0)
        die("fairsem_shared_open", error);
}

static void make_file(struct shared_sem *s)
{
    strcpy(s->path, "/tmp/fairsem-bench-XXXXXX");
    s->fd = mkostemp(s->path, O_CLOEXEC);
    if (s->fd < 0)
        die("mkostemp", errno);
}

void shared_make(struct shared_sem *s, enum shared_kind kind, int units)
{
    *s = (struct shared_sem){ .kind = kind, .id = -1, .fd = -1 };
    switch (kind) {
    case FAIR_UNDO:
        make_fair(s, units, 0);
        break;
    case FAIR_NO_UNDO:
        make_fair(s, units, FAIRSEM_SHARED_NO_UNDO);
        break;
    case SEM_T:
        s->sem = shared_memory(sizeof *s->sem);
        if (sem_init(s->sem, 1, (unsigned)units) != 0)
            die("sem_init", errno);
        break;
    case SEMOP_UNDO:
    case SEMOP:
        s->id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
        if (s->id < 0 || semctl(s->id, 0, SETVAL, (union semctl_argument){ .val = units }) != 0)
            die("semget", errno);
        break;
    default:
        make_file(s);
    }
}

/* A lock of flock belongs to the open file, which a child would share with its parent. */
void shared_enter(struct shared_sem *s)
{
    if (s->kind == LOCK_FLOCK)
        s->fd = open(s->path, O_RDWR | O_CLOEXEC);
    if (s->kind == LOCK_FLOCK && s->fd < 0)
        die(s->path, errno);
}

void shared_remove(struct shared_sem *s)
{
    if (s->fair != NULL)
        fairsem_shared_close(s->fair);
    if (s->sem != NULL)
        munmap(s->sem, sizeof *s->sem);
    if (s->id >= 0)
        semctl(s->id, 0, IPC_RMID);
    if (s->fd >= 0) {
        close(s->fd);
        unlink(s->path);
    }
}

int shared_waiters(const struct shared_sem *s)
{
    if (s->fair != NULL)
        return (int)fairsem_shared_waiters(s->fair);
    return s->id >= 0 ? semctl(s->id, 0, GETNCNT) : -1;
}

/* ---- Processes ---- */

pid_t shared_start(void (*run)(void *arg), void *arg)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid < 0)
        die("fork", errno);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(arg);
    _exit(0);
}

void shared_join(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, 0) != pid || status != 0)
        die("a process of the benchmark has failed", 0);
}

void shared_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

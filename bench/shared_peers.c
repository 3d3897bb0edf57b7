/* SPDX-License-Identifier: MIT */
/* shared_peers.c - see shared_peers.h. */
#define _GNU_SOURCE
#include "shared_peers.h"

#include "die.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        die("mmap", errno);
    return memory;
}

static int make_fair(struct shared_sem *s, int64_t units, unsigned flags)
{
    const fairsem_shared_attr_t attr = { .units = units, .max_processes = 128, .flags = flags };

    return fairsem_shared_open(&s->fair, NULL, 0, 0, &attr);
}

int shared_undo_init(void *sem, int64_t units)
{
    return make_fair(sem, units, 0);
}

int shared_no_undo_init(void *sem, int64_t units)
{
    return make_fair(sem, units, FAIRSEM_SHARED_NO_UNDO);
}

int shared_posix_init(void *sem, int64_t units)
{
    struct shared_sem *s = sem;

    s->sem = shared_memory(sizeof *s->sem);
    return sem_init(s->sem, 1, (unsigned)units) == 0 ? 0 : errno;
}

/* POSIX leaves this definition to the caller.
 * Its name differs from `union semun`, which some systems define.
 */
union semctl_argument {
    int val;
    struct semid_ds *buf; /* semctl() reads the whole union: with val alone, a big-endian machine would read 0 */
};

int shared_semop_init(void *sem, int64_t units)
{
    struct shared_sem *s = sem;
    const union semctl_argument value = { .val = (int)units };

    s->id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    return s->id >= 0 && semctl(s->id, 0, SETVAL, value) == 0 ? 0 : errno;
}

int shared_destroy(void *sem)
{
    struct shared_sem *s = sem;

    if (s->fair != NULL)
        fairsem_shared_close(s->fair);
    if (s->sem != NULL)
        munmap(s->sem, sizeof *s->sem);
    if (s->id >= 0)
        semctl(s->id, 0, IPC_RMID);
    return 0;
}

void shared_make(struct shared_sem *s, const struct sem_ops *ops, int units)
{
    int error;

    *s = (struct shared_sem){ .ops = ops, .id = -1 };
    error = ops->init(s, units);
    if (error != 0)
        die(ops->name, error);
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

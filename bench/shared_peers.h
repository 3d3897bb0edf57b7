/* SPDX-License-Identifier: MIT */
/*
 * shared_peers.h - other semaphores and locks between processes, as peers of fairsem/shared.h.
 *
 * The kind is a constant in the loops that measure nanoseconds, so no indirect call is left.
 */
#ifndef BENCH_SHARED_PEERS_H
#define BENCH_SHARED_PEERS_H

#include "sem_ops.h"        /* ALWAYS_INLINE */

#include <errno.h>
#include <fairsem/shared.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

/* Those from LOCK_FLOCK on have one unit. */
enum shared_kind {
    FAIR_UNDO, FAIR_NO_UNDO, SEM_T, SEMOP_UNDO, SEMOP, LOCK_FLOCK, LOCK_FCNTL, SHARED_KINDS
};

struct shared_sem {
    enum shared_kind  kind;
    fairsem_shared_t *fair;
    sem_t            *sem;
    int               id, fd;
    char              path[40];
};

const char *shared_name(enum shared_kind kind);

/* Make one, in memory and files that children inherit. */
void shared_make(struct shared_sem *s, enum shared_kind kind, int units);
/* A child calls it before it uses the semaphore. */
void shared_enter(struct shared_sem *s);
void shared_remove(struct shared_sem *s);

/* Requests that wait, where that can be known; else -1. */
int shared_waiters(const struct shared_sem *s);

static inline int shared_semop(const struct shared_sem *s, short by, short flags)
{
    struct sembuf op = { .sem_num = 0, .sem_op = by, .sem_flg = flags };

    while (semop(s->id, &op, 1) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

static inline int shared_fcntl(const struct shared_sem *s, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

    while (fcntl(s->fd, F_SETLKW, &lock) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

ALWAYS_INLINE int shared_acquire(enum shared_kind kind, struct shared_sem *s)
{
    switch (kind) {
    case SEM_T:
        while (sem_wait(s->sem) != 0) {
            if (errno != EINTR)
                return errno;
        }
        return 0;
    case SEMOP_UNDO: return shared_semop(s, -1, SEM_UNDO);
    case SEMOP:      return shared_semop(s, -1, 0);
    case LOCK_FLOCK: return flock(s->fd, LOCK_EX) == 0 ? 0 : errno;
    case LOCK_FCNTL: return shared_fcntl(s, F_WRLCK);
    default:         return fairsem_shared_acquire(s->fair, 1);
    }
}

ALWAYS_INLINE int shared_release(enum shared_kind kind, struct shared_sem *s)
{
    switch (kind) {
    case SEM_T:      return sem_post(s->sem) == 0 ? 0 : errno;
    case SEMOP_UNDO: return shared_semop(s, 1, SEM_UNDO);
    case SEMOP:      return shared_semop(s, 1, 0);
    case LOCK_FLOCK: return flock(s->fd, LOCK_UN) == 0 ? 0 : errno;
    case LOCK_FCNTL: return shared_fcntl(s, F_UNLCK);
    default:         return fairsem_shared_release(s->fair, 1);
    }
}

/* Memory that children share, all zero.  It is never freed. */
void *shared_memory(size_t size);

/* Start a process that calls run(arg) and ends.  It does not outlive this one. */
pid_t shared_start(void (*run)(void *arg), void *arg);
/* Wait until it has ended well; or kill it first. */
void shared_join(pid_t pid);
void shared_kill(pid_t pid);

#endif /* BENCH_SHARED_PEERS_H */

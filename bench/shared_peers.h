/* SPDX-License-Identifier: MIT */
/* shared_peers.h - other semaphores and locks between processes, as peers of fairsem/shared.h. */
#ifndef BENCH_SHARED_PEERS_H
#define BENCH_SHARED_PEERS_H

#include "sem_ops.h"

#include <errno.h>
#include <fairsem/shared.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

struct shared_sem {
    const struct sem_ops *ops;
    fairsem_shared_t     *fair;
    sem_t                *sem;
    int                   id, fd;
    char                  path[40];
};

/* Make one, in memory and files that children inherit; a fault ends the program. */
void shared_make(struct shared_sem *s, const struct sem_ops *ops, int units);
/* A child calls it before it uses the semaphore. */
void shared_enter(struct shared_sem *s);
/* Requests that wait, where that can be known; else -1. */
int shared_waiters(const struct shared_sem *s);

int shared_undo_init(void *sem, int64_t units);
int shared_no_undo_init(void *sem, int64_t units);
int shared_posix_init(void *sem, int64_t units);
int shared_semop_init(void *sem, int64_t units);
int shared_file_init(void *sem, int64_t units);
int shared_destroy(void *sem);
void shared_flock_enter(void *sem, int place, int threads);

/* take and give are the rest of a function that takes or gives the unit of s. */
#define SHARED_PEER(peer, title, make, take, give, enter)           \
    static inline int peer##_peer_acquire(void *sem, int64_t n)     \
    {                                                               \
        const struct shared_sem *s = sem;                           \
                                                                    \
        (void)n;                                                    \
        take;                                                       \
    }                                                               \
    static inline int peer##_peer_release(void *sem, int64_t n)     \
    {                                                               \
        const struct shared_sem *s = sem;                           \
                                                                    \
        (void)n;                                                    \
        give;                                                       \
    }                                                               \
    static const struct sem_ops ops_##peer = {                      \
        .name = title, .size = sizeof(struct shared_sem),           \
        .init = make, .destroy = shared_destroy, .sit_down = enter, \
        .acquire = peer##_peer_acquire, .release = peer##_peer_release, \
    }

#define SEMOP(by, flags) \
    RETURN_IF_DONE(semop(s->id, &(struct sembuf){ .sem_op = (by), .sem_flg = (flags) }, 1))
#define FCNTL(type)                                        \
    RETURN_IF_DONE(fcntl(s->fd, F_SETLKW, &(struct flock){ \
        .l_type = (type), .l_whence = SEEK_SET, .l_len = 1 }))

SHARED_PEER(undo, "fairsem, undo", shared_undo_init, return fairsem_shared_acquire(s->fair, 1),
            return fairsem_shared_release(s->fair, 1), NULL);
SHARED_PEER(no_undo, "fairsem, no undo", shared_no_undo_init,
            return fairsem_shared_acquire(s->fair, 1),
            return fairsem_shared_release(s->fair, 1), NULL);
SHARED_PEER(sem_t, "sem_t", shared_posix_init, RETURN_IF_DONE(sem_wait(s->sem)),
            RETURN_IF_DONE(sem_post(s->sem)), NULL);
SHARED_PEER(semop_undo, "semop, SEM_UNDO", shared_semop_init, SEMOP(-1, SEM_UNDO),
            SEMOP(1, SEM_UNDO), NULL);
SHARED_PEER(semop, "semop", shared_semop_init, SEMOP(-1, 0), SEMOP(1, 0), NULL);
/* Those have one unit. */
SHARED_PEER(flock, "flock", shared_file_init, RETURN_IF_DONE(flock(s->fd, LOCK_EX)),
            RETURN_IF_DONE(flock(s->fd, LOCK_UN)), shared_flock_enter);
SHARED_PEER(fcntl, "fcntl", shared_file_init, FCNTL(F_WRLCK), FCNTL(F_UNLCK), NULL);

#define FOR_EACH_SHARED_PEER(X) \
    X(undo) X(no_undo) X(sem_t) X(semop_undo) X(semop) X(flock) X(fcntl)

/* Memory that children share, all zero.  It is never freed. */
void *shared_memory(size_t size);

/* Start a process that calls run(arg) and ends.  It does not outlive this one. */
pid_t shared_start(void (*run)(void *arg), void *arg);
/* Wait until it has ended well; or kill it first. */
void shared_join(pid_t pid);
void shared_kill(pid_t pid);

#endif /* BENCH_SHARED_PEERS_H */

/* SPDX-License-Identifier: MIT */
/* shared_peers.h - other semaphores and locks between processes, as peers of fairsem/shared.h. */
#ifndef BENCH_SHARED_PEERS_H
#define BENCH_SHARED_PEERS_H

#include "sem_ops.h"

#include <errno.h>
#include <fairsem/shared.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

struct shared_sem {
    const struct sem_ops *ops;
    fairsem_shared_t     *fair;
    sem_t                *sem;
    int                   id;
};

/* Make a semaphore in memory that children inherit; an error ends the program. */
void shared_make(struct shared_sem *s, const struct sem_ops *ops, int units);
/* Returns the number of waiting requests, or -1 if the peer does not tell. */
int shared_waiters(const struct shared_sem *s);

int shared_undo_init(void *sem, int64_t units);
int shared_no_undo_init(void *sem, int64_t units);
int shared_posix_init(void *sem, int64_t units);
int shared_semop_init(void *sem, int64_t units);
int shared_destroy(void *sem);

/* `take` and `give` are the bodies of the functions that acquire and release a unit of s. */
#define SHARED_PEER(peer, title, make, take, give)                      \
    static inline int peer##_peer_acquire(void *sem)                    \
    {                                                                   \
        const struct shared_sem *s = sem;                               \
                                                                        \
        take;                                                           \
    }                                                                   \
    static inline int peer##_peer_release(void *sem)                    \
    {                                                                   \
        const struct shared_sem *s = sem;                               \
                                                                        \
        give;                                                           \
    }                                                                   \
    static const struct sem_ops ops_##peer = {                          \
        .name = title, .size = sizeof(struct shared_sem),               \
        .init = make, .destroy = shared_destroy,                        \
        .acquire = peer##_peer_acquire, .release = peer##_peer_release, \
    }

#define SEMOP(by, flags) \
    RETURN_IF_DONE(semop(s->id, &(struct sembuf){ .sem_op = (by), .sem_flg = (flags) }, 1))

SHARED_PEER(undo, "fairsem, undo", shared_undo_init, return fairsem_shared_acquire(s->fair, 1),
            return fairsem_shared_release(s->fair, 1));
SHARED_PEER(no_undo, "fairsem, no undo", shared_no_undo_init,
            return fairsem_shared_acquire(s->fair, 1),
            return fairsem_shared_release(s->fair, 1));
SHARED_PEER(sem_t, "sem_t", shared_posix_init, RETURN_IF_DONE(sem_wait(s->sem)),
            RETURN_IF_DONE(sem_post(s->sem)));
SHARED_PEER(semop_undo, "semop, SEM_UNDO", shared_semop_init, SEMOP(-1, SEM_UNDO),
            SEMOP(1, SEM_UNDO));
SHARED_PEER(semop, "semop", shared_semop_init, SEMOP(-1, 0), SEMOP(1, 0));

#define FOR_EACH_SHARED_PEER(X) \
    X(undo) X(no_undo) X(sem_t) X(semop_undo) X(semop)

/* The part of the workload in shared_crowd.c. */
void shared_crowd_run(bool quick);

/* Memory that children share, all zero.  It is never freed. */
void *shared_memory(size_t size);

/* Start a child that calls run(arg) and ends.  The child does not outlive this process. */
pid_t shared_start(void (*run)(void *arg), void *arg);
/* Wait until the process has ended; die if it has failed.  shared_kill() kills the process before it waits. */
void shared_join(pid_t pid);
void shared_kill(pid_t pid);

#endif /* BENCH_SHARED_PEERS_H */

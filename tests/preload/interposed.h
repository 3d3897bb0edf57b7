/* SPDX-License-Identifier: MIT */
/* interposed.h - what the parts of the interposed program share. */
#ifndef INTERPOSED_H
#define INTERPOSED_H

#include "moment.h"
#include "tried.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* In a child that is to die: no message, of an emulator neither, and no core file. */
void die_silently(void);

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold (errno: %s)\n", __FILE__, __LINE__,  \
                    #condition, strerror(errno));                                         \
            _exit(1);                                                                     \
        }                                                                                 \
    } while (0)

#define MUST_FAIL(call, error) \
    do {                       \
        errno = 0;             \
        MUST((call) == -1);    \
        MUST(errno == (error)); \
    } while (0)

/* ---- Threads that wait: interposed_waiters.c ---- */

#define STILL_WAITING (-1)

struct waiter {
    pthread_t    thread;
    sem_t       *sem;
    _Atomic int *service;       /* counts up as waiters are granted; may be NULL */
    int          place;
    _Atomic int  tid;
    _Atomic int  result;        /* STILL_WAITING, 0 or errno */
};

void start(pthread_t *thread, void *(*run)(void *), void *arg);

/* Start a thread that waits once, and return when it sleeps. */
void queue(struct waiter *w, sem_t *sem);

/* True when it sleeps again, false when its wait has ended. */
bool await_sleep(struct waiter *w);

/* Returns its result, or STILL_WAITING if it was canceled. */
int join(struct waiter *w);

int value_of(sem_t *sem);
int child_status(pid_t child);

/* A thread that waits and posts, until it is to stop. */
void *take_and_give(void *arg);
extern _Atomic int stop;

/* ---- One behavior each ---- */

/* interposed_waits.c */
int fifo(void);
int eintr(void);
int eintr_awake(void);
int eintr_destroyed(void);
int fork_in_handler(void);
int cancel(void);
int handler_post(void);
int overflow(void);
int inversion(void);
int forked_priority(void);
int slow_waits(void);
int deadlines(void);
int priorities(void);
int made_real_time(void);
int without_right(void);

/* interposed_memory.c */
int unmap(void);
int late_post(void);
int destroy_with_waiters(void);
int destroyed(void);
int copy_unused(void);
int copies(void);
int copies_of_destroyed(void);
int not_libcs(void);
int never_destroy(void);
int use_cells_again(void);
int many(void);
int no_memory(void);
int eleven(void);

/* interposed_cells.c */
long resident_bytes(void);
int never_destroyed(void);
int cells_used_again(void);

/* interposed_signals.c */
int fetched_signals(void);
int overflows(void);

/* interposed_two.c */
int bound_deeply(const char *path);
int in_namespace(const char *path);

/* interposed_origins.c */
int static_zero(void);
int pshared(void);
int shared_all_the_same(void);
int no_descriptors(void);
int nonsense(void);
int static_destructor(void);
int named(void);
int mixed_kinds(void);
int constructor(void);
int load(const char *path);

/* interposed_processes.c */
int fork_child(void);
int generations(void);
int raw_fork(void);
int signal_in_child(void);
int vfork_exec(void);
int exit_in_thread(void);
int die(const char *how);
int leave(const char *status);
int sleep_until_killed(void);
int has_file_limit(void);

/* interposed_handlers.c */
#define FS_NSIG 65
int queued_signals(void);
int signals_without_memory(void);
int stop_the_world(void);
int interrupts(const char *times);

/* interposed_actions.c */
int actions(void);
int interrupted_actions(void);

/* interposed_jumps.c */
int jumps(void);

/* interposed_faults.c */
int faults(void);

/* interposed_sandbox.c */
int sandbox(void);
int in_sandbox(void);
int without_tgkill(void);
bool refuse_tgkill(void);     /* false: seccomp does not work here */

/* Run it in a process that has no right to real-time priorities.  Returns if that fails. */
void run_without_right(const char *behavior);

/* interposed_hog.c */
int hog(void);
int holds(const char *threads_and_ns);

#endif

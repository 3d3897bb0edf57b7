/* SPDX-License-Identifier: MIT */
/*
 * interposed.h - shared by the parts of the interposed program.  Include it before all other headers.
 */
#ifndef INTERPOSED_H
#define INTERPOSED_H

#define _GNU_SOURCE
#include "hang.h"
#include "moment.h"
#include "tried.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/*
 * BEHAVIOR(name) { ... } is the body of a subcommand.  When it returns, the exit status is 0.  `argument` is the
 * word after the name, or NULL.
 */
struct behavior {
    const char      *name;
    void           (*run)(const char *argument);
    struct behavior *next;
};
extern struct behavior *behaviors;

#define BEHAVIOR(name_)                                                                  \
    static void behave_##name_(const char *argument);                                    \
    __attribute__((constructor)) static void add_##name_(void)                           \
    {                                                                                    \
        static struct behavior it = { .name = #name_, .run = behave_##name_ };           \
        it.next = behaviors;                                                             \
        behaviors = &it;                                                                 \
    }                                                                                    \
    static void behave_##name_(__attribute__((unused)) const char *argument)

/* ---- interposed_waiters.c ---- */

/* Waiting threads. */
#define STILL_WAITING (-1)

struct waiter {
    pthread_t    thread;
    sem_t       *sem;
    _Atomic int *service;       /* counts the waiters that were granted; may be NULL */
    int          place;         /* *service when this waiter was granted */
    _Atomic int  tid;
    _Atomic int  result;        /* STILL_WAITING, 0 or errno */
};

/* Start a thread that waits once, and return when the thread sleeps. */
void queue(struct waiter *w, sem_t *sem);

/* Does this thread sleep in the kernel? */
bool sleeps(pid_t process, pid_t thread);

/* Returns true when the thread sleeps again, or false when its wait has ended. */
bool await_sleep(struct waiter *w);

/* Returns the result of the wait, or STILL_WAITING if the thread was canceled. */
int join(struct waiter *w);

/* Let a thread wait and be granted: this moves the semaphore into a cell of the interposer. */
void contend(sem_t *sem);

int value_of(sem_t *sem);
bool is_interposed(void);

/* Threads that run until they are told to stop. */
void start(pthread_t *thread, void *(*run)(void *), void *arg);
void start_all(pthread_t *thread, int count, void *(*run)(void *), void *arg);
void join_all(pthread_t *thread, int count);
void stop_all(pthread_t *thread, int count);
void *take_and_give(void *arg);
extern _Atomic int stop;

/* Times and signals. */
extern const struct timespec past;
struct timespec soon(clockid_t clock, long us);
void handle(int sig, void (*handler)(int), int flags);
void handle_info(int sig, void (*handler)(int, siginfo_t *, void *), int flags);
bool blocks_no_signal(void);
#define FS_NSIG 65

/* Children. */
int child_status(pid_t child);

/* For a child that is to die: its death leaves no message, not even of an emulator, and no core file. */
void die_silently(void);

/* ---- interposed_stepping.c ---- */

/*
 * Stop a child before a chosen instruction of an operation that the child repeats.
 *
 * The child stops itself, by SIGSTOP, before and after each operation.  Only its main thread is traced:
 * its other threads run on while the main thread is stopped.
 */

/* Exit on processors other than x86-64, and on machines whose debug registers do not work. */
void needs_steps(void);

/* Returns a traced child that runs run(arg) and has stopped itself.  The child ends when its parent ends. */
pid_t begin_traced(void (*run)(const void *), const void *arg);
void end_traced(pid_t pid);

/* Let the child run until it stops itself, and deliver the signals that come to it. */
void run_to_stop(pid_t pid);

enum { STEPS_MOST = 20000 };

/*
 * Step through the rest of the operation, and note the address of each instruction.  Returns the number of
 * instructions, and stores the number of signals that came.
 */
int note_all(pid_t pid, uintptr_t *list, int *signals);

/*
 * Stop the child before this instruction of the list, by the processor's debug registers, which belong to one
 * thread.  Returns false if the operation ends without reaching the instruction.
 */
bool stop_before(pid_t pid, const uintptr_t *list, int instruction);

/* ---- interposed_sandbox.c ---- */

/* From now on, raise SIGSYS instead of doing tgkill().
 * Returns false if seccomp does not work on this machine.
 */
bool refuse_tgkill(void);

/* Run a behavior in a process without the right to real-time priorities.  Returns only if the exec fails. */
void run_without_right(const char *behavior);

#endif

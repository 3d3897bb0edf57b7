/* SPDX-License-Identifier: MIT */
/*
 * threads.h - threads that take turns on one stack.
 *
 * Where a thread would fall asleep in the library, machine.c runs the next steps of the sequence on top of its
 * stack, as those of another thread, which may fall asleep, too.  So the thread that fell asleep last goes on
 * first.  A thread may have been woken long before it goes on: such late threads are part of the test.
 *
 * There are no system threads, and no time passes, so the same bytes always make the same run.
 */
#ifndef THREADS_H
#define THREADS_H

#include "model.h"

enum { STACKED = 5 };     /* the most threads */

int  thread_running(void);
bool thread_may_sleep(void);    /* can another thread still run on top of it? */

/* The call that the running thread is in. */
struct thread_call {
    struct model_wait    *wait;     /* NULL if the call may not sleep */
    const fairsem_wait_t *how;
    int                   depth;    /* number of nested calls */
    int                   calls_back; /* the call that runs the callback it is in, or 0 */
    struct all           *all;      /* the call of several semaphores that it is in, or NULL */
};
struct thread_call *thread_call(void);
int thread_calls_back(void);        /* see model_calls_back */

/* ---- Sleep ---- */

enum wakeup { NOT_YET, WOKEN, EXPIRED, SPURIOUS, INTERRUPTED, CANCELED };

/* The event that a step chooses for the thread that fell asleep last, if it is possible. */
extern enum wakeup thread_wish;

/* Called by the machine: the thread sleeps on `on`; the other function wakes the threads that sleep there. */
enum wakeup thread_sleeps(const void *on, clockid_t clock, const struct timespec *deadline,
                          bool interruptible);
/* Called by the machine: the thread is in the queue, and stays awake for a moment. */
void  thread_spins(void);
/* Called by the machine: the thread has locked a mutex. */
void  thread_locks(void);
void  thread_is_woken(const void *on);
void **thread_specific(void);   /* its value of the library's key */
_Noreturn void thread_is_canceled(void);

/*
 * Run a step as the bottom of the running thread's stack, to which a cancellation unwinds the stack.
 */
void thread_run(void (*step)(void));
void thread_reset(void);        /* before a sequence */

#endif

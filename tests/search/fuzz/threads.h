/* SPDX-License-Identifier: MIT */
/*
 * threads.h - threads that take turns on one stack.
 *
 * When a thread would fall asleep in the library, machine.c runs the next steps of the sequence on top of the
 * thread's stack, as steps of another thread.  That thread may fall asleep, too.  So the thread that fell
 * asleep last goes on first.  A thread may have been woken long before it goes on: such late threads are part
 * of the test.
 *
 * There are no system threads, and no time passes, so the same bytes always make the same run.
 */
#ifndef THREADS_H
#define THREADS_H

#include "model.h"

enum { STACKED = 5 };     /* the most threads */

int  thread_running(void);
bool thread_may_sleep(void);    /* can another thread still run on top of the running one? */

/* The call that the running thread is in. */
struct thread_call {
    struct model_wait    *wait;     /* NULL if the call may not sleep */
    const fairsem_wait_t *how;
    int                   depth;    /* number of nested calls */
    int                   calls_back; /* the call that runs the thread's callback; 0 outside callbacks */
    struct all           *all;      /* the thread's call of several semaphores, or NULL */
};
struct thread_call *thread_call(void);
int thread_calls_back(void);        /* see model_calls_back */

/* ---- Sleep ---- */

enum wakeup { NOT_YET, WOKEN, EXPIRED, SPURIOUS, INTERRUPTED, CANCELED };

/* The event that a step wishes for the thread that fell asleep last.  It comes if it is possible. */
extern enum wakeup thread_wish;

/* Called by the machine: the thread sleeps on `on`, until thread_is_woken() or another event. */
enum wakeup thread_sleeps(const void *on, clockid_t clock, const struct timespec *deadline,
                          bool interruptible);
/* Called by the machine: the thread is in the queue, and stays awake for a moment. */
void  thread_spins(void);
/* Called by the machine: the thread has locked a mutex. */
void  thread_locks(void);
void  thread_is_woken(const void *on);
void **thread_specific(void);   /* the thread's value of the library's key */
_Noreturn void thread_is_canceled(void);

/*
 * Run a step at the bottom of the running thread's stack.  A cancellation unwinds the stack to this bottom.
 */
void thread_run(void (*step)(void));
void thread_reset(void);        /* before a sequence */

#endif

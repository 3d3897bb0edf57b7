/* SPDX-License-Identifier: MIT */
/* handlers.h - no signal handler of the program inside a critical section; see handlers.c. */
#ifndef FS_HANDLERS_H
#define FS_HANDLERS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* The type by which every handler is called; one for (int) ignores the other arguments. */
typedef void fs_handler_fn(int sig, siginfo_t *info, void *context);

#define FS_SIGNALS 65       /* one more than the highest signal number of Linux */

/* The program's handlers, by signal number.  NULL: it has installed none through this module. */
extern fs_handler_fn *_Atomic fs_handlers[FS_SIGNALS];

/* The function that the kernel calls instead of the program's handler. */
fs_handler_fn fs_trampoline;

/* The same for a handler with SA_RESETHAND. */
fs_handler_fn fs_trampoline_once;

/*
 * Called by the latter: reset the disposition.  Returns the handler; or NULL, if another thread has
 * reset or changed the disposition since the kernel chose this one.
 */
extern fs_handler_fn *(*fs_reset_handler)(int sig);

/* Has the handler SA_RESTART?  That is told to this function, before the handler is called. */
extern _Atomic bool fs_handler_restarts[FS_SIGNALS];
extern void (*fs_note_handler)(bool restarts);      /* until there are waits: nothing */

extern _Atomic bool fs_handler_is_once[FS_SIGNALS]; /* has it SA_RESETHAND? */

/*
 * Between these two no handler of the program runs in this thread.  They can be nested, and take a
 * few instructions.  (A lock that is held only between them can be used in handlers.)
 */
void fs_section_enter(void);
void fs_section_leave(void);

/*
 * A signal may come in a child before the handlers of pthread_atfork() have run.  Then `after_fork`
 * is called first.
 */
void fs_handlers_prepare(void (*after_fork)(void));

/* In the child, after a fork: drop the kept signals, which were sent to the parent. */
void fs_handlers_in_child(void);

#endif

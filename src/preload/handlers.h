/* SPDX-License-Identifier: MIT */
/* handlers.h - no signal handler of the program runs inside a critical section; see handlers.c. */
#ifndef FS_HANDLERS_H
#define FS_HANDLERS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Every handler is called as a function of this type.  A handler(int) ignores the other arguments. */
typedef void fs_handler_fn(int sig, siginfo_t *info, void *context);

#define FS_SIGNALS 65       /* one more than the highest signal number of Linux */

/* The actions that the program has installed; written by actions.c. */
extern struct fs_installed {
    fs_handler_fn *_Atomic handler;     /* or NULL */
    _Atomic int            flags;       /* a subset of SA_SIGINFO, SA_RESETHAND and SA_RESTART */
} fs_installed[FS_SIGNALS];

/* The function that the kernel calls instead of the program's handler. */
fs_handler_fn fs_trampoline;

/*
 * Called before a handler with SA_RESETHAND: reset the disposition.  Returns the handler, or NULL if another
 * thread has reset or changed the disposition since the kernel chose the trampoline.
 */
extern fs_handler_fn *(*fs_reset_handler)(int sig);

/* Called before each handler.  NULL until fs_jumps_prepare(), before which no thread waits in this module. */
extern void (*fs_note_handler)(bool restarts);

/*
 * Begin and end a section: between these calls no handler of the program runs in this thread.  Sections can be
 * nested; each call takes a few instructions.  A lock that is held only in sections can be taken in handlers.
 */
void fs_section_enter(void);
void fs_section_leave(void);

/* If a signal comes in a child before the handlers of pthread_atfork() run, `after_fork` is called first. */
void fs_handlers_prepare(void (*after_fork)(void));

/* Called in the child, after a fork: drop the deferred signals, which were sent to the parent. */
void fs_handlers_in_child(void);

#endif

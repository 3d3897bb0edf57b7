/* SPDX-License-Identifier: MIT */
/* jumps.h - a handler that interrupts a wait may leave the wait by siglongjmp(); see jumps.c. */
#ifndef FS_JUMPS_H
#define FS_JUMPS_H

/* A call that waits, in the list of its thread.  The structure is on the stack of the call. */
struct fs_wait_place {
    void                 *wait;     /* the struct fs_wait of the call, from begin_wait to end_wait; else NULL */
    struct fs_wait_place *outer;    /* if this call is in a handler: the call that the handler interrupted */
};

/*
 * Record that this thread enters or leaves a call that waits.  These calls can be nested.  A cancellation calls
 * fs_wait_place_leave(), too.
 */
void fs_wait_place_enter(struct fs_wait_place *place);
void fs_wait_place_leave(struct fs_wait_place *place);

/* The functions begin_wait and end_wait of struct fs_signal_hooks. */
void fs_wait_begins(void *wait);
void fs_wait_ends(void);

/* Returns how many handlers without SA_RESTART this thread has run. */
unsigned fs_interruptions(void);

/* Find libc's functions. */
void fs_jumps_prepare(void);

#endif

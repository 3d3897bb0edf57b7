/* SPDX-License-Identifier: MIT */
/* jumps.h - a handler that interrupts a wait may leave the wait by siglongjmp(); see jumps.c. */
#ifndef FS_JUMPS_H
#define FS_JUMPS_H

/* A call of sem_wait or one of its relatives, on the stack of its thread. */
struct fs_wait_place {
    void                 *wait;     /* the library's wait, or NULL before and after it */
    struct fs_wait_place *outer;    /* if a handler makes this call: the call that it has interrupted */
};

/*
 * Record that this thread enters or leaves such a call.  Calls can be nested.  A cancellation calls
 * fs_wait_place_leave(), too.
 */
void fs_wait_place_enter(struct fs_wait_place *place);
void fs_wait_place_leave(struct fs_wait_place *place);

/* For struct fs_signal_hooks: begin_wait and end_wait. */
void fs_wait_begins(void *wait);
void fs_wait_ends(void);

/* Returns how many handlers without SA_RESTART this thread has run. */
unsigned fs_interruptions(void);

/* Find libc's functions. */
void fs_jumps_prepare(void);

#endif

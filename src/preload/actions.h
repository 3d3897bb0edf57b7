/* SPDX-License-Identifier: MIT */
/* actions.h - the interposer's sigaction() and its relatives; see actions.c. */
#ifndef FS_ACTIONS_H
#define FS_ACTIONS_H

typedef void fs_handler(int sig);

/*
 * Find libc's functions.  The wrappers call this function, too, because another library may use a wrapper
 * before our constructor has run.
 */
void fs_actions_prepare(void);

void fs_actions_in_child(void);

#endif

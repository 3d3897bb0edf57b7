/* SPDX-License-Identifier: MIT */
/*
 * awake.h - the head of the line may be awake when its turn comes: who, and whether it pays.
 *
 * Where the thread that will release runs on another core, a unit handed to a thread that is
 * awake arrives in a fraction of a microsecond, one handed to a sleeper in the time of a
 * wake-up: thirty to eighty times as long.  Where it needs our core, every moment awake is
 * lost, to everybody.  Nothing tells the two apart beforehand, so each semaphore learns:
 *
 *   - Only the head spins, on its own waiter's state (spin.h).  It may have joined as the
 *     head, or be alerted: woken one grant ahead, so that its wake-up overlaps the time that
 *     its predecessor holds the unit.  Each is a lesson of its own.
 *   - The granter sees whether it paid: the head is awake, or asleep.  It holds the mutex, so
 *     the lesson needs no atomics, and the waiter need not touch the semaphore after its
 *     grant (I8).
 *   - What paid is done again.  Each failure costs the credit of two successes; without
 *     credit the next try comes after twice as many waits as the last time, up to
 *     FS_AWAKE_RARELY.  So what pays in less than two of three cases becomes rare, and where
 *     it never pays it costs next to nothing.
 */
#ifndef FS_AWAKE_H
#define FS_AWAKE_H

#include "spin.h"

#include <stdbool.h>
#include <stdint.h>

#define FS_AWAKE_RARELY 511
#define FS_AWAKE_CREDIT 16      /* at most: after eight failures in a row it is known */

struct fs_aftermath;
struct fs_sem;
struct fs_waiter;

struct fs_lesson {
    uint16_t pause;             /* waits between two tries */
    uint16_t left;              /* of these, still to come */
    uint16_t credit;
};

/* A semaphore's, under its mutex.  All zero: nothing is known, so both are tried. */
struct fs_awake {
    struct fs_lesson        as_next, alerted;
    struct fs_lesson       *lesson;     /* which of them it is for */
    const struct fs_waiter *who;        /* in line, should be awake; or NULL */
};

/* All with the mutex held. */

/* A thread has joined the line: what should it do before it sleeps? */
enum fs_spin_kind fs_awake_join(struct fs_sem *s, const struct fs_waiter *w);

/* Units have been granted, and there is another in line: wake it already, if that pays. */
void fs_awake_alert(struct fs_sem *s, struct fs_aftermath *after);

/* The head is asleep, and is to come and claim: see bypass.h. */
void fs_awake_call(struct fs_sem *s, struct fs_waiter *head, struct fs_aftermath *after);

/* The one who should be awake leaves the line.  Before it is told. */
void fs_awake_leave(struct fs_sem *s, const struct fs_waiter *w, bool granted);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * spin.h - stay awake for a moment before sleeping, and how long that is worth it.
 *
 * The measure is what a wake-up takes on this machine at this time, as seen by those who are
 * woken.  Who spins, and whether it pays, is in awake.h.
 */
#ifndef FS_SPIN_H
#define FS_SPIN_H

#include <stdatomic.h>
#include <stdint.h>

enum fs_spin_kind {
    FS_SPIN_NOT,
    /*
     * Joined as the head: for two wake-ups.  One would be the competitive bound (Karlin, Li,
     * Manasse, Owicki, 1991: at most twice the cost of the best choice).  But the other side
     * may sleep, too, and its answer then comes after its own wake-up.  Who spins for less
     * never sees a success where two threads take turns, and learns that it does not pay.
     */
    FS_SPIN_AS_NEXT,
    FS_SPIN_IF_POSSIBLE,    /* the same, but look first whether there is more than one core */
    /*
     * Alerted: for half a wake-up, its predecessor has had one to get going.  Where that has
     * been put on the core on which we spin, longer would only keep it from its work.
     */
    FS_SPIN_ALERTED
};

/* Until *word is no longer `value`, or it is time to sleep.  No lock held. */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind);

/* A thread that slept, and was woken at `woken_ns`, runs. */
void fs_spin_woken(int64_t woken_ns);

#endif

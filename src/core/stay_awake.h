/* SPDX-License-Identifier: MIT */
/*
 * stay_awake.h - may a waiter stay awake for its grant, and for how long?  Who wakes the next head?
 *
 * If the releasing thread runs on another core, a unit reaches a waiter that is awake in a fraction
 * of a microsecond.  A sleeping waiter needs a wake-up: ten to a hundred times as long.  If the
 * releaser needs our core, every moment awake delays all threads.  Nothing distinguishes the two
 * cases beforehand.  But afterwards the granter knows, for every waiter that was the head, asleep
 * or awake, how long it was the head, and on which cores it and the granter ran.  Staying awake
 * would have paid off if the cores differ and the time is at most two wake-ups.  So the semaphore
 * learns from every wait, without experiments.
 *
 *   - A semaphore has three counters, called doubts.  The first is about a thread that joins as the
 *     head: should it spin?  The second: should it yield, because its granter needs its own core?
 *     The third is about the next head: should it be woken early, one grant ahead, so that its
 *     wake-up overlaps the time for which its predecessor holds the unit?  For the third only the
 *     time counts, not the cores.  If several threads take turns on a few
 *     cores, two of them are often on the same one (4 threads on two cores, 0.3 us each: 500,000
 *     grants a second with the cores counted, 1,630,000 without).  If the woken thread must wait
 *     for that core, the time shows it.
 *   - A wait that favors staying awake takes one from the doubt, any other adds two.  So if less
 *     than two of three waits favor it, it is not done.  The granter changes the doubts under the
 *     mutex: they need no atomics, and the waiter need not touch the semaphore after its grant
 *     (I8).
 *   - In a crowd, that is with more than two waiters, there are more threads than cores (often),
 *     and most hand-offs are to a thread that must first get a core.  Then what matters is that no
 *     core goes idle and that nobody pays for wake-ups.  So a waiter whose turn is near (its place
 *     in the queue times the usual time from grant to grant) yields its core again and again
 *     instead of sleeping.  And the releasing thread leaves it to the next thread that joins to
 *     wake somebody: that one is about to sleep, and has a core to give away.  (A wake by the
 *     releasing thread took 4 to 8 us of its time, and the woken thread ran 12 us later.  16
 *     threads, 2 us each, on two cores: 69,000 grants a second then, 210,000 so; 8 threads: 52,000
 *     then, 280,000 so.)  An early wake is a hint.  If nobody gives it, the head is woken at its
 *     grant.
 *   - Whom does that thread wake?  If the unit is in use on another core, the first in the queue
 *     that was on its own core when it joined: no core has to be interrupted for it, and it runs as
 *     soon as the other one sleeps.  That waiter is next here, so it spins, for as long as a few
 *     short holds may take; if it yielded, it would come up again after all others of its core.
 *     Otherwise the head, which yields.  (Holds of the sem_t, if it is always the head, and so: two
 *     units, 5 us each, 0.52 and 0.66; one unit, 1 us each, 16 threads, 0.5 and 0.65.)
 *   - A yield beside a busy thread of another program costs a whole time slice.  A thread that
 *     comes back so late says so, and then no thread of the process yields for 5 ms; if the next
 *     one is late again, for 10 ms, and so on, up to 0.64 s.  (When it was half a second at once, a
 *     moment without the machine, of which a virtual one has several in a second, made everybody
 *     sleep: 8 threads, 2 us each, fell from 190,000 grants a second to 65,000.)  And no thread
 *     with a real-time policy yields: it would give way to nobody.
 *   - The holders' cores come first.  A thread that spins on a core that a holder of units needs
 *     delays the very release that it waits for.  The doubts do not show this, because the thread
 *     is awake when it is granted.  So no thread spins unless the process has more cores than
 *     threads can hold units.  A thread that yields takes no core from a holder.
 */
#ifndef FS_STAY_AWAKE_H
#define FS_STAY_AWAKE_H

#include "cpu.h"
#include "deadline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known yet, so threads stay awake. */
struct fs_stay_awake {
    uint8_t as_head, as_head_here, early; /* doubts; `here`: on the granter's core */
    uint8_t turn;               /* about the time from grant to grant: fs_turn_ns() */
};

/* With more waiters than this, there is a crowd. */
#define FS_FEW 2

/*
 * Further behind, a waiter sleeps: so many would mostly yield to each other.  The places are for
 * each thread that can hold units.
 */
#define FS_NEAR_PLACES 12
#define FS_NEAR_NS     200000

/* So long does the waiter spin that is next on its core, and so far from the head may it be. */
#define FS_NEXT_NS     30000
#define FS_NEXT_PLACES 8

/* If turns are longer, nobody is next on its core, and the head is woken early only if it pays. */
#define FS_SOON_NS     20000

#define FS_TURN_MAX 72          /* 0.26 s */

/* About 2^(turn/4) microseconds: steps of a fifth.  (More than the maximum: a damaged segment.) */
static inline int64_t fs_turn_ns(uint8_t turn)
{
    static const int64_t quarter[] = { 1000, 1190, 1410, 1680 };
    int steps = turn < FS_TURN_MAX ? turn : FS_TURN_MAX;

    return quarter[steps % 4] << (steps / 4);
}

/* Or has a yield just taken a time slice? */
bool fs_yields_pay(int64_t now_ns);

/* The waiter was the head for so long, while others waited behind it. */
void fs_turn_learn(struct fs_stay_awake *doubts, int64_t ns);

/* At most so many threads can hold n of these units each. */
static inline int64_t fs_holders(int64_t units, int64_t n)
{
    int64_t most = n > 0 ? units / n : units;

    return most > 0 ? most : 1;
}

/* Is the turn of a waiter at this place of the queue so near that it should yield, not sleep? */
static inline bool fs_turn_is_near(const struct fs_stay_awake *doubts, int64_t nth, int64_t holders)
{
    return nth > FS_FEW && nth / FS_NEAR_PLACES < holders
           && nth * fs_turn_ns(doubts->turn) <= FS_NEAR_NS;
}

#define FS_DOUBT_MAX  16
#define FS_DOUBT_HIGH 8         /* from here on, threads sleep at once */

static inline uint8_t fs_doubt_after(uint8_t doubt, bool paid)
{
    if (paid)
        return doubt != 0 ? doubt - 1 : 0;
    return doubt + 2 < FS_DOUBT_MAX ? doubt + 2 : FS_DOUBT_MAX;
}

/* Are there cores for so many holders of units, and for one more thread? */
static inline bool fs_cores_suffice(int64_t holders)
{
    return holders < fs_cpu_count();
}

/*
 * Learn from a grant: the waiter was the head for head_ns, and ran on `core` when it joined; the
 * caller is the granter.  `joined_as_head` says which of the two doubts changes.
 */
void fs_stay_awake_learn(struct fs_stay_awake *doubts, bool joined_as_head, int64_t head_ns,
                         int core);

enum fs_spin_kind {
    FS_SPIN_NOT,
    /*
     * Joined as the head: spin for two wake-ups.  One would be the competitive bound (Karlin, Li,
     * Manasse, Owicki, 1991: at most twice the cost of the best choice).  But the releasing thread
     * may also sleep, and then releases only after its own wake-up.
     */
    FS_SPIN_AS_HEAD,
    /* Woken early: spin for half a wake-up; the predecessor has already run for the time of one. */
    FS_SPIN_WOKEN,
    /* Joined as the head, but the releasing thread needs our core: yield for as long. */
    FS_YIELD_AS_HEAD,
    /* The same in a crowd, where the predecessor may still be waiting for a core: two wake-ups. */
    FS_YIELD_WOKEN,
    /* Its turn is near: twice as long as that means. */
    FS_YIELD_IN_QUEUE
};

/* What others tell a thread in the queue, while it is awake or when they wake it. */
enum fs_hint {
    FS_HINT_NONE,
    FS_HINT_SPIN,               /* woken early, by the releasing thread */
    FS_HINT_YIELD,              /* the same in a crowd, by the next to join */
    FS_HINT_NEXT                /* the same, or awake already: it is next on its core, and spins */
};

/*
 * Spin, or yield, until *word is no longer `value`, or until it is time to sleep.  A thread that
 * joined as the head passes the time of that, because another reading of the clock would take as
 * long as a cache line takes from core to core.  *hint may become FS_HINT_NEXT meanwhile.
 * No lock held.
 */
void fs_spin(const _Atomic int *word, int value, enum fs_spin_kind kind, int64_t joined_ns,
             const _Atomic uint8_t *hint);

/* May a thread that yields so miss its deadline (NULL: none)? */
static inline bool fs_yields_past(enum fs_spin_kind kind, const struct fs_deadline *deadline)
{
    return kind >= FS_YIELD_AS_HEAD && deadline != NULL
           && fs_deadline_rest(deadline, FS_NEAR_NS * 2) < FS_NEAR_NS * 2;
}

/* A thread that slept, and was completed at `completed_ns`, runs now: note the time it took. */
void fs_spin_woken(int64_t completed_ns);

#endif

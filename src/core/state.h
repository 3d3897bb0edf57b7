/* SPDX-License-Identifier: MIT */
/*
 * state.h - a state machine: a word, and a table of the transitions that it may make.
 *
 * Each machine has its own type for its states (waiter.h, ticket.h) and one of these tables.
 * All changes of a state go through the two functions here.  In the test build (FS_CHECKED) a
 * transition that is not in the table stops the program.
 */
#ifndef FS_STATE_H
#define FS_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if !defined(FS_CHECKED)
#define FS_CHECKED 0
#endif

#define FS_TO(state) (UINT32_C(1) << (state))

struct fs_machine {
    const char *name;
    uint32_t    arrows[12];     /* from each state: FS_TO() of where it can go */
};

#if FS_CHECKED
void fs_check_arrow(const struct fs_machine *machine, int from, int to);
#else
static inline void fs_check_arrow(const struct fs_machine *machine, int from, int to)
{
    (void)machine;
    (void)from;
    (void)to;
}
#endif

static inline void fs_state_go(const struct fs_machine *machine, _Atomic int *state, int to,
                               memory_order order)
{
    if (FS_CHECKED)
        fs_check_arrow(machine, atomic_load_explicit(state, memory_order_relaxed), to);
    atomic_store_explicit(state, to, order);
}

/* By compare-and-swap, from *from; if the state is another one, *from is set to it. */
static inline bool fs_state_try(const struct fs_machine *machine, _Atomic int *state, int *from,
                                int to, memory_order if_done, memory_order if_not)
{
    fs_check_arrow(machine, *from, to);
    return atomic_compare_exchange_strong_explicit(state, from, to, if_done, if_not);
}

#endif

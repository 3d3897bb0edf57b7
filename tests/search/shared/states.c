/* SPDX-License-Identifier: MIT */
/*
 * states.c - hashes the state of a run (../engine/seen.c): stacks, the private memory of live processes,
 * segments, the tables of kernel.c, and the records of the oracles.
 */
#include "explorer.h"

uint64_t state_now(const struct thread *current)
{
    bool runs = current != NULL && can_go_on(current);
    uint64_t hash = mix(runs ? current->what_for + 1 : 0, &current, sizeof current);

    hash = mix(hash, &run, sizeof run);
    for (int i = 0; i < THREADS; i++) {
        if (thread[i].exists)
            hash = mix_thread(hash, &thread[i]);
    }
    for (int i = 0; i < FILES; i++) {
        if (run.file[i].made)
            hash = mix(hash, kernel_memory(i), (size_t)run.file[i].size);
    }
    return process_hash(hash);
}

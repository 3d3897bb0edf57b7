/* SPDX-License-Identifier: MIT */
/* sequence.c - see sequence.h. */
#include "sequence.h"

#include "bytes.h"
#include "machine.h"
#include "steps.h"

/*
 * The frequency of each step among the values of a byte.  The meaning of the corpus depends on this
 * table: after a change here it must be made again (make fuzz).
 */
static const struct {
    void (*step)(void);
    int    weight;
} steps[] = {
    { step_ticket_take, 34 },
    { step_ticket_return, 16 },
    { step_ticket_claim, 12 },
    { step_ticket_wait, 8 },
    { step_release, 28 },
    { step_tryacquire, 8 },
    { step_upto, 7 },
    { step_acquire, 8 },
    { step_acquire_for, 8 },
    { step_acquire_until, 6 },
    { step_acquire_with, 18 },
    { step_with, 8 },
    { step_units_acquire, 6 },
    { step_units_tryacquire, 4 },
    { step_units_adopt, 3 },
    { step_units_release, 5 },
    { step_units_return, 4 },
    { step_units_split, 3 },
    { step_units_merge, 3 },
    { step_units_forget, 1 },
    { step_consume, 5 },
    { step_set_capacity, 9 },
    { step_close, 2 },
    { step_would_block, 4 },
    { step_dump, 1 },
    { step_renew_sem, 5 },
    { step_token_cancel, 6 },
    { step_renew_token, 4 },
    { step_time_passes, 6 },
    { step_clock_is_set, 2 },
    { step_acquire_all, 6 },
    { step_release_all, 2 },
    { step_wish, 14 },
};

enum { STEPS = sizeof steps / sizeof steps[0] };

void sequence_step(void)
{
    int at = byte(), i = 0;

    for (;;) {
        at -= steps[i].weight;
        if (at < 0)
            break;
        i = (i + 1) % STEPS;
    }
    steps[i].step();
}

void sequence_run(const uint8_t *data, size_t size)
{
    machine_on = true;
    bytes_are(data, size);
    thread_reset();
    words_begin(data, size);
    model_now_ns = INT64_C(1000000000000);
    model_ahead_ns = INT64_C(500000000000000);
    model_waits = NULL;
    model_call = 0;
    model_calls_back = thread_calls_back;
    world_begin();
    while (!bytes_end()) {
        thread_wish = NOT_YET;
        thread_run(sequence_step);
    }
    world_end();
    machine_on = false;
}

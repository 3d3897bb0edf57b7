/* SPDX-License-Identifier: MIT */
/* sequence.c - see sequence.h. */
#include "sequence.h"

#include "bytes.h"
#include "machine.h"
#include "steps.h"

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
        thread_run(step_any);
    }
    world_end();
    machine_on = false;
}

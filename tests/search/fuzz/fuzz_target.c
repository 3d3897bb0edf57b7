/* SPDX-License-Identifier: MIT */
/* fuzz_target.c - runs sequences as a target of libFuzzer: `make fuzz`. */
#include "steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    words_abort = true;
    sequence_run(data, size);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* machine.c - the presets of the machine model; see machine.h. */
#include "machine.h"

#include <stddef.h>
#include <string.h>

#define EVERYWHERE                                                                      \
    .cores = 16, .socket = 64,                                                          \
    .line = 50, .line_far = 150, .line_new = 5, .line_kept = 10,                        \
    .access = 2, .atomic = 5, .pause = 40, .clock = 25,                                 \
    .yield = 340, .yield_more = 330, .context_switch = 620, .sleep = 370,              \
    .wake = 700, .wake_nobody = 250, .deep_after = 100000, .pull = 3000, .ahead = 20000
#define VIRTUAL                                                                         \
    .wake_idle = 6500, .to_run = 20000, .to_run_tail = 57000, .away = 50000, .away_every = 10000000
#define BARE .wake_idle = 1000, .to_run = 4000

static const struct preset {
    const char *name;
    struct machine machine;
} presets[] = {
    { "vm", { EVERYWHERE, VIRTUAL } },
    { "bare", { EVERYWHERE, BARE } },
    { "deep", { EVERYWHERE, BARE, .to_run_deep = 50000 } },
};

#define PARAMETER(name) { #name, offsetof(struct machine, name) }

static const struct parameter {
    const char *name;
    size_t offset;
} parameters[] = {
    PARAMETER(cores), PARAMETER(socket), PARAMETER(slice),
    PARAMETER(line), PARAMETER(line_far), PARAMETER(line_new), PARAMETER(line_kept),
    PARAMETER(access), PARAMETER(atomic), PARAMETER(pause), PARAMETER(clock),
    PARAMETER(yield), PARAMETER(yield_more), PARAMETER(context_switch), PARAMETER(sleep),
    PARAMETER(wake), PARAMETER(wake_idle), PARAMETER(wake_nobody),
    PARAMETER(to_run), PARAMETER(to_run_tail), PARAMETER(to_run_deep), PARAMETER(deep_after),
    PARAMETER(pull), PARAMETER(ahead), PARAMETER(away), PARAMETER(away_every),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct machine machine;

bool machine_preset(const char *name)
{
    for (size_t i = 0; i < COUNT(presets); i++) {
        if (strcmp(presets[i].name, name) == 0) {
            machine = presets[i].machine;
            return true;
        }
    }
    return false;
}

bool machine_set(const char *name, int64_t value)
{
    for (size_t i = 0; i < COUNT(parameters); i++) {
        if (strcmp(parameters[i].name, name) == 0) {
            memcpy((char *)&machine + parameters[i].offset, &value, sizeof value);
            return true;
        }
    }
    return false;
}

int64_t machine_slice(void)
{
    int64_t slice = 700000;

    if (machine.slice != 0)
        return machine.slice;
    for (int64_t cores = machine.cores < 8 ? machine.cores : 8; cores >= 2; cores /= 2)
        slice += 700000;
    return slice;
}

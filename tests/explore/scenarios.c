/* SPDX-License-Identifier: MIT */
/* scenarios.c - the table.  The language is in script.c. */
#include "explore.h"

const struct scenario scenarios[] = {
    { .name = "hand-off", .units = 1, .threads =
      "acquire 1; give | acquire 1; give | acquire 1; give" },
    { .name = "timeout-or-grant", .units = 0, .threads =
      "timed 1; give | release 1; acquire 1" },
};

const int scenarios_count = sizeof scenarios / sizeof scenarios[0];

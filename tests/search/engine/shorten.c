/* SPDX-License-Identifier: MIT */
/* shorten.c - removes decisions from a schedule while it still fails by the same oracle. */
#include "explorer.h"

#include <stdio.h>
#include <string.h>

static char oracle[40];

void note_oracle(void)
{
    snprintf(oracle, sizeof oracle, "%.*s", (int)strcspn(why_failed, ":"), why_failed);
}

bool same_oracle(void)
{
    size_t length = strlen(oracle);

    return strncmp(why_failed, oracle, length) == 0 && why_failed[length] == ':';
}

/* Write the schedule without decision number `which` of those that it lists. */
static void without(const char *schedule, int which, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; *schedule != '\0'; i++) {
        size_t one = strcspn(schedule, ",");

        if (i != which)
            length += (size_t)snprintf(text + length, size - length, "%s%.*s",
                                       length > 0 ? "," : "", (int)one, schedule);
        schedule += one + (schedule[one] == ',');
    }
}

void shorten(const struct scenario *what, struct limits with, char *schedule, size_t size)
{
    char shorter[2000];

    for (int which = 0;;) {
        without(schedule, which, shorter, sizeof shorter);
        if (strlen(shorter) == strlen(schedule))
            return;
        if (fails_at(what, with, shorter) && same_oracle())
            snprintf(schedule, size, "%s", failed_schedule());
        else
            which++;
    }
}

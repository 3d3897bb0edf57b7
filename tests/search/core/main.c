/* SPDX-License-Identifier: MIT */
/*
 * main.c - the options of `explore`, and names of scenarios, that ../engine/command.c does not have; see
 * own_help: weak memory (views.h), generated scenarios (generate.c, campaign.c) and scenarios in words
 * (words.c).
 *
 * The report also has the number of different histories of each scenario; with --all-runs it must be the same.
 */
#include "explorer.h"

#include <limits.h>
#include <string.h>

static const struct scenario warm_up = {
    .name = "warm-up", .threads = "acquire 1 | acquire 1 | acquire 1 | release 3",
};

enum { RUNS = 2000 };     /* schedules of a generated scenario */

const char own_help[] =
    "\n"
    "  --stale N          weak memory: at most N loads of a run see an old value, and plain accesses must not race\n"
    "  --generate A[-B]   the generated scenarios A to B, or as many as --seconds allows; minimize a failure;\n"
    "                     this option comes last\n"
    "  --coverage         fail unless the scenarios cover all pairs of operations, and all results\n"
    "  --litmus           check the memory model itself, and end\n\n"
    "A NAME is one of the table, seed-N, the Nth generated one, or a scenario in words, as in\n"
    "  explore 'units 1, capacity 2: acquire 2 token; give | cancel | capacity 1'\n";

const char program_name[] = "explore", own_heading[] = "  histories", own_events[] = "old loads";

static bool covers;

/* FIRST or FIRST-LAST */
static int generate_many(const char *numbers)
{
    char *end;
    unsigned long first = strtoul(numbers, &end, 10);
    unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

    if (*end != '\0' || last < first)
        refuse("not FIRST-LAST:", numbers);
    if (asked.runs == 0)
        asked.runs = RUNS;
    if (asked.seconds > 0)
        last = ULONG_MAX - (unsigned long)parts;
    return campaign(first + (unsigned long)part, last, (unsigned long)parts, asked) ? 0 : 1;
}

/* ---- Called by the engine ---- */

int own_option(const char *option)
{
    if (strcmp(option, "--litmus") == 0)
        return litmus() ? 0 : 1;
    if (strcmp(option, "--generate") == 0)
        return generate_many(argument());
    if (strcmp(option, "--stale") == 0) {
        asked.own_bound = (int)number();
        asked.own = true;
    } else if (strcmp(option, "--coverage") == 0) {
        covers = true;
    } else {
        return NO_SUCH_OPTION;
    }
    return GO_ON;
}

const struct scenario *own_scenario(const char *name)
{
    const struct scenario *what;

    if (strcmp(name, warm_up.name) == 0)
        return &warm_up;
    if (strncmp(name, "seed-", 5) == 0 && name[5] != '\0'
        && name[5 + strspn(name + 5, "0123456789")] == '\0')
        return generate(strtoul(name + 5, NULL, 10));
    what = strchr(name, ' ') != NULL ? scenario_of_words(name) : NULL;
    return script_has_processes ? NULL : what;
}

bool own_limits(const struct scenario *what, struct limits *with)
{
    (void)what;
    (void)with;
    return true;
}

void print_own(void)
{
    printf(" %10d", history_count());
}

/* Do one run, with the first answer to each decision.  In later runs, threads have waited before. */
void begin_program(const char *first)
{
    const struct limits once = { .runs = 1 };

    asked.bound = 2;
    memory_learn();
    if (explore(&warm_up, once).failed) {
        if (strcmp(first, "--replay") == 0)
            replay(&warm_up, once, "");
        exit(1);
    }
    memory_warm();
    keys_learn();
}

bool end_program(void)
{
    return !covers || coverage_is_complete();
}

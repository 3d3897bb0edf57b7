/* SPDX-License-Identifier: MIT */
/*
 * main.c - the options of `dies`, and names of scenarios, that ../engine/command.c does not have; see own_help.
 * Without --bound, the scenario says how many preemptions a run may have.
 */
#include "explorer.h"

#include <string.h>

const char own_help[] =
    "\n"
    "  --deaths N         at most N processes die\n"
    "  --quick            without the long scenarios\n\n"
    "A NAME is one of the table, or a scenario in words, as in\n"
    "  dies 'units 1, deaths 1: open; acquire 1; start; release 1 || open; acquire 1'\n";

const char program_name[] = "dies", own_heading[] = "", own_events[] = "deaths";

static bool quick;

void begin_program(const char *first)
{
    (void)first;
    asked.bound = -1;
    kernel_start();
    process_learn();
}

bool end_program(void)
{
    return true;
}

void print_own(void)
{
}

int own_option(const char *option)
{
    if (strcmp(option, "--deaths") == 0) {
        asked.own = true;
        asked.own_bound = (int)number();
    } else if (strcmp(option, "--quick") == 0) {
        quick = true;
    } else {
        return NO_SUCH_OPTION;
    }
    return GO_ON;
}

const struct scenario *own_scenario(const char *name)
{
    const struct scenario *what = strchr(name, ' ') != NULL ? scenario_of_words(name) : NULL;

    return script_has_processes ? what : NULL;
}

bool own_limits(const struct scenario *what, struct limits *with)
{
    if (with->bound < 0)
        with->bound = what->bound != 0 ? what->bound : 2;
    return !quick || !what->thorough;
}

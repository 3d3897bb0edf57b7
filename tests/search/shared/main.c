/* SPDX-License-Identifier: MIT */
/*
 * main.c - the options and names of `dies` besides those of ../engine/command.c, see own_help.  The scenario
 * has the default of --bound.
 */
#include "explorer.h"

#include <string.h>

const char own_help[] =
    "\n"
    "  --deaths N         at most N processes die\n"
    "  --quick            without the long scenarios\n\n"
    "A NAME is one of the table, or UNITS:DEATHS:TEXT, a scenario in the language of script.c.\n";

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
    static struct scenario in_words;
    char *end;

    in_words = (struct scenario){ .name = name, .units = strtol(name, &end, 10) };
    if (*end != ':')
        return NULL;
    in_words.deaths = (int)strtol(end + 1, &end, 10);
    in_words.threads = end + 1;
    return *end == ':' ? &in_words : NULL;
}

bool own_limits(const struct scenario *what, struct limits *with)
{
    if (with->bound < 0)
        with->bound = what->bound != 0 ? what->bound : 2;
    return !quick || !what->thorough;
}

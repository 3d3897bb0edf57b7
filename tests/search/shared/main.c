/* SPDX-License-Identifier: MIT */
/*
 * main.c - dies [--bound N] [--deaths N] [--seconds S] [--part I/N] [--quick] [--all-runs]
 *               [--keep-going] [NAME...]
 *          dies --list | --replay SCHEDULE
 *
 * Runs all scenarios of the table, or those named, and prints how many schedules ran to the end,
 * and how many to a known state.  --bound: at most so many preemptions; the scenario has the
 * default.  --deaths: at most so many.  --seconds: the time for one scenario; --part 1/2: every
 * other one; --quick: without the long ones.  A NAME can also be UNITS:DEATHS:TEXT, a scenario in
 * the language of script.c.  Exit status 0: nothing found; 1: a failure, and the command that
 * repeats it has been printed; all others: it could not run (../../support/result.sh).
 */
#include "dies.h"

#include <string.h>

static bool quick, keeps_going;
static int part, parts = 1;
static struct scenario in_words;

/* It could not run. */
static _Noreturn void refuse(const char *why, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "dies: %s %s\n", why, what);
    exit(2);
}

static const struct scenario *find(const char *name)
{
    char *end;

    for (int i = 0; i < scenarios_count; i++) {
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    }
    in_words = (struct scenario){ .name = name, .units = strtol(name, &end, 10) };
    if (*end == ':') {
        in_words.deaths = (int)strtol(end + 1, &end, 10);
        if (*end == ':') {
            in_words.text = end + 1;
            return &in_words;
        }
    }
    refuse("no scenario is called", name);
}

static bool one(const struct scenario *what, int bound)
{
    if (!script_read(what))
        refuse("cannot understand", what->name);
    limits.bound = bound != 0 ? bound : what->bound != 0 ? what->bound : 2;
    return explore(what);
}

static int list(void)
{
    for (int i = 0; i < scenarios_count; i++)
        printf("%-34s %s\n", scenarios[i].name, scenarios[i].text);
    return 0;
}

static int replay_schedule(char *schedule)
{
    char *decisions = strrchr(schedule, ':'), *bound;

    if (decisions == NULL)
        return 2;
    *decisions = '\0';
    bound = strrchr(schedule, ':');
    if (bound == NULL)
        return 2;
    *bound = '\0';
    limits.bound = atoi(bound + 1);
    return replay(find(schedule), decisions + 1) ? 0 : 1;
}

static bool named(int count, char **name, int bound)
{
    bool good = true;

    for (int i = 0; i < count && (good || keeps_going); i++)
        good &= one(find(name[i]), bound);
    return good;
}

static bool all(int bound)
{
    bool good = true;

    for (int i = part; i < scenarios_count && (good || keeps_going); i += parts) {
        if (!quick || !scenarios[i].thorough)
            good &= one(&scenarios[i], bound);
    }
    return good;
}

static double number(const char *text)
{
    char *end;
    double n = strtod(text, &end);

    if (end == text || *end != '\0')
        refuse("not a number:", text);
    return n;
}

int main(int argc, char **argv)
{
    int bound = 0, i = 1;

    limits = (struct limits){ .deaths = 9, .merge = true };
    threads_catch_crashes();
    kernel_start();
    process_learn();
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--list") == 0)
            return list();
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--all-runs") == 0)
            limits.merge = false;
        else if (strcmp(argv[i], "--keep-going") == 0)
            keeps_going = true;
        else if (i + 1 == argc)
            refuse("no such option, or its argument is missing:", argv[i]);
        else if (strcmp(argv[i], "--replay") == 0)
            return replay_schedule(argv[i + 1]);
        else if (strcmp(argv[i], "--bound") == 0)
            bound = (int)number(argv[++i]);
        else if (strcmp(argv[i], "--deaths") == 0)
            limits.deaths = (int)number(argv[++i]);
        else if (strcmp(argv[i], "--part") == 0 && sscanf(argv[++i], "%d/%d", &part, &parts) == 2
                 && part >= 1 && part <= parts)
            part--;
        else if (strcmp(argv[i], "--seconds") == 0)
            limits.seconds = number(argv[++i]);
        else
            refuse("not understood:", argv[i]);
    }
    printf("%-34s %9s %9s %7s\n", "scenario", "runs", "merged", "seconds");
    return (i < argc ? named(argc - i, argv + i, bound) : all(bound)) ? 0 : 1;
}

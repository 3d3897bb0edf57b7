/* SPDX-License-Identifier: MIT */
/*
 * command.c - the command line of an explorer, see help_text.  The explorer's main.c has its own options and
 * names.
 *
 * The report says for each scenario how many schedules ran to their end, and how many ended at a known state.
 * For a failure, the command that repeats the run is printed.  A crash of the library is a failure.
 *
 * Exit status: 0 if nothing was found, 1 after a failure, any other if the search could not run
 * (../../support/result.sh).
 */
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct limits asked = { .merge = true };
int part, parts = 1;

static const char help_text[] =
    "usage: %s [OPTION]... [NAME...]\n"
    "Run the scenarios of the table, or those named, under every schedule within the limits.\n\n"
    "  --list             print the scenarios, and end\n"
    "  --replay SCHEDULE  tell a run in words, by the string that a failure prints, and end\n"
    "  --bound N          at most N preemptions\n"
    "  --seconds S        at most S seconds for each scenario\n"
    "  --runs N           at most N schedules of each\n"
    "  --jobs N           in N processes, each of which runs every Nth of the scenarios\n"
    "  --all-runs         end no schedule at a known state\n"
    "  --first            stop at the first failure\n"
    "  --help             print this text\n"
    "%s\n"
    "Exit status 0: nothing found; 1: a failure; any other: it could not run.\n";

static bool only_first;     /* stop at the first failure */
static char **next;         /* the next argument */

_Noreturn void refuse(const char *why, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s %s\n", program_name, why, what);
    exit(2);
}

/* ---- Arguments ---- */

char **arguments_left(int *count)
{
    for (*count = 0; next[*count] != NULL; ++*count)
        continue;
    return next;
}

const char *argument(void)
{
    if (*next == NULL)
        refuse("an argument is missing after", next[-1]);
    return *next++;
}

double number(void)
{
    const char *text = argument();
    char *end;
    double n = strtod(text, &end);

    if (end == text || *end != '\0')
        refuse("not a number:", text);
    return n;
}

const struct scenario *find(const char *name)
{
    const struct scenario *own;

    for (int i = 0; i < scenarios_count; i++) {
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    }
    own = own_scenario(name);
    if (own == NULL)
        refuse("no scenario is called", name);
    return own;
}

/* `schedule` is SCENARIO:BOUND:DECISIONS, see search.c. */
static int replay_schedule(const char *schedule)
{
    static char name[700];
    const char *decisions = strrchr(schedule, ':');
    const char *bound = decisions != NULL ? memrchr(schedule, ':', (size_t)(decisions - schedule))
                                          : NULL;
    struct limits with = { .bound = 0 };

    if (bound == NULL)
        refuse("a schedule is SCENARIO:BOUND:DECISIONS, not", schedule);
    with.own = sscanf(bound + 1, "%d+%d", &with.bound, &with.own_bound) == 2;
    snprintf(name, sizeof name, "%.*s", (int)(bound - schedule), schedule);
    return replay(find(name), with, decisions + 1) ? 0 : 1;
}

static int help(void)
{
    printf(help_text, program_name, own_help);
    return 0;
}

static int list(void)
{
    for (int i = 0; i < scenarios_count; i++)
        printf("%-34s %s\n", scenarios[i].name, scenarios[i].threads);
    return 0;
}

/* ---- Several processes ---- */

enum { PARTS_MAX = 64 };
static FILE *said[PARTS_MAX];       /* the outputs of the other processes */
static pid_t child[PARTS_MAX];

/* Fork the other processes.  Each process goes on with its own part of the scenarios. */
static void divide(int n)
{
    if (n < 1 || n > PARTS_MAX)
        refuse("no number of processes:", next[-1]);
    for (int i = 1; i < n; i++) {
        said[i] = tmpfile();
        child[i] = said[i] != NULL ? fork() : -1;
        if (child[i] < 0)
            refuse("cannot make", "a process");
        if (child[i] == 0) {
            dup2(fileno(said[i]), STDOUT_FILENO);
            part = i;
            break;
        }
    }
    parts = n;
}

/* Print the outputs of the other processes.  Returns the largest exit status of all processes. */
static int gather(int status)
{
    for (int i = 1; i < parts && part == 0; i++) {
        char text[4096];
        int ended = 0, other;

        waitpid(child[i], &ended, 0);
        other = WIFEXITED(ended) ? WEXITSTATUS(ended) : 2;
        status = other > status ? other : status;
        rewind(said[i]);
        for (size_t n; (n = fread(text, 1, sizeof text, said[i])) > 0;)
            fwrite(text, 1, n, stdout);
    }
    return status;
}

/* ---- Options ---- */

/* Returns the same values as own_option(). */
static int common_option(const char *option)
{
    if (strcmp(option, "--help") == 0)
        return help();
    if (strcmp(option, "--list") == 0)
        return list();
    if (strcmp(option, "--replay") == 0)
        return replay_schedule(argument());
    if (strcmp(option, "--bound") == 0)
        asked.bound = (int)number();
    else if (strcmp(option, "--seconds") == 0)
        asked.seconds = number();
    else if (strcmp(option, "--runs") == 0)
        asked.runs = (long)number();
    else if (strcmp(option, "--jobs") == 0)
        divide((int)number());
    else if (strcmp(option, "--all-runs") == 0)
        asked.merge = false;
    else if (strcmp(option, "--first") == 0)
        only_first = true;
    else
        return own_option(option);
    return GO_ON;
}

/* Returns the exit status, or GO_ON. */
static int read_options(void)
{
    while (*next != NULL && strncmp(*next, "--", 2) == 0) {
        const char *option = *next++;
        int status = common_option(option);

        if (status == NO_SUCH_OPTION)
            refuse("no such option:", option);
        if (status != GO_ON)
            return status;
    }
    return GO_ON;
}

/* ---- The table of results ---- */

static bool one(const struct scenario *what)
{
    struct limits with = asked;
    struct outcome outcome;

    if (!own_limits(what, &with))
        return true;
    if (!script_read(what))
        refuse("cannot understand", what->name);
    outcome = explore(what, with);
    printf("%-34s %10ld %10ld", what->name, outcome.runs, outcome.merged);
    print_own();
    printf(" %8.1f%s\n", outcome.seconds,
           outcome.failed ? "  FAILED" : outcome.complete ? "" : "  not all");
    fflush(stdout);
    return !outcome.failed;
}

static void print_heading(void)
{
    if (part > 0)
        return;
    printf("%-34s %10s %10s%s %8s", "scenario", "schedules", "merged", own_heading, "seconds");
    if (asked.bound >= 0)
        printf("   at most %d preemptions", asked.bound);
    if (asked.own)
        printf(", %d %s", asked.own_bound, own_events);
    printf("\n");
}

static int run_them(void)
{
    bool good = true;
    char **name;
    int names;

    print_heading();
    name = arguments_left(&names);
    for (int i = part; i < (names > 0 ? names : scenarios_count) && (good || !only_first);
         i += parts)
        good &= one(names > 0 ? find(name[i]) : &scenarios[i]);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    int status;

    catch_crashes();
    begin_program(argc > 1 ? argv[1] : "");
    next = argv + (argc > 0);
    status = read_options();
    if (status == GO_ON)
        status = run_them();
    return gather(end_program() ? status : 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * main.c - explore [--bound N] [--stale N] [--seconds S] [--part I/N] [--all-runs] [--first]
 *                  [--seen FILE] [NAME...]
 *          explore [--bound N] [--runs N] [--part I/N] [--seen FILE] --generate FIRST[-LAST]
 *          explore --list | --words NAME | --litmus | --replay SCHEDULE | --pairs [FILE...]
 *
 * Runs all scenarios, or those named, and prints a table: the schedules that ran to their end;
 * those that ended at a known state; the number of different histories.  --seconds limits the time
 * for one scenario, --runs the number of its schedules.  --part 1/2 runs every other scenario.
 * --all-runs ends no schedule at a known state, and must find as many histories.  --first stops at
 * the first failure.  A NAME is one of the table, a scenario in words (words.c), or seed-N, the Nth
 * that generate.c makes.
 *
 * --stale N turns on weak memory (views.h): at most N loads of a run see an old value, and plain
 * accesses are checked for races.  With --stale 0 only the latter.
 *
 * --generate runs many scenarios of generate.c (campaign.c), from FIRST on; with --seconds as many
 * as that time allows.  A failure is minimized.  This option comes last.
 *
 * --seen adds to FILE what operations returned, and which met.  --pairs prints in how many
 * scenarios of the table two operations meet; with FILEs also what each operation returned in which
 * state, which met, and which of the results that the header lists never came.
 *
 * Exit status 0: nothing found; 1: a failure, and the command that repeats it has been printed;
 * all others: it could not run (../../support/result.sh).  A crash of the library is a failure.
 */
#include "explore.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const struct scenario warm_up = {
    .name = "warm-up", .measures = true, .threads = "acquire 1 | acquire 1 | acquire 1 | release 3",
};

enum { RUNS = 2000 };     /* of a generated scenario */

static struct limits most = { .bound = 2, .merge = true };
static int part, parts = 1;
static bool only_first;     /* stop at the first failure */
static const char *seen_file;

/* It could not run. */
static _Noreturn void refuse(const char *why, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "explore: %s %s\n", why, what);
    exit(2);
}

static const struct scenario *find(const char *name, size_t length)
{
    static char words[700];

    snprintf(words, sizeof words, "%.*s", (int)length, name);
    if (strcmp(words, "warm-up") == 0)
        return &warm_up;
    if (strncmp(words, "seed-", 5) == 0)
        return generate(strtoul(words + 5, NULL, 10));
    for (int i = 0; i < scenarios_count; i++) {
        if (strlen(scenarios[i].name) == length && strncmp(scenarios[i].name, name, length) == 0)
            return &scenarios[i];
    }
    if (strchr(words, ' ') != NULL && scenario_of_words(words) != NULL)
        return scenario_of_words(words);
    refuse("no scenario is called", words);
}

/* SCENARIO:BOUND:DECISIONS; with weak memory the bound is PREEMPTIONS+STALE */
static int replay_schedule(const char *schedule)
{
    const char *decisions = strrchr(schedule, ':');
    const char *bound = decisions != NULL ? memrchr(schedule, ':', (size_t)(decisions - schedule))
                                          : NULL;
    struct limits with = { .bound = 0 };

    if (bound == NULL)
        refuse("a schedule is SCENARIO:BOUND:DECISIONS, not", schedule);
    with.weak = sscanf(bound + 1, "%d+%d", &with.bound, &with.stale) == 2;
    return replay(find(schedule, (size_t)(bound - schedule)), with, decisions + 1) ? 0 : 1;
}

/* FIRST or FIRST-LAST */
static int generate_many(const char *numbers)
{
    char *end;
    unsigned long first = strtoul(numbers, &end, 10);
    unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

    if (*end != '\0')
        refuse("not FIRST-LAST:", numbers);
    if (most.runs == 0)
        most.runs = RUNS;
    if (most.seconds > 0)
        last = ULONG_MAX - (unsigned long)parts;
    return campaign(first + (unsigned long)part, last, (unsigned long)parts, most) ? 0 : 1;
}

static int pairs(int files, char **file)
{
    bool all = print_pairs();

    for (int i = 0; i < files; i++) {
        if (access(file[i], R_OK) != 0)
            refuse("cannot read", file[i]);
    }

    printf("\n");
    return (files == 0 || coverage_print(files, file)) && all ? 0 : 1;
}

static int print_words(const char *name)
{
    const struct scenario *what = find(name, strlen(name));
    char words[700];

    scenario_words(what, words, sizeof words);
    printf("%s\n", words);
    return 0;
}

static int list(void)
{
    for (int i = 0; i < scenarios_count; i++)
        printf("%-28s %s\n", scenarios[i].name, scenarios[i].threads);
    return 0;
}

static bool one(const struct scenario *what)
{
    struct outcome outcome;

    if (!script_read(what))
        refuse("cannot understand", what->name);
    outcome = explore(what, most);
    printf("%-28s %10ld %10ld %10d %8.1f%s\n", what->name, outcome.runs, outcome.merged,
           outcome.histories, outcome.seconds,
           outcome.failed ? "  FAILED" : outcome.complete ? "" : "  not all");
    fflush(stdout);
    return !outcome.failed;
}

static const char *argument(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc)
        refuse("an argument is missing after", argv[*i]);
    return argv[++*i];
}

static double number(int argc, char **argv, int *i)
{
    const char *text = argument(argc, argv, i);
    char *end;
    double n = strtod(text, &end);

    if (end == text || *end != '\0')
        refuse("not a number:", text);
    return n;
}

static int options(int argc, char **argv, int *status)
{
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            *status = list();
        } else if (strcmp(argv[i], "--pairs") == 0) {
            *status = pairs(argc - i - 1, argv + i + 1);
            return argc;
        } else if (strcmp(argv[i], "--bound") == 0) {
            most.bound = (int)number(argc, argv, &i);
        } else if (strcmp(argv[i], "--stale") == 0) {
            most.stale = (int)number(argc, argv, &i);
            most.weak = true;
        } else if (strcmp(argv[i], "--litmus") == 0) {
            *status = litmus() ? 0 : 1;
        } else if (strcmp(argv[i], "--seconds") == 0) {
            most.seconds = number(argc, argv, &i);
        } else if (strcmp(argv[i], "--all-runs") == 0) {
            most.merge = false;
        } else if (strcmp(argv[i], "--first") == 0) {
            only_first = true;
        } else if (strcmp(argv[i], "--part") == 0) {
            if (sscanf(argument(argc, argv, &i), "%d/%d", &part, &parts) != 2 || part < 1
                || part > parts)
                refuse("no part:", argv[i]);
            part--;
        } else if (strcmp(argv[i], "--runs") == 0) {
            most.runs = (long)number(argc, argv, &i);
        } else if (strcmp(argv[i], "--seen") == 0) {
            seen_file = argument(argc, argv, &i);
        } else if (strcmp(argv[i], "--generate") == 0) {
            *status = generate_many(argument(argc, argv, &i));
        } else if (strcmp(argv[i], "--words") == 0) {
            *status = print_words(argument(argc, argv, &i));
        } else if (strcmp(argv[i], "--replay") == 0) {
            *status = replay_schedule(argument(argc, argv, &i));
        } else {
            refuse("no such option:", argv[i]);
        }
    }
    return i;
}

static int named(int argc, char **argv, int first)
{
    bool good = true;

    printf("%-28s %10s %10s %10s %8s   at most %d preemptions", "scenario", "schedules", "merged",
           "histories", "seconds", most.bound);
    printf(most.weak ? ", %d old loads\n" : "\n", most.stale);
    if (first == argc) {
        for (int i = part; i < scenarios_count && (good || !only_first); i += parts)
            good &= one(&scenarios[i]);
    }
    for (int i = first; i < argc && (good || !only_first); i++)
        good &= one(find(argv[i], strlen(argv[i])));
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    int status = -1, first;

    process_catch_crashes();
    memory_learn();
    if (!run_first(&warm_up)) {
        if (argc > 1 && strcmp(argv[1], "--replay") == 0)
            replay(&warm_up, (struct limits){ .bound = 0 }, "");
        return 1;
    }
    memory_warm();
    keys_learn();

    first = options(argc, argv, &status);
    if (status < 0)
        status = named(argc, argv, first);
    if (seen_file != NULL && !coverage_write(seen_file))
        refuse("cannot write", seen_file);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* fairsem_bench.c - compare fairsem with other semaphores: the command line. */
#include "data_file.h"
#include "machine.h"
#include "report.h"
#include "workloads.h"

#include <fairsem.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(bool quick);
    const char *help;
} workloads[] = {
    { "uncontended", uncontended_run, "acquire and release while nobody waits" },
    { "handoff", handoff_run, "two threads that take turns: on one core, on two, not pinned" },
    { "victim", victim_run, "a hog that always wants the unit, a victim that sometimes wants it" },
    { "contended", contended_run, "short and long holds, few and many threads, all peers" },
    { "ring", ring_run, "4, 16 and 64 threads on one unit, against a ring of futexes" },
    { "cpu", cpu_run, "the processor time of waiting" },
    { "lines", lines_run, "the cost of the length of the queue, and of priorities: tickets" },
    { "wake", wake_run, "one call that wakes thousands of threads" },
    { "expiry", expiry_run, "thousands of waiters that time out together" },
#ifdef HAVE_SHARED
    { "shared", shared_run, "between processes: speed, order, and processes that die" },
#endif
#ifdef HAVE_DROPIN
    { "dropin", dropin_run, "under fairsem-run: its sem_wait and sem_post compared with libc's" },
#endif
};
enum { WORKLOADS = sizeof(workloads) / sizeof(*workloads) };

static void usage(FILE *to)
{
    fprintf(to, "usage: fairsem-bench [--quick] [--json] [--data=DIR] workload...\n\n"
                "workloads:\n");
    for (int i = 0; i < WORKLOADS; i++)
        fprintf(to, "  %-12s %s\n", workloads[i].name, workloads[i].help);
    fprintf(to, "  %-12s all except dropin, in less than ten minutes\n\n", "all");
    fprintf(to, "options:\n"
                "  --quick      run each only briefly, to check that it works; ignore the figures\n"
                "  --json       write the results as JSON to standard output\n"
                "  --data=DIR   also write the numbers behind tables and plots into files in DIR\n"
                "  --version    print the version\n"
                "  --help       print this text\n");
}

static int wrong(const char *what, const char *arg)
{
    fprintf(stderr, "fairsem-bench: %s%s%s%s\n", what, arg ? " '" : "", arg ? arg : "",
            arg ? "'" : "");
    fprintf(stderr, "Try 'fairsem-bench --help'.\n");
    return 2;
}

/* Mark the workload of that name as wanted, or all; false if there is no such workload. */
static bool choose(const char *name, bool *wanted)
{
    bool found = false;

    for (int i = 0; i < WORKLOADS; i++) {
        bool in_all = strcmp(workloads[i].name, "dropin") != 0;

        if (strcmp(name, workloads[i].name) == 0 || (in_all && strcmp(name, "all") == 0))
            found = wanted[i] = true;
    }
    return found;
}

struct options {
    bool wanted[WORKLOADS];
    bool any, quick, json;
};

/* Parse one argument.  Returns 0 to go on, else the exit status plus 1. */
static int take(struct options *o, const char *arg)
{
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
        usage(stdout);
        return 1;
    }
    if (strcmp(arg, "--version") == 0) {
        printf("fairsem-bench %s\n", FAIRSEM_VERSION_STRING);
        return 1;
    }
    if (strcmp(arg, "--quick") == 0)
        o->quick = true;
    else if (strcmp(arg, "--json") == 0)
        o->json = true;
    else if (strncmp(arg, "--data=", 7) == 0)
        data_directory(arg + 7);
    else if (arg[0] == '-')
        return 1 + wrong("unknown option", arg);
    else if (choose(arg, o->wanted))
        o->any = true;
    else
        return 1 + wrong("unknown workload", arg);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = { .any = false };
    struct machine machine;
    bool good;

    for (int i = 1; i < argc; i++) {
        int over = take(&o, argv[i]);

        if (over)
            return over - 1;
    }
    if (!o.any)
        return wrong("no workload given", NULL);

    machine_look(&machine);
    report_begin(o.json, o.quick, &machine);
    for (int i = 0; i < WORKLOADS; i++) {
        if (o.wanted[i])
            workloads[i].run(o.quick);
    }
    report_end();
    good = data_end();
    return fflush(stdout) == 0 && !ferror(stdout) && good ? 0 : 1;
}

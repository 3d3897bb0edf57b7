/* SPDX-License-Identifier: MIT */
/* fairsem_bench.c - fairsem against other semaphores: the command line. */
#include "machine.h"
#include "report.h"
#include "workloads.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(bool quick);
    const char *help;
} workloads[] = {
    { "uncontended", uncontended_run, "acquire and release while nobody else is there" },
    { "handoff", handoff_run, "two threads in turn, on one core and on two" },
    { "victim", victim_run, "a hog that always wants the unit, a victim that sometimes does" },
    { "ring", ring_run, "4, 16 and 64 threads on one unit, against a ring of futexes" },
    { "lines", lines_run, "what the length of the line costs: tickets, thousands of sleepers" },
#ifdef HAVE_DROPIN
    { "dropin", dropin_run, "under fairsem-run: sem_wait and sem_post against libc's" },
#endif
};
enum { WORKLOADS = sizeof(workloads) / sizeof(*workloads) };

static void usage(FILE *to)
{
    fprintf(to, "usage: fairsem-bench [--quick] [--json] workload...\n\nworkloads:\n");
    for (int i = 0; i < WORKLOADS; i++)
        fprintf(to, "  %-12s %s\n", workloads[i].name, workloads[i].help);
    fprintf(to, "  %-12s all but dropin, in about 90 seconds\n\n", "all");
    fprintf(to, "options:\n"
                "  --quick      each only for a moment: it works, the figures mean nothing\n"
                "  --json       results as JSON on standard output\n"
                "  --help       this text\n");
}

static int wrong(const char *what, const char *arg)
{
    fprintf(stderr, "fairsem-bench: %s%s%s%s\n", what, arg ? " '" : "", arg ? arg : "",
            arg ? "'" : "");
    fprintf(stderr, "Try 'fairsem-bench --help'.\n");
    return 2;
}

/* Mark the workload of that name as wanted, or all; false if there is none. */
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

int main(int argc, char **argv)
{
    bool wanted[WORKLOADS] = { false };
    bool quick = false, json = false, any = false;
    struct machine machine;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return 0;
        }
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (argv[i][0] == '-')
            return wrong("unknown option", argv[i]);
        else if (choose(argv[i], wanted))
            any = true;
        else
            return wrong("unknown workload", argv[i]);
    }
    if (!any)
        return wrong("no workload given", NULL);

    machine_look(&machine);
    report_begin(json, &machine);
    for (int i = 0; i < WORKLOADS; i++) {
        if (wanted[i])
            workloads[i].run(quick);
    }
    report_end();
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

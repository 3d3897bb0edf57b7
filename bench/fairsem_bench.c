/* SPDX-License-Identifier: MIT */
/* fairsem_bench.c - compare fairsem with other semaphores: the command line. */
#include "report.h"
#include "workloads.h"

#include <fairsem.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(bool quick);
    const char *help;
} workloads[] = {
    { "uncontended", uncontended_run, "acquire and release while nobody waits" },
    { "handoff", handoff_run, "two threads that take turns: on one core, on two, not pinned" },
    { "victim", victim_run, "a hog that always wants the unit, a victim that sometimes wants it" },
    { "contended", contended_run, "short and long holds, few and many threads, all peers" },
    { "price", price_run, "what strict order costs: 2 to 64 threads, also beside a busy process" },
    { "buffer", buffer_run, "producers and consumers that share a bounded buffer" },
    { "tenants", tenants_run, "a client of 64 threads and one of one thread, with shares and without" },
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
    fprintf(to, "usage: fairsem-bench [--quick] workload...\n\n"
                "workloads:\n");
    for (int i = 0; i < WORKLOADS; i++)
        fprintf(to, "  %-12s %s\n", workloads[i].name, workloads[i].help);
    fprintf(to, "  %-12s all except dropin, in less than ten minutes\n\n", "all");
    fprintf(to, "options:\n"
                "  --quick      run each only briefly, to check that it works; ignore the figures\n"
                "  --version    print the version\n"
                "  --help       print this text\n");
}

static void wrong_usage(void)
{
    fprintf(stderr, "Try 'fairsem-bench --help'.\n");
}

/* Mark the workload with this name, or all of them, as wanted.  Returns false if no workload has the name. */
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
    bool quick;
};

enum { QUICK = 256, VERSION };

static const struct option known[] = {
    { "quick", no_argument, NULL, QUICK },
    { "version", no_argument, NULL, VERSION },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

/* Returns false, with a message, if standard output could not be written. */
static bool output_is_complete(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "fairsem-bench: standard output: not all of it could be written\n");
    return false;
}

/* Read the command line.  Returns true to go on; otherwise *exit_status is set. */
static bool read_options(int argc, char **argv, struct options *o, int *exit_status)
{
    static char name[] = "fairsem-bench";  /* getopt_long's messages begin with it */
    int option;

    argv[0] = name;
    memset(o, 0, sizeof(*o));
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (option) {
        case QUICK: o->quick = true; break;
        case VERSION:
        case 'h':
            if (option == 'h')
                usage(stdout);
            else
                printf("fairsem-bench %s\n", FAIRSEM_VERSION_STRING);
            *exit_status = output_is_complete() ? 0 : 1;
            return false;
        default:
            wrong_usage();
            *exit_status = 2;
            return false;
        }
    }
    *exit_status = 2;
    for (int i = optind; i < argc; i++) {
        if (!choose(argv[i], o->wanted)) {
            fprintf(stderr, "fairsem-bench: unknown workload '%s'\n", argv[i]);
            wrong_usage();
            return false;
        }
    }
    if (optind == argc) {
        fprintf(stderr, "fairsem-bench: no workload given\n");
        wrong_usage();
    }
    return optind < argc;
}

/* Run a workload.  Its lines are written at its end, so that no reader of the output disturbs the measurement. */
static void run(int workload, bool quick)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "fairsem-bench: %s\n", workloads[workload].name);
    workloads[workload].run(quick);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char output[1 << 20]; /* enough for the output of a workload */
    struct options o;
    int exit_status;

    if (!read_options(argc, argv, &o, &exit_status))
        return exit_status;
    setvbuf(stdout, output, _IOFBF, sizeof(output));
    report_begin(o.quick);
    for (int i = 0; i < WORKLOADS; i++) {
        if (o.wanted[i])
            run(i, o.quick);
    }
    return output_is_complete() ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * fairsem_run.c - the command line of fairsem-run(1), which runs a program with fair semaphores.
 *
 * If the loader cannot preload the module, the loader prints a warning at most, and the program runs with
 * unfair semaphores.  So fairsem-run makes its own checks first, and a failed check is an error.
 */
#define _GNU_SOURCE
#include "command.h"
#include "duration.h"
#include "preload.h"
#include "preload/records.h"
#include "program.h"
#include "stats_run.h"

#include <err.h>
#include <errno.h>
#include <fairsem.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fputs("usage: fairsem-run [--bypass=TIME] [--stats[=FILE]] [--libc] PROGRAM [ARGUMENT...]\n"
          "       fairsem-run --check\n"
          "\n"
          "Run PROGRAM with its unnamed, process-private semaphores (sem_init) made fair.\n"
          "\n"
          "  --bypass=TIME   let running threads pass those that have waited for less than TIME,\n"
          "                  such as 10ms: faster, and less fair\n"
          "  --stats[=FILE]  when PROGRAM has ended, report its waits to stderr, or FILE\n"
          "  --libc          with --stats: only count, to compare; the semaphores stay libc's\n"
          "  --check         only find out whether fairsem-run works here\n"
          "  --version       print the version\n"
          "  --help          print this text\n"
          "\n"
          "The exit status is that of PROGRAM; 125: fairsem-run itself failed, 126: PROGRAM\n"
          "cannot be run, or not fairly, 127: PROGRAM was not found.\n", file);
}

struct options {
    bool stats, only_count, only_check;
    const char *file_name;      /* of --stats, or NULL for stderr */
    int64_t bypass_ns;
};

enum { STATS = 256, BYPASS, LIBC, CHECK, VERSION, HELP };

static const struct option known[] = {
    { "stats", optional_argument, NULL, STATS },
    { "bypass", required_argument, NULL, BYPASS },
    { "libc", no_argument, NULL, LIBC },
    { "check", no_argument, NULL, CHECK },
    { "version", no_argument, NULL, VERSION },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static int wrong_usage(const char *what)
{
    if (what != NULL)
        warnx("%s", what);
    fputs("Try 'fairsem-run --help'.\n", stderr);
    return OWN_FAILURE;
}

/* Returns nanoseconds, or 0 if the text is not an accepted time. */
static int64_t read_time(const char *text)
{
    static const struct duration_unit units[] = {
        { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
    };
    double ns = duration_read(text, units);

    return ns >= 1 && ns < 1e18 ? (int64_t)ns : 0;
}

/* Read the options, up to PROGRAM.  Returns false, with *exit_status set, if fairsem-run must end. */
static bool read_options(int argc, char **argv, struct options *o, int *exit_status)
{
    int option;

    argv[0] = program_invocation_short_name;    /* getopt_long's messages begin with argv[0] */
    *o = (struct options){ .stats = false };
    while ((option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
        switch (option) {
        case STATS:
            o->stats = true;
            o->file_name = optarg;
            break;
        case BYPASS:
            o->bypass_ns = read_time(optarg);
            if (o->bypass_ns == 0) {
                warnx("--bypass=%s: not a time such as 500us, 10ms or 1s", optarg);
                *exit_status = wrong_usage(NULL);
                return false;
            }
            break;
        case LIBC:
            o->only_count = true;
            break;
        case CHECK:
            o->only_check = true;
            break;
        case VERSION:
        case HELP:
            if (option == HELP)
                usage(stdout);
            else
                puts("fairsem-run " FAIRSEM_VERSION_STRING);
            *exit_status = fflush(stdout) == 0 ? 0 : OWN_FAILURE;
            if (*exit_status != 0)
                warn("standard output");
            return false;
        default:
            *exit_status = wrong_usage(NULL);
            return false;
        }
    }
    if (o->only_count && (!o->stats || o->bypass_ns != 0)) {
        *exit_status = wrong_usage("--libc belongs to --stats, without --bypass");
        return false;
    }
    if (o->only_check == (optind < argc)) {
        *exit_status = wrong_usage(o->only_check ? "--check runs no program" : "no program");
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *module, *reason;
    struct command command;
    struct options o;
    char bypass[24];
    int exit_status;

    if (argc > 1 && strcmp(argv[1], PRELOAD_IS_ACTIVE) == 0)
        return preload_is_active();
    if (!read_options(argc, argv, &o, &exit_status))
        return exit_status;
    module = preload_module();
    if (module == NULL)
        return OWN_FAILURE;
    if (o.only_check)
        return preload_check(module);

    exit_status = find_command(&command, argv + optind);
    if (exit_status != 0)
        return exit_status;
    reason = program_not_interposable(command.path);
    if (reason != NULL) {
        warnx("%s: %s", command.path, reason);
        return CANNOT_RUN;
    }
    snprintf(bypass, sizeof bypass, "%lld", (long long)o.bypass_ns);
    if (!preload_set(program_sanitizer(command.path), module)
        || (o.bypass_ns != 0 && setenv(FS_BYPASS_ENV, bypass, 1) != 0)) {
        warn(NULL);
        return OWN_FAILURE;
    }
    return o.stats ? stats_run(&command, o.file_name, o.bypass_ns, o.only_count)
                   : run_here(&command);
}

/* SPDX-License-Identifier: MIT */
/*
 * fairsem_run.c - fairsem-run(1): run a program with fair semaphores.  The command line.
 *
 * If the loader preloads nothing, the program runs with unfair semaphores, and nothing shows it.
 * So everything that can be checked beforehand is checked here, and reported as an error.
 */
#include "complain.h"
#include "preload.h"
#include "program.h"
#include "records.h"
#include "stats_run.h"

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
    const char *file_name;      /* of --stats; NULL: stderr */
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
        complain("%s", what);
    fputs("Try 'fairsem-run --help'.\n", stderr);
    return OWN_FAILURE;
}

/* A number and a unit, without a space between them.  In nanoseconds; 0: it is none. */
static int64_t read_time(const char *text)
{
    static const struct { const char *name; double ns; } units[] = {
        { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
    };
    char *unit;
    double number = strtod(text, &unit);

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0 && number * units[i].ns >= 1
            && number * units[i].ns < 1e18)
            return (int64_t)(number * units[i].ns);
    }
    return 0;
}

/* Read the options, up to PROGRAM.  Returns true to go on, else *exit_status is set. */
static bool read_options(int argc, char **argv, struct options *o, int *exit_status)
{
    static char name[] = "fairsem-run";  /* getopt_long's messages begin with it */
    int option;

    argv[0] = name;
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
                complain("--bypass=%s: not a time such as 500us, 10ms or 1s", optarg);
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
                complain("standard output: %s", strerror(errno));
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
    struct options o;
    char bypass[24];
    int exit_status;
    char *path;

    if (argc > 1 && strcmp(argv[1], PRELOAD_IS_ACTIVE) == 0)
        return preload_is_active();
    if (!read_options(argc, argv, &o, &exit_status))
        return exit_status;
    module = preload_module();
    if (module == NULL)
        return OWN_FAILURE;
    if (o.only_check)
        return preload_check(module);

    argv += optind;
    path = program_find(argv[0]);
    if (path == NULL) {
        int error = errno;

        complain("%s: %s", argv[0], strerror(error));
        return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
    }
    reason = program_not_interposable(path);
    if (reason != NULL) {
        complain("%s: %s", path, reason);
        return CANNOT_RUN;
    }
    if (!preload_set(program_sanitizer(path), module)) {
        complain("%s", strerror(errno));
        return OWN_FAILURE;
    }
    snprintf(bypass, sizeof bypass, "%lld", (long long)o.bypass_ns);
    if (o.bypass_ns != 0 && setenv(FS_BYPASS_ENV, bypass, 1) != 0) {
        complain("%s", strerror(errno));
        return OWN_FAILURE;
    }
    return o.stats ? stats_run(path, argv, o.file_name, o.bypass_ns, o.only_count)
                   : program_become(path, argv);
}

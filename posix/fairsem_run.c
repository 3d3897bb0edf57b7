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
#include "stats_run.h"

#include <errno.h>
#include <fairsem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void usage(FILE *file)
{
    fputs("usage: fairsem-run [--stats[=FILE]] PROGRAM [ARGUMENT...]\n"
          "       fairsem-run --check\n"
          "\n"
          "Run PROGRAM with its unnamed, process-private semaphores (sem_init) made fair.\n"
          "\n"
          "  --stats[=FILE]  when PROGRAM has ended, report its waits to stderr, or FILE\n"
          "  --check         only find out whether fairsem-run works here\n"
          "  --version       print the version\n"
          "  --help          print this text\n"
          "\n"
          "The exit status is that of PROGRAM; 125: fairsem-run itself failed, 126: PROGRAM\n"
          "cannot be run, or not fairly, 127: PROGRAM was not found.\n", file);
}

int main(int argc, char **argv)
{
    const char *module, *file_name = NULL, *reason;
    bool stats = false, only_check = false;
    char *path;
    int i;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            puts("fairsem-run " FAIRSEM_VERSION_STRING);
            return 0;
        }
        if (strcmp(argv[i], PRELOAD_IS_ACTIVE) == 0)
            return preload_is_active();
        if (strcmp(argv[i], "--check") == 0) {
            only_check = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            stats = true;
        } else if (strncmp(argv[i], "--stats=", 8) == 0) {
            stats = true;
            file_name = argv[i] + 8;
        } else {
            complain("unknown option %s", argv[i]);
            usage(stderr);
            return OWN_FAILURE;
        }
    }
    if (!only_check && i == argc) {
        usage(stderr);
        return OWN_FAILURE;
    }
    module = preload_module();
    if (module == NULL)
        return OWN_FAILURE;
    if (only_check)
        return preload_check(module);

    path = program_find(argv[i]);
    if (path == NULL) {
        int error = errno;

        complain("%s: %s", argv[i], strerror(error));
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
    return stats ? stats_run(path, argv + i, file_name) : program_become(path, argv + i);
}

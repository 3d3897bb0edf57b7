/* SPDX-License-Identifier: MIT */
/*
 * interposed.c - a program that uses <semaphore.h> and knows nothing of fairsem.  Each subcommand is one
 * behavior; an underscore in its name may be written as a hyphen.
 *
 * test_interpose.py runs the program under fairsem-run.  With glibc's own semaphores all subcommands succeed,
 * too, except `fifo`, `eintr-awake`, `not-libcs` and `relatives`.
 *
 * The exit status is 0, or 1 with a message, or 77 if the behavior is skipped.
 */
#include "interposed.h"

struct behavior *behaviors;

static bool is_called(const char *name, const char *called)
{
    while (*name != '\0' && *name == (*called == '-' ? '_' : *called))
        name++, called++;
    return *name == *called;
}

int main(int argc, char **argv)
{
    hang_alarm();
    for (struct behavior *b = behaviors; argc > 1 && b != NULL; b = b->next) {
        if (is_called(b->name, argv[1])) {
            b->run(argv[2]);
            return 0;
        }
    }
    fputs("usage: interposed BEHAVIOR [ARGUMENT], see BEHAVIOR() in interposed_*.c\n", stderr);
    return 2;
}

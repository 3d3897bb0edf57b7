/* SPDX-License-Identifier: MIT */
/*
 * interposed.c - a program that uses <semaphore.h>, and does not know of fairsem: one behavior per
 * subcommand.
 *
 * test_interpose.py runs it under fairsem-run.  All subcommands that glibc's own semaphores pass, too,
 * also succeed without fairsem-run; `fifo`, `eintr-awake`, `not-libcs` and `no-descriptors` do not.
 *
 * Exit status 0, or 1 and a message; 77: skipped.
 */
#include "hang.h"
#include "interposed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int       (*run)(void);
    } plain[] = {
        { "fifo", fifo }, { "eintr", eintr }, { "eintr-awake", eintr_awake },
        { "fork-in-handler", fork_in_handler }, { "cancel", cancel },
        { "handler-post", handler_post }, { "fork-child", fork_child },
        { "vfork-exec", vfork_exec }, { "unmap", unmap }, { "late-post", late_post },
        { "destroy-with-waiters", destroy_with_waiters }, { "destroyed", destroyed },
        { "copy-unused", copy_unused }, { "copies", copies },
        { "copies-of-destroyed", copies_of_destroyed },
        { "not-libcs", not_libcs }, { "never-destroy", never_destroy },
        { "static-zero", static_zero }, { "pshared", pshared }, { "named", named },
        { "constructor", constructor }, { "overflow", overflow },
        { "exit-in-thread", exit_in_thread }, { "sleep", sleep_until_killed }, { "hog", hog },
        { "queued-signals", queued_signals }, { "actions", actions }, { "jumps", jumps },
        { "signals-without-memory", signals_without_memory },
        { "stop-the-world", stop_the_world },
        { "shared-all-the-same", shared_all_the_same }, { "nonsense", nonsense },
        { "fsize", has_file_limit }, { "inversion", inversion },
        { "forked-priority", forked_priority }, { "slow-waits", slow_waits }, { "many", many },
        { "use-cells-again", use_cells_again }, { "no-descriptors", no_descriptors },
        { "static-destructor", static_destructor },
        { "interrupted-actions", interrupted_actions },
        { "sandbox", sandbox }, { "in-sandbox", in_sandbox },
        { "deadlines", deadlines }, { "priorities", priorities }, { "no-memory", no_memory },
        { "eleven", eleven }, { "generations", generations },
        { "made-real-time", made_real_time }, { "without-right", without_right },
        { "raw-fork", raw_fork }, { "signal-in-child", signal_in_child },
        { "eintr-destroyed", eintr_destroyed }, { "faults", faults },
        { "never-destroyed", never_destroyed }, { "cells-used-again", cells_used_again },
        { "without-tgkill", without_tgkill }, { "mixed-kinds", mixed_kinds },
        { "fetched-signals", fetched_signals }, { "overflows", overflows },
    };
    static const struct {
        const char *name;
        int       (*run)(const char *);
    } with_argument[] = { { "dlopen", load }, { "die", die }, { "exit", leave },
                        { "interrupts", interrupts },
                        { "holds", holds },
                        { "bound-deeply", bound_deeply }, { "in-namespace", in_namespace } };

    hang_alarm();
    for (size_t i = 0; argc == 2 && i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(argv[1], plain[i].name) == 0)
            return plain[i].run();
    }
    for (size_t i = 0; argc == 3 && i < sizeof with_argument / sizeof with_argument[0]; i++) {
        if (strcmp(argv[1], with_argument[i].name) == 0)
            return with_argument[i].run(argv[2]);
    }
    fputs("usage: interposed BEHAVIOR, see the end of interposed.c\n", stderr);
    return 2;
}

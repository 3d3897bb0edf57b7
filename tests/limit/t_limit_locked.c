/* SPDX-License-Identifier: MIT */
/*
 * t_limit_locked.c - fairsem-limit keeps its promises while a living process holds the lock of a segment and
 * does not release it.
 */
#include "suite.h"

#include "shared/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[] = "/dev/shm/fairsem-limit-locked.XXXXXX";
static char program[400], segment[100];

/* Open the segment.  Returns NULL if the test cannot run on this machine. */
static fairsem_shared_t *begin(void)
{
    const fairsem_shared_attr_t attr = { .units = 1, .flags = FAIRSEM_SHARED_NO_SPIN, .max_processes = 3 };
    const char *top = getenv("top_builddir");
    fairsem_shared_t *h;

    snprintf(program, sizeof program, "%s/fairsem-limit", top != NULL ? top : ".");
    if (access(program, X_OK) != 0 || mkdtemp(directory) == NULL)
        return NULL;
    ck_assert_int_eq(setenv("FAIRSEM_LIMIT_DIR", directory, 1), 0);
    snprintf(segment, sizeof segment, "%s/fairsem-limit-%lu.x", directory,
             (unsigned long)geteuid());
    ck_assert_int_eq(fairsem_shared_open(&h, segment, O_CREAT, 0600, &attr), 0);
    return h;
}

static void end(fairsem_shared_t *h)
{
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    unlink(segment);
    ck_assert_int_eq(rmdir(directory), 0);
}

static int run(const char *const arguments[], double *seconds)
{
    struct timespec before, after;
    pid_t child;
    int status;

    clock_gettime(CLOCK_MONOTONIC, &before);
    child = fork();
    if (child == 0) {
        execv(program, (char *const *)arguments);
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    clock_gettime(CLOCK_MONOTONIC, &after);
    *seconds = (double)(after.tv_sec - before.tv_sec)
               + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Fill the table of processes. */
static void fill(fairsem_shared_t *h)
{
    for (int i = 0; i < h->max_processes; i++)
        FS_PUT(&h->processes[i].state, FS_PROCESS_USED);
}

/*
 * A command that waits for the lock exceeds the time limit of the test.  The times are printed: on an idle
 * machine a second if a command needs the lock, otherwise at most a tenth of a second.
 */
static void answer_while_it_is_locked(bool full)
{
    static const struct { const char *const arguments[8]; int status; } row[] = {
        { { "fairsem-limit", "-w", "0", "x", "1", "--", "true", NULL }, 124 },
        { { "fairsem-limit", "-w", "0.05", "x", "1", "--", "true", NULL }, 124 },
        { { "fairsem-limit", "--status", "x", NULL }, 0 },
        { { "fairsem-limit", "--status", NULL }, 0 },
        { { "fairsem-limit", "--set-limit=2", "x", NULL }, 125 },
        { { "fairsem-limit", "--remove", "x", NULL }, 125 },
        { { "fairsem-limit", "--remove", "--force", "x", NULL }, 0 },
    };
    fairsem_shared_t *h = begin();
    int dead;

    if (h == NULL) {
        const char *all = getenv("FAIRSEM_TRY_ALL");

        puts("not tried: no fairsem-limit, or no /dev/shm");
        ck_assert(all == NULL || strcmp(all, "yes") != 0);
        return;
    }
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    ck_assert_int_eq(fs_shared_lock(h, FS_LOCK_WAIT, NULL, &dead), 0);
    if (full)
        fill(h);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double seconds;
        int status = run(row[i].arguments, &seconds);

        printf("%s %s: %d, %.3f s\n", row[i].arguments[1], row[i].arguments[2] != NULL
               ? row[i].arguments[2] : "", status, seconds);
        ck_assert_int_eq(status, row[i].status);
    }
    fs_shared_unlock(h);
    end(h);
}

START_TEST(fairsem_limit_answers_while_the_lock_is_held)
{
    answer_while_it_is_locked(false);
}
END_TEST

START_TEST(fairsem_limit_answers_while_the_lock_is_held_and_the_table_is_full)
{
    answer_while_it_is_locked(true);
}
END_TEST

int main(void)
{
    RUN_SUITE("limit locked", fairsem_limit_answers_while_the_lock_is_held,
              fairsem_limit_answers_while_the_lock_is_held_and_the_table_is_full);
}

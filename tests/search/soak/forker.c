/* SPDX-License-Identifier: MIT */
/*
 * forker.c - forks while the other threads work: the child must find each count as it was, and an
 * empty queue.
 */
#include "soak.h"

#include "hang.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define BETWEEN_FORKS_NS INT64_C(200000000)

/* Units held by threads of the parent stay taken, so not all of these acquires succeed. */
static int look_from_child(struct arena *arena)
{
    int64_t before = fairsem_available(&arena->sem);
    int result;

    if (fairsem_waiters(&arena->sem) != 0)
        return 1;
    result = fairsem_acquire_for(&arena->sem, 1, 1000000);
    /* The parent may have been forked in a pause, with a debt, or a smaller capacity. */
    if (result != 0 && result != ETIMEDOUT && result != E2BIG)
        return 2;
    if (result == 0 && before < 1)
        return 3;
    if (result == 0 && fairsem_release(&arena->sem, 1) != 0)
        return 4;
    if (fairsem_available(&arena->sem) != before)
        return 5;
    return fairsem_destroy(&arena->sem) == 0 ? 0 : 6;
}

static int be_child(struct soak *s)
{
    hang_alarm();
    for (int i = 0; i < ARENAS; i++) {
        int wrong = look_from_child(&s->arenas[i]);

        if (wrong != 0)
            return 10 * (i + 1) + wrong;
    }
    return 0;
}

void fork_now_and_then(struct actor *a)
{
    struct soak *s = a->soak;

    while (!is_over(s)) {
        pid_t child = fork();
        int status = 0;

        if (child == 0)
            _exit(be_child(s));
        if (child > 0) {
            while (waitpid(child, &status, 0) == -1 && errno == EINTR)
                continue;
            if (status != 0)
                complain(s, "a child ended with status %#x", (unsigned)status);
            atomic_fetch_add(&s->forks, 1);
        }
        beat(a);
        rest(s, BETWEEN_FORKS_NS);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * t_posix_lifetime.c - a sem_t is destroyed and its memory unmapped as soon as a wait has returned.
 */
#define _GNU_SOURCE
#include "callers.h"
#include "stress.h"

#include <sys/mman.h>
#include <unistd.h>

struct relay {
    _Atomic(sem_t *) sem;   /* of this round; NULL between rounds */
    _Atomic int      stop;
};

static void *post_what_comes(void *arg)
{
    struct relay *relay = arg;
    int round = 0;

    while (!atomic_load(&relay->stop)) {
        sem_t *sem = atomic_exchange(&relay->sem, NULL);

        if (sem != NULL) {
            dawdle(round++);
            sem_post(sem);
        } else {
            moment();
        }
    }
    return NULL;
}

/*
 * The post comes at any moment between the beginning of the wait and the sleep.  When the posted unit can be
 * taken, the poster must not access the semaphore any longer.
 */
START_TEST(a_thread_that_has_waited_may_destroy_and_unmap_at_once)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    struct relay relay = { .sem = NULL };
    pthread_t thread;

    start_thread(&thread, post_what_comes, &relay);
    for (int i = 0; i < stress_times(6000); i++) {
        sem_t *sem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (sem == MAP_FAILED || sem_init(sem, 0, 0) != 0)
            ck_abort_msg("no semaphore");
        atomic_store(&relay.sem, sem);
        if (i % 4 == WAYS) {
            while (sem_trywait(sem) != 0)
                moment();      /* on a busy machine the other thread needs this core */
        } else if (wait_somehow(sem, (enum how)(i % 4)) != 0) {
            ck_abort_msg("wait failed");
        }
        if (sem_destroy(sem) != 0)
            ck_abort_msg("destroy failed");
        munmap(sem, size);
    }
    atomic_store(&relay.stop, 1);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    RUN_SUITE("posix lifetime", a_thread_that_has_waited_may_destroy_and_unmap_at_once);
}

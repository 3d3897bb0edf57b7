/* SPDX-License-Identifier: MIT */
/*
 * interposed_cells.c - many semaphores for which threads wait: their cells, which stay or are used
 * again.
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct timespec past = { 1, 0 };

/* If the semaphore was a number it is in a cell then. */
static void wait_in_vain(sem_t *sem)
{
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);
}

long resident_bytes(void)
{
    char text[128] = "";
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "re");

    MUST(file != NULL && fgets(text, sizeof text, file) != NULL);
    fclose(file);
    MUST(sscanf(text, "%ld %ld", &size, &resident) == 2);
    return resident * sysconf(_SC_PAGESIZE);
}

/*
 * A program that never destroys its semaphores keeps no more memory than fairsem-run(1) says (a part
 * of a huge page aside), and each of its semaphores goes on as it was left.  Meanwhile two threads
 * wait, and are woken at the end, in order.
 */
int never_destroyed(void)
{
    enum { MANY = 200000, BYTES = 320, HUGE_PAGE = 1 << 21 };
    sem_t *sem = calloc(MANY, sizeof *sem);
    _Atomic int service = 0;
    struct waiter w[2] = { { .service = &service }, { .service = &service } };
    sem_t waited_for;
    long before;

    MUST(sem != NULL && sem_init(&waited_for, 0, 0) == 0);
    queue(&w[0], &waited_for);
    for (int i = 0; i < MANY; i++)
        MUST(sem_init(&sem[i], 0, 0) == 0);
    before = resident_bytes();
    for (int i = 0; i < MANY; i++) {
        if (i == MANY / 2)
            queue(&w[1], &waited_for);
        wait_in_vain(&sem[i]);
        MUST(sem_post(&sem[i]) == 0);
    }
    MUST(resident_bytes() - before < (long)MANY * BYTES + 2 * HUGE_PAGE);
    for (int i = 0; i < MANY; i += 1 + i % 7)
        MUST(sem_wait(&sem[i]) == 0 && value_of(&sem[i]) == 0);
    MUST(sem_post(&waited_for) == 0 && join(&w[0]) == 0);
    MUST(sem_post(&waited_for) == 0 && join(&w[1]) == 0);
    MUST(w[0].place < w[1].place && value_of(&waited_for) == 0);
    free(sem);
    return 0;
}

/*
 * In memory where there was a semaphore before, and perhaps in its cell: nothing of that is left.
 * Every second one is destroyed, and goes on as it was; the others are left behind.
 */
static void use_own(bool destroys)
{
    sem_t own;

    MUST(sem_init(&own, 0, 0) == 0);
    wait_in_vain(&own);
    MUST(value_of(&own) == 0 && sem_post(&own) == 0 && sem_post(&own) == 0);
    MUST(value_of(&own) == 2 && sem_trywait(&own) == 0 && value_of(&own) == 1);
    if (destroys)
        MUST(sem_destroy(&own) == 0 && value_of(&own) == 1 && sem_wait(&own) == 0);
}

enum { USED = 64, USERS = 3, PASSES = 100000 };
static sem_t used[USED];
static _Atomic int taken[USED];

/* Post and take; now and then wait in vain, which moves the semaphore into a cell. */
static void *use(void *arg)
{
    unsigned random = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < PASSES; i++) {
        unsigned which;
        int took = -1;

        random = random * 1103515245u + 12345u;
        which = random >> 16 & (USED - 1);
        MUST(value_of(&used[which]) >= 0);
        MUST(sem_post(&used[which]) == 0);
        took += sem_trywait(&used[which]) == 0;
        if (i % 32 == 0)
            took += sem_timedwait(&used[which], &past) == 0;
        atomic_fetch_add(&taken[which], took);
        if (i % 4 == 0)
            use_own(i % 8 == 0);
    }
    return NULL;
}

/*
 * Threads use some semaphores together, and make others of their own, which use cells again that
 * another thread had.  No unit is lost, and none comes from nowhere.
 */
int cells_used_again(void)
{
    pthread_t thread[USERS];

    for (int i = 0; i < USED; i++)
        MUST(sem_init(&used[i], 0, 0) == 0);
    for (int i = 0; i < USERS; i++)
        start(&thread[i], use, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < USERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < USED; i++)
        MUST(value_of(&used[i]) == -atomic_load(&taken[i]));
    return 0;
}

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

enum { USED = 64, USERS = 3, PASSES = 500000 };
static sem_t used[USED];
static _Atomic int taken[USED], users_left;

/*
 * Post and take; now and then wait in vain, which moves the semaphore into a cell, or destroy it,
 * which moves it out of the cell, and it goes on.
 */
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
        if (i % 32 == 16)
            MUST(sem_destroy(&used[which]) == 0);
        atomic_fetch_add(&taken[which], took);
    }
    atomic_fetch_sub(&users_left, 1);
    return NULL;
}

/*
 * Threads use semaphores that move into cells and out of them, while another thread makes others,
 * which use the same cells again.  No unit is lost, and none comes from nowhere.
 */
int cells_used_again(void)
{
    pthread_t thread[USERS];

    for (int i = 0; i < USED; i++)
        MUST(sem_init(&used[i], 0, 0) == 0);
    atomic_store(&users_left, USERS);
    for (int i = 0; i < USERS; i++)
        start(&thread[i], use, (void *)(uintptr_t)(i + 1));
    while (atomic_load(&users_left) != 0) {
        sem_t other;

        MUST(sem_init(&other, 0, 0) == 0);
        wait_in_vain(&other);
        MUST(sem_destroy(&other) == 0);
    }
    for (int i = 0; i < USERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < USED; i++)
        MUST(value_of(&used[i]) == -atomic_load(&taken[i]));
    return 0;
}

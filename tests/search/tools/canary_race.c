/* SPDX-License-Identifier: MIT */
/*
 * canary_race.c - two threads count up one variable, under a semaphore with two units: a data race.
 * With an argument there is one unit, and no race.
 */
#include <fairsem.h>
#include <pthread.h>

static fairsem_t         room;
static pthread_barrier_t both_inside;
static int               healthy, counter;

static void *count(void *arg)
{
    if (fairsem_acquire(&room, 1) != 0)
        return arg;
    if (!healthy)
        pthread_barrier_wait(&both_inside);
    counter++;
    fairsem_release(&room, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];

    (void)argv;
    healthy = argc > 1;
    if (fairsem_init(&room, healthy ? 1 : 2, NULL) != 0)
        return 1;
    pthread_barrier_init(&both_inside, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

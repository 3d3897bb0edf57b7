/* SPDX-License-Identifier: MIT */
/*
 * canary_order.c - a parcel goes from one thread to another with a unit, on the fast path.  The
 * program is right, but the library that it is linked to is wrong: see relaxed.h.
 */
#include <fairsem.h>
#include <pthread.h>
#include <sched.h>

static fairsem_t full = FAIRSEM_INITIALIZER(0), empty = FAIRSEM_INITIALIZER(1);
static int content, sum;

static void take(fairsem_t *sem)
{
    while (fairsem_tryacquire(sem, 1) != 0)
        sched_yield();
}

static void *receive(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        take(&full);
        sum += content;
        fairsem_release(&empty, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, receive, NULL);
    for (int i = 0; i < 200; i++) {
        take(&empty);
        content = i;
        fairsem_release(&full, 1);
    }
    pthread_join(thread, NULL);
    return sum == 200 * 199 / 2 ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * waiting.c - stops while threads wait, so that a debugger can inspect them; see gdb.sh.
 *
 *   thread 2  waits for 2 units of `buffers`
 *   ticket    waits for 3 units of `buffers`
 *   thread 3  waits for 1 unit of `buffers`, at the front, and with the token
 *   thread 4  waits for 1 unit of `slots`, which is static
 *   thread 5  waits for the ticket
 *   thread 6  waits for 1 unit of `between`, a semaphore between processes
 *   threads 7, 8 and 9 wait for 1 unit of `between`, too, in two shares: 9 comes before 8
 *
 * Further tickets wait in the queue of `divided`, which has shares.  Then the program ends by abort().
 */
#include <fairsem.h>
#include <fairsem/shared.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

fairsem_t buffers, slots = FAIRSEM_INITIALIZER(0), closed = FAIRSEM_INITIALIZER(7);
fairsem_t divided = FAIRSEM_INITIALIZER(0);
fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER, canceled = FAIRSEM_TOKEN_INITIALIZER;
fairsem_ticket_t ticket;
__attribute__((used)) fairsem_ticket_t idle;    /* for gdb only */

static void *wait_first(void *arg)
{
    return fairsem_acquire(&buffers, 2) == 0 ? NULL : arg;
}

static void *wait_with_token(void *arg)
{
    const fairsem_wait_t how = { .priority = -4, .token = &token, .timeout_ns = 3600000000000 };

    return fairsem_acquire_with(&buffers, 1, &how) == 0 ? NULL : arg;
}

static void *wait_for_slot(void *arg)
{
    return fairsem_acquire_for(&slots, 1, 3600000000000) == 0 ? NULL : arg;
}

fairsem_shared_t *between;

static void *wait_between(void *arg)
{
    return fairsem_shared_acquire(between, 1) == 0 ? NULL : arg;
}

static void *wait_in_share(void *key)
{
    const fairsem_wait_t how = { .share_key = *(const uint64_t *)key, .share_weight = 1 };

    return fairsem_shared_acquire_with(between, 1, &how) == 0 ? NULL : key;
}

static _Atomic long watcher;        /* the kernel's number of thread 5 */

static void *wait_for_ticket(void *arg)
{
    watcher = syscall(SYS_gettid);
    return fairsem_ticket_wait(&ticket, NULL) == 0 ? NULL : arg;
}

/* Start a thread, and return when `waiters` requests wait for the semaphore. */
static void start(void *(*function)(void *), const fairsem_t *sem, int64_t waiters)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, function, &token) != 0)
        exit(99);
    while (fairsem_waiters(sem) != waiters)
        continue;
}

/*
 * Each of two shares, and the requests without a share, are granted a unit.  Then the flows have the tags
 * 1, 1/3 and 1, and the first share has the older request of the two with 1.
 */
static void wait_in_shares(void)
{
    static fairsem_share_t shares[] = { FAIRSEM_SHARE_INITIALIZER(1), FAIRSEM_SHARE_INITIALIZER(3) };
    static fairsem_ticket_t tickets[7];

    for (int i = 0; i < 7; i++) {
        const fairsem_request_t request = { &divided, 1, i < 3 ? &shares[0] : i < 5 ? &shares[1] : NULL };

        if (fairsem_ticket_take_with(&tickets[i], &request, 0, NULL, NULL) != EINPROGRESS)
            exit(99);
    }
    if (fairsem_release(&divided, 3) != 0)
        exit(99);
}

/* Is the thread asleep?  (The library does not count the threads that wait for a ticket.) */
static bool is_asleep(long thread)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1)
        state = 0;
    if (file != NULL)
        fclose(file);
    return state == 'S';
}

/* The place of gdb's breakpoint. */
void all_wait(void);
__attribute__((noinline)) void all_wait(void)
{
    __asm__ volatile("");
}

/* Wrong arguments for `info fairsem`. */
fairsem_t *nowhere;
int number = 3;
unsigned char noise_bytes[256];
void *noise = noise_bytes;

int main(void)
{
    const fairsem_attr_t attr = { .name = "buffers", .capacity = 4 };
    const fairsem_shared_attr_t shared = { .units = 2 };
    pthread_t thread;

    if (fairsem_shared_open(&between, NULL, 0, 0, &shared) != 0
        || fairsem_shared_acquire(between, 2) != 0)
        return 99;
    if (fairsem_init(&buffers, 4, &attr) != 0 || fairsem_acquire(&buffers, 4) != 0)
        return 99;
    start(wait_first, &buffers, 1);
    if (fairsem_ticket_take(&ticket, &buffers, 3, 0, NULL, NULL) != EINPROGRESS)
        return 99;
    start(wait_with_token, &buffers, 3);
    start(wait_for_slot, &slots, 1);
    start(wait_for_ticket, &slots, 1);
    if (fairsem_close(&closed, 0) != 0 || fairsem_token_cancel(&canceled, 0) != 0)
        return 99;
    while (!is_asleep(watcher))
        continue;
    if (pthread_create(&thread, NULL, wait_between, &token) != 0)
        return 99;
    while (fairsem_shared_waiters(between) == 0)
        continue;
    for (int i = 0; i < 3; i++) {
        static uint64_t keys[] = { 1, 1, 2 };

        if (pthread_create(&thread, NULL, wait_in_share, &keys[i]) != 0)
            return 99;
        while (fairsem_shared_waiters(between) != i + 2)
            continue;
    }
    wait_in_shares();
    memset(noise_bytes, 0xee, sizeof noise_bytes);
    all_wait();
    abort();
}

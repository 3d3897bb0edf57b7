/* SPDX-License-Identifier: MIT */
/*
 * t_shared_storm.c - processes acquire, wait and release in a loop.  They are killed at random moments, and
 * replaced.  After each kill the sum of the units is right, and the other processes go on.  Before each unlock,
 * the order is checked: each waiting request came after all granted ones.  In a second run the requests have
 * random priorities but age at once, so that the priorities do not count.
 *
 * FAIRSEM_SHARED_TIMES=n makes the test n times as long.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/change.h"
#include "shared/handle.h"
#include "system/deadline.h"

#include <stdio.h>
#include <string.h>

#define PROCESSES 8
#define UNITS     3

static fairsem_shared_t *sem;

struct book {
    _Atomic int64_t granted;    /* number of grants to all processes */
    _Atomic int64_t longest_ns; /* of the waits that ended */
    _Atomic int wrong;          /* the errno value of an acquire; that of a release plus 1000; or 0 */
    _Atomic int64_t judged;     /* checks of the order with a waiting and a granted request */
    _Atomic int passed;         /* checks that found a granted request younger than a waiting one */
};

static struct book *book;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void note_wait(int64_t ns)
{
    int64_t longest = atomic_load(&book->longest_ns);

    while (ns > longest && !atomic_compare_exchange_weak(&book->longest_ns, &longest, ns))
        continue;
}

/* Check that grants are in order of arrival.  The lock is held, unless this process was taken for dead. */
static void check_order(const char *what)
{
    int64_t oldest = INT64_MAX, newest = -1;

    if (strcmp(what, "unlock") != 0)
        return;
    for (int i = 0; i < sem->max_waiters; i++) {
        int64_t seq = FS_GET(&sem->slots[i].seq);
        int state = FS_GET(&sem->slots[i].state);

        if (state == FS_SLOT_WAITING && seq < oldest)
            oldest = seq;
        if (state == FS_SLOT_GRANTED && seq > newest)
            newest = seq;
    }
    if (oldest != INT64_MAX && newest >= 0)
        atomic_fetch_add(&book->judged, 1);
    if (newest > oldest)
        atomic_fetch_add(&book->passed, 1);
}

static void use_it_for_ever(uint32_t seed)
{
    for (;;) {
        int64_t n = 1 + next_random(&seed) % UNITS, start = fs_now_ns();
        int error;

        switch (next_random(&seed) % 4) {
        case 0:
            error = fairsem_shared_tryacquire(sem, n);
            break;
        case 1:
            error = fairsem_shared_acquire_for(sem, n, next_random(&seed) % 3000000);
            break;
        default:
            error = fairsem_shared_acquire_with(sem, n, &(const fairsem_wait_t){
                .priority = sem->aging_ns != 0 ? (int)(next_random(&seed) % 4) : 0 });
            note_wait(fs_now_ns() - start);
        }
        if (error == EAGAIN || error == ETIMEDOUT)
            continue;
        if (error != 0)
            atomic_store(&book->wrong, error);
        atomic_fetch_add(&book->granted, 1);
        if (next_random(&seed) % 64 == 0)
            nap(1);
        error = fairsem_shared_release(sem, n);
        if (error != 0)
            atomic_store(&book->wrong, 1000 + error);
        if (next_random(&seed) % 256 == 0 && fairsem_shared_close(sem) == 0)
            _exit(0);
    }
}

static pid_t start_one(uint32_t seed)
{
    pid_t child = fork();

    if (child == 0) {
        fs_shared_step = check_order;
        use_it_for_ever(seed);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

/*
 * Returns the sum of held and free units.  fairsem_shared_stat() reaps the dead; but it may read its numbers
 * without the lock, if the lock's owner does not run for long.
 */
static int64_t all_units(void)
{
    struct fs_shared_section in;
    fairsem_shared_stat_t stat;
    int64_t all;

    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert_int_eq(fs_shared_enter(&in, sem, FS_LOCK_WAIT, NULL), 0);
    all = in.available + fs_shared_count_outstanding(&in);
    ck_assert_int_eq(fs_shared_section_end(&in), 0);
    return all;
}

static void storm(int kills, int64_t aging_ns)
{
    const fairsem_shared_attr_t attr = { .units = UNITS, .aging_ns = aging_ns };

    pid_t children[PROCESSES];
    fairsem_shared_stat_t stat;
    uint32_t seed = test_seed();
    int64_t granted;

    book = share(sizeof *book);
    ck_assert_int_eq(fairsem_shared_open(&sem, NULL, 0, 0, &attr), 0);
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_one(next_random(&seed));
    for (int i = 0; i < kills; i++) {
        const struct timespec moment = { 0, (long)(next_random(&seed) % 1000000) };
        int victim = (int)(next_random(&seed) % PROCESSES);

        nanosleep(&moment, NULL);
        kill(children[victim], SIGKILL);
        waitpid(children[victim], NULL, 0);
        ck_assert_int_eq(all_units(), UNITS);
        ck_assert_int_eq(atomic_load(&book->wrong), 0);
        ck_assert_int_eq(atomic_load(&book->passed), 0);
        children[victim] = start_one(next_random(&seed));
    }
    /* Wait until there are more grants, enough checks of the order, and an effect of aging if it is on. */
    granted = atomic_load(&book->granted);
    do {
        nap(1);
        ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    } while (atomic_load(&book->granted) < granted + 100 || atomic_load(&book->judged) < 100
             || (aging_ns != 0 && stat.aged == 0));
    for (int i = 0; i < PROCESSES; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    ck_assert_int_eq(fairsem_shared_stat(sem, &stat), 0);
    ck_assert_int_eq(stat.available, UNITS);
    ck_assert_int_eq(stat.waiters, 0);
    ck_assert_int_eq(stat.processes, 1);
    ck_assert((stat.aged > 0) == (aging_ns != 0));
    printf("%d kills, %ld granted (%ld by age), %ld times in order, %ld dead found with %ld units, %ld repairs, "
           "longest wait %ld ms\n", kills, (long)atomic_load(&book->granted), (long)stat.aged,
           (long)atomic_load(&book->judged), (long)stat.deaths, (long)stat.returned,
           (long)stat.repairs, (long)(atomic_load(&book->longest_ns) / 1000000));
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}

START_TEST(deaths_at_random_moments_lose_no_unit)
{
    storm(300 * (int)setting("FAIRSEM_SHARED_TIMES", 1, 1), 0);
}
END_TEST

START_TEST(deaths_leave_aged_requests_in_the_order_of_arrival)
{
    storm(300 * (int)setting("FAIRSEM_SHARED_TIMES", 1, 1), 1);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared storm", deaths_at_random_moments_lose_no_unit,
              deaths_leave_aged_requests_in_the_order_of_arrival);
}

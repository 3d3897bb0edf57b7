/* SPDX-License-Identifier: MIT */
/*
 * t_shared_damage.c - somebody writes to a segment that is in use: each call returns a result,
 * ENOTRECOVERABLE or another, and none crashes, hangs or reads outside.
 *
 * The segment has a holder and waiters in other processes, which stand still.  Before each round it
 * is made as it was, and damaged in a few places.  FAIRSEM_SHARED_TIMES=n: n times as many.
 */
#include "crowd.h"

#include "shared/handle.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 3000

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Whatever is wrong elsewhere, the lock must not seem to be held by somebody who lives. */
static bool is_lock(const fairsem_shared_t *h, size_t at)
{
    size_t lock = (size_t)((char *)&h->segment->lock - (char *)h->segment);

    return at + 8 > lock && at < lock + 4;
}

static void damage(fairsem_shared_t *h)
{
    static const int64_t likely[] = { 0, 1, -1, 2, 3, 4, 8, 255, 256, INT32_MAX, INT32_MIN,
                                      INT64_MAX, INT64_MIN, FAIRSEM_MAX_UNITS };
    char *memory = (char *)h->segment;
    size_t at = next_random() % (size_t)h->size / 8 * 8;
    int64_t value = likely[next_random() % (sizeof likely / sizeof likely[0])];

    /* Two thirds where there is most to damage: the header, and the slots that are in use. */
    if (next_random() % 3 != 0)
        at = next_random() % 2 == 0 ? next_random() % sizeof(struct fs_segment) / 8 * 8
                                    : (size_t)((char *)h->slots - memory) + next_random() % 512;
    if (is_lock(h, at))
        return;
    switch (next_random() % 4) {
    case 0:
        memory[at] = (char)next_random();
        break;
    case 1:
        memory[at] ^= (char)(1u << next_random() % 8);
        break;
    case 2:
        memcpy(memory + at / 4 * 4, &value, 4);
        break;
    default:
        memcpy(memory + at / 8 * 8, &value, 8);
    }
}

static bool is_result(int error)
{
    static const int results[] = { 0, EAGAIN, ETIMEDOUT, EPERM, EBUSY, ENOBUFS, EOVERFLOW,
                                   ENOTRECOVERABLE, EUSERS, EBADF };

    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (error == results[i])
            return true;
    }
    return false;
}

static int use(fairsem_shared_t *h, FILE *null)
{
    fairsem_shared_user_t users[8];
    fairsem_shared_stat_t stat;
    int count = 8;

    switch (next_random() % 8) {
    case 0:
        return fairsem_shared_tryacquire(h, (int64_t)(next_random() % 3));
    case 1:
        return fairsem_shared_acquire_for(h, (int64_t)(next_random() % 3), 20000);
    case 2:
        return fairsem_shared_release(h, (int64_t)(next_random() % 3));
    case 3:
        return fairsem_shared_stat(h, &stat);
    case 4:
        return fairsem_shared_users(h, users, &count);
    case 5:
        return fairsem_shared_dump(h, null);
    case 6:
        return fairsem_shared_available(h) >= -1 ? 0 : -1;
    default:
        return fairsem_shared_waiters(h) >= -1 ? 0 : -1;
    }
}

static void stop(pid_t child)
{
    siginfo_t info;

    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
}

static void damage_often(unsigned flags)
{
    const char *times = getenv("FAIRSEM_SHARED_TIMES");
    long rounds = ROUNDS * (times != NULL ? atol(times) : 1), broken = 0;
    _Atomic int *flag = share(sizeof *flag);
    fairsem_shared_t *h = make_small_segment(3, flags, 16, 8), before;
    FILE *null = fopen("/dev/null", "w");
    void *image = malloc((size_t)h->size);
    pid_t children[3];

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    children[0] = fork_holder(h, 1, flag);
    await_flag(flag, 1);
    for (int i = 1; i < 3; i++) {
        children[i] = fork_waiter(h, 3, NULL, NULL);
        await_line(h, i);
    }
    for (int i = 0; i < 3; i++)
        stop(children[i]);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    memcpy(image, h->segment, (size_t)h->size);
    memcpy(&before, h, sizeof before);
    for (long i = 0; i < rounds; i++) {
        memcpy(h->segment, image, (size_t)h->size);
        memcpy(h, &before, sizeof before);
        for (uint64_t n = 1 + next_random() % 3; n > 0; n--)
            damage(h);
        for (int calls = 0; calls < 6; calls++) {
            int error = use(h, null);

            ck_assert_msg(is_result(error), "round %ld: %d", i, error);
            broken += error == ENOTRECOVERABLE;
        }
    }
    ck_assert_int_gt(broken, rounds / 100);
    memcpy(h->segment, image, (size_t)h->size);
    memcpy(h, &before, sizeof before);
    for (int i = 0; i < 3; i++)
        kill_child(children[i]);
    ck_assert_int_eq(fairsem_shared_available(h), (flags & FAIRSEM_SHARED_NO_UNDO) != 0 ? 1 : 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    free(image);
    fclose(null);
}

START_TEST(damage_is_a_result_and_never_a_crash)
{
    damage_often(0);
}
END_TEST

START_TEST(and_without_undo)
{
    damage_often(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared damage", damage_is_a_result_and_never_a_crash, and_without_undo);
}

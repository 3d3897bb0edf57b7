/* SPDX-License-Identifier: MIT */
/*
 * t_shared_shares.c - shares between processes: units go round between the keys.
 *
 * A scenario is a list of requests, each of a process of its own.  They are enqueued while this process holds
 * all units.  A request begins with a letter, which is the key of its share: a to c have weight 1, d has 2, and
 * e has 4; `-` stands for no share.  Behind the letter may stand
 *
 *     *N   number of units, or `max` (default: 1)
 *     :N   priority
 *     ?    the request times out before the next request is enqueued
 *     !    the process is killed when all requests are in the queue
 *
 * Then the units are released, and each process that is granted its units returns them at once.  The result is
 * the letters in the order of the grants.
 */
#include "crowd.h"

#include <ctype.h>

enum { MOST = 300 };

static const char *left_in_order(const _Atomic int places[], const char names[], int count)
{
    static char order[MOST + 1];

    memset(order, 0, sizeof order);
    for (int i = 0; i < count; i++) {
        if (atomic_load(&places[i]) != 0)
            order[atomic_load(&places[i]) - 1] = names[i];
    }
    return order;
}

static uint32_t weight_of(char name)
{
    return name == '-' ? 0 : name == 'd' ? 2 : name == 'e' ? 4 : 1;
}

static pid_t fork_client(fairsem_shared_t *h, const char *word, _Atomic int *place, _Atomic int *granted)
{
    const char *units = strchr(word, '*'), *priority = strchr(word, ':');
    const int64_t n = units == NULL ? 1 : strcmp(units, "*max") == 0 ? FAIRSEM_MAX_UNITS : strtoll(units + 1, NULL, 10);
    const fairsem_wait_t how = {
        .priority = priority != NULL ? atoi(priority + 1) : 0,
        .timeout_ns = strchr(word, '?') != NULL ? 1 : 0,
        .share_weight = weight_of(*word), .share_key = weight_of(*word) != 0 ? UINT64_MAX - (uint64_t)*word : 0,
    };
    pid_t child = fork();

    if (child == 0) {
        int error = fairsem_shared_acquire_with(h, n, &how);

        if (error == 0)
            atomic_store(place, atomic_fetch_add(granted, 1) + 1);
        CHILD_CHECK(error == (how.timeout_ns != 0 ? ETIMEDOUT : 0));
        CHILD_CHECK(error != 0 || fairsem_shared_release(h, n) == 0);
        _exit(0);
    }
    return child;
}

static const char *order_of(const char *words, int64_t units, unsigned flags)
{
    const fairsem_shared_attr_t attr = { .units = units, .flags = flags };
    _Atomic int *places = share((MOST + 1) * sizeof *places);
    char copy[512], names[MOST], *rest = NULL;
    pid_t client[MOST];
    bool killed[MOST] = { false };
    int count = 0, waiting = 0;
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, units), 0);
    for (char *word = strtok_r(strcpy(copy, words), " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        killed[count] = strchr(word, '!') != NULL;
        names[count] = *word;
        client[count] = fork_client(h, word, &places[count], &places[MOST]);
        if (strchr(word, '?') != NULL) {
            ck_assert_int_eq(status_of(client[count]), 0);
            client[count] = 0;
        } else {
            await_queue(h, ++waiting);
        }
        count++;
    }
    for (int i = 0; i < count; i++) {
        if (killed[i])
            kill_child(client[i]);
        waiting -= killed[i];
    }
    await_queue(h, waiting);    /* until the dead processes are found */
    ck_assert_int_eq(fairsem_shared_release(h, units), 0);
    for (int i = 0; i < count; i++) {
        if (!killed[i] && client[i] != 0)
            ck_assert_int_eq(status_of(client[i]), 0);
    }
    ck_assert_int_eq(fairsem_shared_waiters(h), 0);
    ck_assert_int_eq(check_sums(h), units);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    return left_in_order(places, names, count);
}

static const struct { const char *name, *words; int64_t units; const char *order; } scenarios[] = {
    { "units go round between the shares", "a a a a b b b c c", 1, "abcabcab" "a" },
    { "requests without a share are a share, too", "- - - a a", 1, "-a-a-" },
    { "requests that came before the first share count as they came", "- - - - a a a", 1, "-a-a-a-" },
    { "a share of four times the weight gets four times the units", "a a a e e e e e e e e", 1, "aeeeeaeeeea" },
    { "weights count units, not requests", "a*3 a*3 a*3 a*3 b*5 b*5 b*5", 5, "abaabab" },
    { "shares divide each priority", "a:1 a:1 b:1 b:1 c c", 1, "ccabab" },
    { "a better priority comes first", "a a b b c:-1 a:-1", 1, "caabab" },
    { "a request that times out costs its share nothing", "- a? a? a? a a b b", 1, "-abab" },
    { "requests whose processes die cost their share nothing", "a! a! a! a b b b", 1, "abbb" },
    { "nor in the middle of the queue", "a a! a! a b b b", 1, "abab" "b" },
    { "tags of the largest requests can be compared", "a*max a*max a*max a*max a*max a*max a*max a*max a*max b b",
      FAIRSEM_MAX_UNITS, "abb" "aaaaaaaa" },
};

START_TEST(requests_are_granted_in_this_order)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        const char *order;

        if (flags != 0 && strchr(scenarios[_i].words, '!') != NULL)
            continue;
        order = order_of(scenarios[_i].words, scenarios[_i].units, flags);
        ck_assert_msg(strcmp(order, scenarios[_i].order) == 0, "%s, flags %u: %s, not %s", scenarios[_i].name,
                      flags, order, scenarios[_i].order);
    }
}
END_TEST

static int with(fairsem_shared_t *h, const fairsem_wait_t how)
{
    return fairsem_shared_acquire_with(h, 1, &how);
}

START_TEST(a_share_that_cannot_be_used_is_an_error)
{
    const fairsem_shared_attr_t plain = { .units = 1 }, aging = { .units = 1, .aging_ns = 1 };
    fairsem_share_t of_process = FAIRSEM_SHARE_INITIALIZER(1);
    fairsem_shared_t *h, *old;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &plain), 0);
    ck_assert_int_eq(fairsem_shared_open(&old, NULL, 0, 0, &aging), 0);
    ck_assert_int_eq(with(h, (fairsem_wait_t){ .share_key = 1 }), EINVAL);
    ck_assert_int_eq(with(h, (fairsem_wait_t){ .share_key = 1, .share_weight = FAIRSEM_MAX_WEIGHT + 1 }), EINVAL);
    ck_assert_int_eq(with(h, (fairsem_wait_t){ .share = &of_process }), EINVAL);
    ck_assert_int_eq(with(old, (fairsem_wait_t){ .share_weight = 1 }), EINVAL);
    ck_assert_int_eq(with(h, (fairsem_wait_t){ .share_weight = 1 }), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    ck_assert_int_eq(fairsem_shared_close(old), 0);
}
END_TEST

struct key_user {
    pthread_t         thread;
    fairsem_shared_t *h;
    uint64_t          key;
    int               error;
};

static void *use_key(void *arg)
{
    struct key_user *user = arg;
    const fairsem_wait_t how = { .share_weight = 1, .share_key = user->key };

    user->error = fairsem_shared_acquire_with(user->h, 1, &how);
    if (user->error == 0)
        user->error = fairsem_shared_release(user->h, 1);
    return NULL;
}

/* Each round has as many keys as there are slots, and other keys than the last round, so entries are reused. */
START_TEST(each_round_can_use_as_many_new_keys_as_there_are_slots)
{
    enum { SLOTS = 12, ROUNDS = 30 };
    const fairsem_shared_attr_t attr = { .units = 1, .max_waiters = SLOTS };
    fairsem_shared_t *h;

    ck_assert_int_eq(fairsem_shared_open(&h, NULL, 0, 0, &attr), 0);
    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct key_user users[SLOTS];

        for (int i = 0; i < SLOTS; i++) {
            users[i] = (struct key_user){ .h = h, .key = round * SLOTS + (uint64_t)i };
            ck_assert_int_eq(pthread_create(&users[i].thread, NULL, use_key, &users[i]), 0);
        }
        await_queue(h, SLOTS);
        ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
        for (int i = 0; i < SLOTS; i++) {
            ck_assert_int_eq(pthread_join(users[i].thread, NULL), 0);
            ck_assert_int_eq(users[i].error, 0);
        }
        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    }
    ck_assert_int_eq(fairsem_shared_release(h, 1), 0);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("shared_shares");

    tcase_add_loop_test(tcase, requests_are_granted_in_this_order, 0, sizeof scenarios / sizeof scenarios[0]);
    tcase_add_test(tcase, a_share_that_cannot_be_used_is_an_error);
    tcase_add_test(tcase, each_round_can_use_as_many_new_keys_as_there_are_slots);
    return run_case("shared_shares", tcase);
}

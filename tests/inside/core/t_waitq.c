/* SPDX-License-Identifier: MIT */
/* t_waitq.c - the wait queue by itself: its order, and leaving it at any place. */
#include "suite.h"

#include "waitq.h"

#include <string.h>

#define MOST 40

/* No assertion for each node: an assertion is a system call. */
static bool is_in_order(const struct fs_waitq *queue, int64_t expected)
{
    int64_t count = 0;

    for (const struct fs_waitq_node *n = queue->first, *before = NULL; n != NULL;
         before = n, n = fs_waitq_behind(queue, n)) {
        count++;
        if (before == NULL)
            continue;
        if (before->priority > n->priority
            || (before->priority == n->priority && before->seq >= n->seq))
            return false;
    }
    return count == expected;
}

START_TEST(equal_priorities_wait_in_arrival_order)
{
    struct fs_waitq queue = { 0 };
    struct fs_waitq_node nodes[5];
    const struct fs_waitq_node *at;

    ck_assert(fs_waitq_empty(&queue));
    for (int i = 0; i < 5; i++)
        fs_waitq_join(&queue, &nodes[i], 0);
    at = queue.first;
    for (int i = 0; i < 5; i++, at = fs_waitq_behind(&queue, at))
        ck_assert_ptr_eq(at, &nodes[i]);
    ck_assert_ptr_null(at);
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_eq(queue.first, &nodes[i]);
        fs_waitq_leave(&queue, &nodes[i]);
    }
    ck_assert(fs_waitq_empty(&queue));
}
END_TEST

/* U38: newcomers of priority 0, 0, 5, 5, in any order, wait as 0a, 0b, 5a, 5b. */
START_TEST(a_lower_priority_number_waits_before_a_higher_one)
{
    struct fs_waitq queue = { 0 };
    struct fs_waitq_node low_a, low_b, high_a, high_b, least;

    fs_waitq_join(&queue, &high_a, 5);
    ck_assert(fs_waitq_leads(&queue, 4));
    ck_assert(!fs_waitq_leads(&queue, 5));
    fs_waitq_join(&queue, &low_a, 0);
    fs_waitq_join(&queue, &high_b, 5);
    fs_waitq_join(&queue, &low_b, 0);
    fs_waitq_join(&queue, &least, INT32_MIN);
    ck_assert(is_in_order(&queue, 5));
    ck_assert_ptr_eq(queue.first, &least);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &least), &low_a);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &low_a), &low_b);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &low_b), &high_a);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &high_a), &high_b);
    ck_assert_ptr_null(fs_waitq_behind(&queue, &high_b));
}
END_TEST

/* A thousand random queues: join and leave anywhere; in order after each step. */
START_TEST(any_sequence_of_joins_and_leaves_keeps_the_order)
{
    uint32_t seed = 1;

    for (int round = 0; round < 1000; round++) {
        struct fs_waitq queue = { 0 };
        struct fs_waitq_node nodes[MOST];
        bool in[MOST] = { false };
        int64_t count = 0;

        memset(nodes, 0xff, sizeof nodes);
        for (int step = 0; step < 60; step++) {
            int i;

            seed = seed * 1664525 + 1013904223;
            i = (int)(seed >> 16) % MOST;
            if (in[i]) {
                fs_waitq_leave(&queue, &nodes[i]);
                count--;
            } else {
                fs_waitq_join(&queue, &nodes[i], (int)(seed >> 24) % (round % 31 + 1) - 2);
                count++;
            }
            in[i] = !in[i];
            if (!is_in_order(&queue, count))
                ck_abort_msg("round %d, step %d: out of order", round, step);
        }
    }
}
END_TEST

static int depth_below(const struct fs_waitq_node *leader)
{
    int better, worse;

    if (leader == NULL)
        return 0;
    better = depth_below(leader->better);
    worse = depth_below(leader->worse);
    return 1 + (better > worse ? better : worse);
}

/*
 * Priorities in ascending order, in descending order, and far apart: the tree of 10,000 would be
 * 14 deep at best, and 10,000 at worst.  By chance it is 30 to 40 deep; never 100.
 */
START_TEST(many_priorities_in_any_order_make_no_deep_tree)
{
    static struct fs_waitq_node nodes[10000];
    static const int steps[] = { 1, -1, 104729 };
    enum { MANY = sizeof nodes / sizeof nodes[0] };

    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        struct fs_waitq queue = { 0 };
        int64_t count = MANY;

        for (int i = 0; i < MANY; i++)
            fs_waitq_join(&queue, &nodes[i], i * steps[k]);
        ck_assert(is_in_order(&queue, MANY));
        ck_assert_int_lt(depth_below(queue.root), 100);
        for (int i = 0; i < MANY; i += 3, count--)
            fs_waitq_leave(&queue, &nodes[i]);
        ck_assert(is_in_order(&queue, count));
        ck_assert_int_lt(depth_below(queue.root), 100);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("waitq", equal_priorities_wait_in_arrival_order,
              a_lower_priority_number_waits_before_a_higher_one,
              any_sequence_of_joins_and_leaves_keeps_the_order,
              many_priorities_in_any_order_make_no_deep_tree);
}

/* SPDX-License-Identifier: MIT */
/* t_waitq.c - the wait queue by itself: ordered by (priority, sequence number), left from anywhere. */
#include "suite.h"

#include "waitq.h"

#include <string.h>

#define MOST 40

/* No assertion per node: each is a system call. */
static bool is_in_order(const struct fs_waitq *line, int64_t expected)
{
    int64_t count = 0;

    for (const struct fs_waitq_node *n = line->first, *before = NULL; n != NULL;
         before = n, n = fs_waitq_behind(line, n)) {
        count++;
        if (before == NULL)
            continue;
        if (before->priority > n->priority
            || (before->priority == n->priority && before->seq >= n->seq))
            return false;
    }
    return count == expected;
}

START_TEST(equal_priorities_stand_in_arrival_order)
{
    struct fs_waitq line = { 0 };
    struct fs_waitq_node nodes[5];
    const struct fs_waitq_node *at;

    ck_assert(fs_waitq_empty(&line));
    for (int i = 0; i < 5; i++)
        fs_waitq_join(&line, &nodes[i], 0);
    at = line.first;
    for (int i = 0; i < 5; i++, at = fs_waitq_behind(&line, at))
        ck_assert_ptr_eq(at, &nodes[i]);
    ck_assert_ptr_null(at);
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_eq(line.first, &nodes[i]);
        fs_waitq_leave(&line, &nodes[i]);
    }
    ck_assert(fs_waitq_empty(&line));
}
END_TEST

/* U38: newcomers 0, 0, 5, 5 in any order stand as 0a, 0b, 5a, 5b. */
START_TEST(a_lower_priority_number_stands_before_a_higher_one)
{
    struct fs_waitq line = { 0 };
    struct fs_waitq_node low_a, low_b, high_a, high_b, least;

    fs_waitq_join(&line, &high_a, 5);
    ck_assert(fs_waitq_leads(&line, 4));
    ck_assert(!fs_waitq_leads(&line, 5));
    fs_waitq_join(&line, &low_a, 0);
    fs_waitq_join(&line, &high_b, 5);
    fs_waitq_join(&line, &low_b, 0);
    fs_waitq_join(&line, &least, INT32_MIN);
    ck_assert(is_in_order(&line, 5));
    ck_assert_ptr_eq(line.first, &least);
    ck_assert_ptr_eq(fs_waitq_behind(&line, &least), &low_a);
    ck_assert_ptr_eq(fs_waitq_behind(&line, &low_a), &low_b);
    ck_assert_ptr_eq(fs_waitq_behind(&line, &low_b), &high_a);
    ck_assert_ptr_eq(fs_waitq_behind(&line, &high_a), &high_b);
    ck_assert_ptr_null(fs_waitq_behind(&line, &high_b));
}
END_TEST

/* A thousand random lines: join and leave anywhere, in order after each step. */
START_TEST(any_sequence_of_joins_and_leaves_keeps_the_order)
{
    uint32_t seed = 1;

    for (int round = 0; round < 1000; round++) {
        struct fs_waitq line = { 0 };
        struct fs_waitq_node nodes[MOST];
        bool in[MOST] = { false };
        int64_t count = 0;

        memset(nodes, 0xff, sizeof nodes);
        for (int step = 0; step < 60; step++) {
            int i;

            seed = seed * 1664525 + 1013904223;
            i = (int)(seed >> 16) % MOST;
            if (in[i]) {
                fs_waitq_leave(&line, &nodes[i]);
                count--;
            } else {
                fs_waitq_join(&line, &nodes[i], (int)(seed >> 24) % (round % 31 + 1) - 2);
                count++;
            }
            in[i] = !in[i];
            if (!is_in_order(&line, count))
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
        struct fs_waitq line = { 0 };
        int64_t count = MANY;

        for (int i = 0; i < MANY; i++)
            fs_waitq_join(&line, &nodes[i], i * steps[k]);
        ck_assert(is_in_order(&line, MANY));
        ck_assert_int_lt(depth_below(line.root), 100);
        for (int i = 0; i < MANY; i += 3, count--)
            fs_waitq_leave(&line, &nodes[i]);
        ck_assert(is_in_order(&line, count));
        ck_assert_int_lt(depth_below(line.root), 100);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("waitq", equal_priorities_stand_in_arrival_order,
              a_lower_priority_number_stands_before_a_higher_one,
              any_sequence_of_joins_and_leaves_keeps_the_order,
              many_priorities_in_any_order_make_no_deep_tree);
}

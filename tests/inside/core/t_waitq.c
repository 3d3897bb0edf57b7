/* SPDX-License-Identifier: MIT */
/* t_waitq.c - the wait queue alone: its order, and removal at any place. */
#include "suite.h"

#include "waitq.h"

#include <string.h>

#define MOST 40

/* Returns a result instead of asserting for each node, because each assertion makes a system call. */
static bool is_in_order(const struct fs_waitq *queue, int64_t expected)
{
    int64_t count = 0;

    for (const struct fs_waitq_node *n = fs_waitq_first(queue), *before = NULL; n != NULL;
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
        fs_waitq_enqueue(&queue, &nodes[i], 0);
    at = fs_waitq_first(&queue);
    for (int i = 0; i < 5; i++, at = fs_waitq_behind(&queue, at))
        ck_assert_ptr_eq(at, &nodes[i]);
    ck_assert_ptr_null(at);
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_eq(fs_waitq_first(&queue), &nodes[i]);
        fs_waitq_dequeue(&queue, &nodes[i]);
    }
    ck_assert(fs_waitq_empty(&queue));
}
END_TEST

/* U38: newcomers of priority 0, 0, 5, 5, in any order, wait as 0a, 0b, 5a, 5b. */
START_TEST(a_lower_priority_number_waits_before_a_higher_one)
{
    struct fs_waitq queue = { 0 };
    struct fs_waitq_node low_a, low_b, high_a, high_b, least;

    fs_waitq_enqueue(&queue, &high_a, 5);
    ck_assert(fs_waitq_takes_precedence(&queue, 4));
    ck_assert(!fs_waitq_takes_precedence(&queue, 5));
    fs_waitq_enqueue(&queue, &low_a, 0);
    fs_waitq_enqueue(&queue, &high_b, 5);
    fs_waitq_enqueue(&queue, &low_b, 0);
    fs_waitq_enqueue(&queue, &least, INT32_MIN);
    ck_assert(is_in_order(&queue, 5));
    ck_assert_ptr_eq(fs_waitq_first(&queue), &least);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &least), &low_a);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &low_a), &low_b);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &low_b), &high_a);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &high_a), &high_b);
    ck_assert_ptr_null(fs_waitq_behind(&queue, &high_b));
}
END_TEST

static int depth_below(const struct fs_tree_node *leader)
{
    int better, worse;

    if (leader == NULL)
        return 0;
    better = depth_below(leader->better);
    worse = depth_below(leader->worse);
    return 1 + (better > worse ? better : worse);
}

/*
 * Priorities in ascending order, in descending order, and far apart: a tree of 10,000 is 14 deep at best and
 * 10,000 at worst.  A random tree is 30 to 40 deep, and never 100.
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
            fs_waitq_enqueue(&queue, &nodes[i], i * steps[k]);
        ck_assert(is_in_order(&queue, MANY));
        ck_assert_int_lt(depth_below(queue.root), 100);
        for (int i = 0; i < MANY; i += 3, count--)
            fs_waitq_dequeue(&queue, &nodes[i]);
        ck_assert(is_in_order(&queue, count));
        ck_assert_int_lt(depth_below(queue.root), 100);
    }
}
END_TEST

/* ---- By age ---- */

/* The order of waitq.h: first the aged nodes, by arrival; then the others, by priority and then by arrival. */
static bool comes_before(const struct fs_waitq_node *a, const struct fs_waitq_node *b)
{
    if ((a->kind == FS_AGED) != (b->kind == FS_AGED))
        return a->kind == FS_AGED;
    if (a->kind == FS_AGED || a->priority == b->priority)
        return a->seq < b->seq;
    return a->priority < b->priority;
}

static bool is_in_order_of_age(const struct fs_waitq *queue, int64_t expected)
{
    const struct fs_waitq_node *n = fs_waitq_first(queue), *behind;
    int64_t count = n != NULL;

    for (; n != NULL && (behind = fs_waitq_behind(queue, n)) != NULL; n = behind, count++) {
        if (!comes_before(n, behind))
            return false;
    }
    return count == expected;
}

/* Make the next node aged, as the owner of the queue does. */
static void grow_old(struct fs_waitq *queue)
{
    struct fs_waitq_node *at = queue->front;

    while (at != NULL && at->kind == FS_AGED)
        at = fs_waitq_younger(queue, at);
    if (at != NULL)
        at->kind = FS_AGED;
}

START_TEST(aged_nodes_come_first_in_the_order_of_arrival)
{
    struct fs_waitq queue = { 0 };
    struct fs_waitq_node worse, worst, best, better;

    fs_waitq_enqueue_by_age(&queue, &worse, 5);
    fs_waitq_enqueue_by_age(&queue, &worst, 7);
    fs_waitq_enqueue_by_age(&queue, &best, 1);
    ck_assert_ptr_eq(fs_waitq_first(&queue), &best);
    ck_assert(fs_waitq_takes_precedence(&queue, 0) && !fs_waitq_takes_precedence(&queue, 1));
    grow_old(&queue);
    ck_assert_ptr_eq(fs_waitq_first(&queue), &worse);
    ck_assert(!fs_waitq_takes_precedence(&queue, INT32_MIN));
    grow_old(&queue);
    fs_waitq_enqueue_by_age(&queue, &better, 0);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &worse), &worst);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &worst), &better);
    ck_assert_ptr_eq(fs_waitq_behind(&queue, &better), &best);
    ck_assert_ptr_null(fs_waitq_behind(&queue, &best));
    ck_assert_ptr_eq(fs_waitq_best(&queue), &better);
    fs_waitq_dequeue_by_age(&queue, &worse);
    fs_waitq_dequeue_by_age(&queue, &worst);
    ck_assert_ptr_eq(fs_waitq_first(&queue), &better);
    ck_assert_ptr_eq(queue.front, &best);
    fs_waitq_dequeue_by_age(&queue, &better);
    fs_waitq_dequeue_by_age(&queue, &best);
    ck_assert(fs_waitq_empty(&queue) && queue.root == NULL);
}
END_TEST

/* Enqueue, dequeue and age the nodes of a thousand queues at random.  Each step leaves the queue in order. */
static void walk_at_random(bool by_age)
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
            if (by_age && seed >> 30 == 0) {
                grow_old(&queue);
            } else if (in[i]) {
                (by_age ? fs_waitq_dequeue_by_age : fs_waitq_dequeue)(&queue, &nodes[i]);
                in[i] = false;
                count--;
            } else {
                (by_age ? fs_waitq_enqueue_by_age : fs_waitq_enqueue)(
                    &queue, &nodes[i], (int)(seed >> 24) % (round % 31 + 1) - 2);
                in[i] = true;
                count++;
            }
            if (by_age ? !is_in_order_of_age(&queue, count) : !is_in_order(&queue, count))
                ck_abort_msg("round %d, step %d: out of order", round, step);
        }
    }
}

START_TEST(any_sequence_of_enqueues_and_dequeues_keeps_the_order)
{
    walk_at_random(false);
}
END_TEST

START_TEST(any_sequence_keeps_the_order_of_age)
{
    walk_at_random(true);
}
END_TEST

/* Descending, equal and ascending priorities, with which an unbalanced tree would become a list. */
START_TEST(a_long_queue_by_age_makes_no_deep_tree)
{
    static struct fs_waitq_node nodes[10000];
    enum { MANY = sizeof nodes / sizeof nodes[0] };

    for (int step = 0; step < 3; step++) {
        struct fs_waitq queue = { 0 };

        for (int i = 0; i < MANY; i++)
            fs_waitq_enqueue_by_age(&queue, &nodes[i], i * (step - 1));
        ck_assert(is_in_order_of_age(&queue, MANY));
        ck_assert_int_lt(depth_below(queue.root), 100);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("waitq", equal_priorities_wait_in_arrival_order,
              a_lower_priority_number_waits_before_a_higher_one,
              any_sequence_of_enqueues_and_dequeues_keeps_the_order,
              many_priorities_in_any_order_make_no_deep_tree,
              aged_nodes_come_first_in_the_order_of_arrival, any_sequence_keeps_the_order_of_age,
              a_long_queue_by_age_makes_no_deep_tree);
}

/* SPDX-License-Identifier: MIT */
/* age.c - see age.h. */
#include "age.h"

#include "tools/probes.h"

static bool make_aged(struct fs_section *in, struct fs_waitq_node *node)
{
    int64_t ages_at_ns = fs_ages_at_ns(in->sem, fs_waiter_of(node));

    if (ages_at_ns == 0 || fs_section_now(in) < ages_at_ns)
        return false;
    node->kind = FS_AGED;
    return true;
}

void fs_age_note(struct fs_section *in)
{
    struct fs_sem *s = in->sem;
    struct fs_waitq_node *oldest = s->queue.front, *front = fs_waitq_first(&s->queue);

    fs_assert_held(s);
    if (oldest == NULL || oldest->kind == FS_AGED || !make_aged(in, oldest) || oldest == front)
        return;
    s->front_since_ns = in->now_ns;
    fs_probe_aged(s, s->name, fs_waiter_of(oldest)->units, oldest->seq,
                  in->now_ns - fs_waiter_of(oldest)->enqueued_ns);
}

void fs_age_note_all(struct fs_section *in)
{
    struct fs_waitq_node *node = in->sem->queue.front;

    fs_age_note(in);
    while (node != NULL && (node->kind == FS_AGED || make_aged(in, node)))
        node = fs_waitq_younger(&in->sem->queue, node);
}

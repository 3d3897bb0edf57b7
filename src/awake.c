/* SPDX-License-Identifier: MIT */
/* awake.c - who stays awake for its grant; see awake.h. */
#include "awake.h"

#include "semaphore_internal.h"

static bool try_it(struct fs_lesson *lesson)
{
    if (lesson->left == 0)
        return true;
    lesson->left--;
    return false;
}

static void learn(struct fs_lesson *lesson, bool paid)
{
    if (paid) {
        lesson->pause /= 2;
        if (lesson->credit < FS_AWAKE_CREDIT)
            lesson->credit++;
    } else if (lesson->credit >= 2) {
        lesson->credit -= 2;
    } else if (lesson->pause < FS_AWAKE_RARELY) {
        lesson->pause = (uint16_t)(lesson->pause * 2 + 1);
    }
    lesson->left = lesson->pause;
}

static void begin(struct fs_awake *awake, const struct fs_waiter *who, struct fs_lesson *lesson)
{
    awake->who = who;
    awake->lesson = lesson;
}

enum fs_spin_kind fs_awake_join(struct fs_sem *s, const struct fs_waiter *w)
{
    struct fs_lesson *lesson = &s->awake.as_next;

    if (w->since_ns == 0 || s->line.first != &w->in_line || s->sleeps_at_once || !try_it(lesson))
        return FS_SPIN_NOT;
    begin(&s->awake, w, lesson);
    return lesson->credit == 0 ? FS_SPIN_IF_POSSIBLE : FS_SPIN_AS_NEXT;
}

/*
 * PARKED is a thread that has gone to sleep.  When it wakes it is QUEUED, as if it had just
 * joined.  Not where it would come to claim: nothing is there for it yet.
 */
void fs_awake_alert(struct fs_sem *s, struct fs_aftermath *after)
{
    struct fs_waiter *head = fs_waiter_of(s->line.first);

    if (atomic_load_explicit(&head->state, memory_order_relaxed) != FS_PARKED
        || s->sleeps_at_once || s->bypass_ns != 0 || !try_it(&s->awake.alerted))
        return;
    begin(&s->awake, head, &s->awake.alerted);
    head->tell(head, FS_ALERTED, after);
}

void fs_awake_call(struct fs_sem *s, struct fs_waiter *head, struct fs_aftermath *after)
{
    fs_awake_leave(s, head, true);      /* if it stayed awake, that has failed */
    head->tell(head, FS_ALERTED, after);
}

void fs_awake_leave(struct fs_sem *s, const struct fs_waiter *w, bool granted)
{
    if (s->awake.who != w)
        return;
    s->awake.who = NULL;
    if (granted)
        learn(s->awake.lesson,
              atomic_load_explicit(&w->state, memory_order_relaxed) != FS_PARKED);
}

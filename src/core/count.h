/* SPDX-License-Identifier: MIT */
/* count.h - the counters of waits, for fairsem_stat_t, and the probes of waits.  To be called in a section. */
#ifndef FS_COUNT_H
#define FS_COUNT_H

#include "sem.h"
#include "tools/buckets.h"
#include "tools/probes.h"

/* Copies from a waiter that leaves the queue, for use when the waiter may be gone (I8). */
struct fs_ended {
    int64_t  enqueued_ns;
    int64_t  units;
    uint64_t seq;       /* for the probes */
    int      core;
    bool     was_front;
    bool     passed;    /* the waiter had aged, while a waiter of a better priority was in the queue */
};

static inline struct fs_ended fs_ended_of(const struct fs_sem *s, const struct fs_waiter *w)
{
    return (struct fs_ended){
        .enqueued_ns = w->enqueued_ns, .units = w->units, .seq = w->in_queue.seq,
        .core = w->in_queue.core, .was_front = fs_front(s) == w,
        .passed = (s->options & FS_AGING) != 0 && w->in_queue.kind == FS_AGED
                  && fs_waitq_best(&s->queue) != &w->in_queue,
    };
}

/* Count units that the queue asks for (sign 1) or no longer asks for (-1).  96 bits cannot overflow. */
static inline void fs_count_waiting(struct fs_sem *s, int64_t units, int sign)
{
    uint64_t before = s->waiting_low;

    s->waiting_low += (uint64_t)(sign * units);
    if (sign > 0)
        s->waiting_high += s->waiting_low < before;
    else
        s->waiting_high -= s->waiting_low > before;
}

static inline void fs_count_enqueued(struct fs_sem *s, const struct fs_waiter *w)
{
    fs_count_waiting(s, w->units, 1);
    /* The maximum of the interval is never above the maximum of all time, so it is compared first. */
    if (s->waiters > s->waiters_max_interval) {
        s->waiters_max_interval = s->waiters;
        if (s->waiters > s->waiters_max)
            s->waiters_max = s->waiters;
    }
    fs_probe_wait_begin(s, s->name, w->units, w->in_queue.seq, w->in_queue.priority);
}

/* The counters of fairsem_stat_histogram.  Only with FS_COUNTED. */
static inline uint64_t *fs_counts(struct fs_sem *s)
{
    static_assert(offsetof(fairsem_counted_t, sem) == 0, "the counters are behind the semaphore");
    return ((fairsem_counted_t *)(void *)s)->fairsem_counts_;
}

/* Returns a word for the probe `cancel`, which reports all ends except grants and deadlines. */
const char *fs_end_word(enum fs_end end);

static inline void fs_count_ended(struct fs_sem *s, const struct fs_ended *ended, int64_t now_ns,
                                  enum fs_end end)
{
    int64_t waited_ns = now_ns - ended->enqueued_ns;

    fs_count_waiting(s, ended->units, -1);
    if (waited_ns > INT64_MAX - s->wait_ns_total)
        s->wait_ns_total = INT64_MAX;   /* a million waits of three hours exceed it */
    else
        s->wait_ns_total += waited_ns;
    if (waited_ns > s->wait_ns_max_interval) {
        s->wait_ns_max_interval = waited_ns;
        if (waited_ns > s->wait_ns_max)
            s->wait_ns_max = waited_ns;
    }
    if ((s->options & FS_COUNTED) != 0)
        fs_counts(s)[fs_wait_bucket(waited_ns)]++;
    if (end == FS_BY_GRANT) {
        s->grants++;
        if (ended->passed)
            s->aged++;
        fs_probe_grant(s, s->name, ended->units, ended->seq, waited_ns);
    } else if (end == FS_BY_DEADLINE) {
        s->timeouts++;
        fs_probe_timeout(s, s->name, ended->units, ended->seq, waited_ns);
    } else {
        fs_probe_cancel(s, s->name, ended->units, ended->seq, waited_ns,
                        fs_end_word(end));
    }
}

void fs_count_over_release(struct fs_sem *s, int64_t n, int64_t room);

#endif

/* SPDX-License-Identifier: MIT */
/* stat.c - inspecting a semaphore, as numbers and as text. */
#include "acquire.h"
#include "age.h"
#include "count.h"
#include "fast_path.h"
#include "section.h"
#include "share.h"
#include "wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Inspect the semaphore by one load of the word.  Returns false if CONTENDED is set: then the caller needs a
 * section.  While CONTENDED is clear, no thread is in a section, and the semaphore is neither closed nor
 * paused.  Its queue is empty, except with bounded bypass.  Acquire order: a thread that sees the word that
 * a section has stored must see all that the section did, for instance to a ticket.
 */
static bool is_fast(const struct fs_sem *s, int64_t *available)
{
    int64_t word = atomic_load_explicit(&s->word, memory_order_acquire);

    *available = fs_word_available(word);
    return (word & FS_CONTENDED) == 0;
}

int64_t fairsem_available(const fairsem_t *sem)
{
    struct fs_section in;
    int64_t available;

    if (is_fast(fs_inside(sem), &available))
        return available;
    fs_section_begin(&in, fs_inside(sem));
    available = in.available;
    fs_section_end(&in);
    return available;
}

int64_t fairsem_waiters(const fairsem_t *sem)
{
    struct fs_sem *s = fs_inside(sem);
    int64_t available, waiters;
    struct fs_section in;

    if ((s->options & FS_BYPASS) == 0 && is_fast(s, &available))
        return 0;
    fs_section_begin(&in, s);
    waiters = s->waiters;
    fs_section_end(&in);
    return waiters;
}

int64_t fairsem_capacity(const fairsem_t *sem)
{
    struct fs_sem *s = fs_inside(sem);
    int64_t limit = fs_fixed_limit(s);
    struct fs_section in;

    if ((s->options & FS_BOUNDED) == 0 || limit >= 0)
        return (s->options & FS_BOUNDED) != 0 ? limit : -1;
    fs_section_begin(&in, s);
    limit = s->limit;
    fs_section_end(&in);
    return limit;
}

int fairsem_closed(const fairsem_t *sem)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;
    int64_t available;
    int reason;

    if (is_fast(s, &available))
        return 0;
    fs_section_begin(&in, s);
    reason = s->closed;
    fs_section_end(&in);
    return reason;
}

bool fairsem_would_block(const fairsem_t *sem, int64_t n)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;
    int64_t available;
    bool answer;

    if (!fs_count_valid(n) || (n > 0 && is_fast(s, &available) && n <= available))
        return false;
    if (fs_plainly_too_few(s, n))
        return true;
    fs_section_begin(&in, s);
    answer = s->closed == 0 && !fs_is_too_large(s, n) && !fs_may_take(&in, n, FS_LAST_PRIORITY);
    fs_section_end(&in);
    return answer;
}

/* Returns at most INT64_MAX: a few requests of 2^60 units each exceed it. */
static int64_t waiting_units(const struct fs_sem *s)
{
    if (s->waiting_high != 0 || s->waiting_low > INT64_MAX)
        return INT64_MAX;
    return (int64_t)s->waiting_low;
}

/* Fill in figures that need a walk of the queue.  The walk has one step for each priority of each share. */
static void walk_queue(const struct fs_sem *s, fairsem_stat_t *stat)
{
    int64_t oldest = INT64_MAX;
    struct fs_share *share = NULL;

    for (struct fs_waitq_node *n = fs_waitq_first(&s->queue); n != NULL; n = fs_next_in_tree(s, n)) {
        struct fs_waiter *w = fs_waiter_of(n);

        if (w->enqueued_ns < oldest)
            oldest = w->enqueued_ns;
        if (w->share != NULL && w->share != share)
            stat->shares++;
        share = w->share;
    }
    stat->oldest_wait_ns = fs_now_ns() - oldest;
}

static void take_stat(const struct fs_section *in, fairsem_stat_t *stat)
{
    const struct fs_sem *s = in->sem;

    fs_assert_held(s);
    *stat = (fairsem_stat_t){
        .available = in->available,
        .capacity = (s->options & FS_BOUNDED) != 0 ? s->limit : -1,
        .waiters = s->waiters,
        .waiting_units = waiting_units(s),
        .waits = fs_waits(s),
        .grants = s->grants,
        .timeouts = s->timeouts,
        .cancels = fs_waits(s) - s->waiters - s->grants - s->timeouts,
        .wait_ns_total = s->wait_ns_total,
        .wait_ns_max = s->wait_ns_max,
        .waiters_max = s->waiters_max,
        .refused = s->refused,
        .over_releases = s->over_releases,
        .aged = (s->options & FS_AGING) != 0 ? s->aged : 0,
    };
    if ((s->options & FS_AGING) != 0 && !fs_waitq_empty(&s->queue))
        stat->oldest_wait_ns = fs_now_ns() - fs_waiter_of(s->queue.front)->enqueued_ns;
    else if (!fs_waitq_empty(&s->queue))
        walk_queue(s, stat);
}

int fairsem_stat(const fairsem_t *sem, fairsem_stat_t *stat)
{
    struct fs_section in;

    fs_section_begin(&in, fs_inside(sem));
    take_stat(&in, stat);
    fs_section_end(&in);
    return 0;
}

int fairsem_stat_interval(fairsem_t *sem, fairsem_stat_t *stat)
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;

    fs_section_begin(&in, s);
    take_stat(&in, stat);
    stat->wait_ns_max = s->wait_ns_max_interval;
    stat->waiters_max = s->waiters_max_interval;
    /* Requests that are in the queue now also count in the next interval. */
    s->wait_ns_max_interval = 0;
    s->waiters_max_interval = s->waiters;
    fs_section_end(&in);
    return 0;
}

static void take_counts(const struct fs_section *in, uint64_t *counts)
{
    fs_assert_held(in->sem);
    memcpy(counts, fs_counts(in->sem), FAIRSEM_WAIT_BUCKETS * sizeof *counts);
}

int fairsem_stat_histogram(const fairsem_t *sem, uint64_t counts[FAIRSEM_WAIT_BUCKETS])
{
    struct fs_sem *s = fs_inside(sem);
    struct fs_section in;

    if ((s->options & FS_COUNTED) == 0)
        return EINVAL;
    fs_section_begin(&in, s);
    take_counts(&in, counts);
    fs_section_end(&in);
    return 0;
}

struct inspected {
    uint64_t seq;
    int64_t  units;
    int64_t  enqueued_ns;
    int      priority;
    bool     ticket;
    int      thread;        /* if not a ticket: fs_thread_id() */
    const void *share;      /* NULL: none */
    unsigned weight;        /* of the share */
};

static struct inspected inspect_waiter(const struct fs_waiter *w)
{
    struct inspected result = { w->in_queue.seq, w->units, w->enqueued_ns, w->in_queue.priority,
                                .ticket = fs_is_ticket(w) };

    if (!result.ticket)
        result.thread = fs_parking_thread(&((const struct fs_thread_waiter *)(const void *)w)->parking);
    result.share = w->share;
    if (w->share != NULL)
        result.weight = fs_share_weight(w->share);
    return result;
}

/*
 * Copy the semaphore and its queue.  Memory for the queue is allocated without the mutex (I9): if the queue
 * does not fit when the mutex is held again, repeat.  Returns the number of waiters copied, or -1 if there
 * is no memory.  *stat and the counts are filled in, whatever the result.
 */
static int64_t take_snapshot(struct fs_sem *s, fairsem_stat_t *stat, uint64_t *counts,
                             struct inspected **queue)
{
    int64_t room = 0, copied;

    *queue = NULL;
    do {
        struct fs_section in;

        fs_section_begin(&in, s);
        take_stat(&in, stat);
        if ((s->options & FS_COUNTED) != 0)
            take_counts(&in, counts);
        copied = 0;
        if (stat->waiters <= room) {
            if ((s->options & FS_AGING) != 0)
                fs_age_note_all(&in);
            for (struct fs_waitq_node *n = fs_waitq_first(&s->queue); n != NULL;
                 n = fs_behind(s, n))
                (*queue)[copied++] = inspect_waiter(fs_waiter_of(n));
        }
        fs_section_end(&in);
        if (copied == stat->waiters)
            return copied;
        free(*queue);
        room = stat->waiters + stat->waiters / 8 + 8;
        *queue = malloc((size_t)room * sizeof **queue);
    } while (*queue != NULL);
    return -1;
}

/* Print "ticket", or "thread 4711 (reader)" as far as the system knows the number and the name. */
static void print_who(FILE *file, const struct inspected *who)
{
    char name[FS_THREAD_NAME];

    fputs(who->ticket ? "ticket" : "thread", file);
    if (who->thread == 0)
        return;
    fs_thread_name(who->thread, name);
    fprintf(file, " %d", who->thread);
    if (name[0] != '\0')
        fprintf(file, " (%s)", name);
}

/* Returns the index behind the last request of the share of request i.  (Requests of a share are adjacent.) */
static int64_t end_of_share(const struct inspected *queue, int64_t count, int64_t i)
{
    int64_t end = i + 1;

    while (end < count && queue[end].share == queue[i].share)
        end++;
    return end;
}

/* Print ", share 0x7f0012345678 of weight 3 with 2 requests". */
static void print_share(FILE *file, const struct inspected *who, int64_t requests)
{
    if (who->share != NULL)
        fprintf(file, ", share %p of weight %u with %" PRId64 " request%s", who->share, who->weight, requests,
                requests == 1 ? "" : "s");
}

/* Print "  ended: 5 up to 0.000016 s, 1 longer", without the counters that are 0. */
static void print_counts(FILE *file, const uint64_t *counts)
{
    const char *before = "  ended: ";

    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(file, "%s%" PRIu64, before, counts[i]);
        if (i < FAIRSEM_WAIT_BUCKETS - 1)
            fprintf(file, " up to %.6f s", (double)(INT64_C(1) << i) / 1e6);
        else
            fputs(" longer", file);
        before = ", ";
    }
    if (*before == ',')
        putc('\n', file);
}

static void print(FILE *file, const struct fs_sem *s, const fairsem_stat_t *stat,
                  const uint64_t *counts, const struct inspected *queue, int64_t count)
{
    int64_t now = fs_now_ns(), longest_ns = stat->wait_ns_max, begin = 0, end = 0;
    double all_ns = (double)stat->wait_ns_total;

    /* The longest wait may still go on.  Even without a copy of the queue, *stat has the oldest wait. */
    if (stat->oldest_wait_ns > longest_ns)
        longest_ns = stat->oldest_wait_ns;
    for (int64_t i = 0; i < count; i++) {
        if (now - queue[i].enqueued_ns > longest_ns)
            longest_ns = now - queue[i].enqueued_ns;
        all_ns += (double)(now - queue[i].enqueued_ns);
    }
    fprintf(file, "fairsem %s: available %" PRId64, s->name != NULL ? s->name : "(no name)",
            stat->available);
    if (stat->capacity >= 0)
        fprintf(file, " of %" PRId64 "%s, in use %" PRId64, stat->capacity,
                stat->capacity == 0 ? " (paused)" : "", stat->capacity - stat->available);
    fprintf(file, ", %" PRId64 " waiter%s for %" PRId64 " unit%s", stat->waiters,
            stat->waiters == 1 ? "" : "s", stat->waiting_units, stat->waiting_units == 1 ? "" : "s");
    if (stat->shares != 0)
        fprintf(file, ", %" PRId64 " share%s", stat->shares, stat->shares == 1 ? "" : "s");
    if (count > 0 && queue[0].units > stat->available)
        fprintf(file, ", the first lacks %" PRId64, queue[0].units - stat->available);
    if (s->closed != 0)
        fprintf(file, ", closed with %d", s->closed);
    fprintf(file, "\n  waits %" PRId64 ", granted %" PRId64 ", timed out %" PRId64
            ", canceled %" PRId64 ", refused %" PRId64 ", over-releases %" PRId64
            "\n  longest wait %.6f s, all waits %.6f s, longest line %" PRId64 "\n",
            stat->waits, stat->grants, stat->timeouts, stat->cancels, stat->refused,
            stat->over_releases, (double)longest_ns / 1e9, all_ns / 1e9, stat->waiters_max);
    if ((s->options & FS_COUNTED) != 0)
        print_counts(file, counts);
    for (int64_t i = 0; i < count; i++) {
        if (i == end) {
            begin = i;
            end = end_of_share(queue, count, i);
        }
        fprintf(file, "  %" PRIu64 ": ", queue[i].seq);
        print_who(file, &queue[i]);
        fprintf(file, ", units %" PRId64 ", priority %d, waits for %.6f s", queue[i].units,
                queue[i].priority, (double)(now - queue[i].enqueued_ns) / 1e9);
        print_share(file, &queue[i], end - begin);
        putc('\n', file);
    }
}

int fairsem_dump(const fairsem_t *sem, FILE *file)
{
    struct fs_sem *s = fs_inside(sem);
    fairsem_stat_t stat;
    uint64_t counts[FAIRSEM_WAIT_BUCKETS];
    struct inspected *queue;
    int64_t count;
    int error = errno, cancelable, disabled, result = 0;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    count = take_snapshot(s, &stat, counts, &queue);
    print(file, s, &stat, counts, queue, count);
    free(queue);
    if (fflush(file) != 0 || ferror(file))
        result = EIO;
    else if (count < 0)
        result = ENOMEM;
    pthread_setcancelstate(cancelable, &disabled);
    errno = error;
    return result;
}

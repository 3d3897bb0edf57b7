/* SPDX-License-Identifier: MIT */
/*
 * t_results.c - a table of the result of every function on a semaphore in every condition, and of
 * its effect on the number of free units.  (U47, zephyr 38816: one code for two outcomes.)
 *
 * An error changes nothing: not the count, the queue, a guard or errno.
 */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>

#define REASON 4711
#define MAX    FAIRSEM_MAX_UNITS
#define WAITING EINPROGRESS

/* The condition of the semaphore before the call.  The capacity is 4, except in UNBOUNDED and
 * PAUSED. */
enum condition {
    FREE,           /* 4 of 4 free */
    USED,           /* 1 of 4 free */
    WAITED_FOR,     /* 1 of 4 free, a ticket waits for 3, max_waiters is 1 */
    INDEBTED,       /* -2 of 4 */
    PAUSED,         /* 0 of 0 free; 4 after the pause */
    CLOSED,         /* 1 of 4 free */
    UNBOUNDED,      /* 4 free */
    CONDITIONS
};

static const int64_t available_before[CONDITIONS] = { 4, 1, 1, -2, 0, 1, 4 };

struct scene {
    fairsem_t        sem, other;    /* other: 5 free */
    fairsem_ticket_t waiting;       /* waits in WAITED_FOR, otherwise idle */
    fairsem_ticket_t idle, granted; /* granted: one unit of other */
    fairsem_t        nothing;       /* has no units: of_busy, a ticket of the share `busy`, waits for one */
    fairsem_ticket_t of_busy;
    fairsem_share_t  share, busy, none; /* none: all zero */
    fairsem_token_t  canceled;
    fairsem_units_t  empty;
    fairsem_units_t  held;          /* has adopted 3 units of sem, whether they were acquired or not */
    fairsem_units_t  foreign;       /* 1 of other */
    struct timespec  past;
    FILE            *good, *bad;    /* bad: cannot be written to */
    fairsem_stat_t   stat;
    fairsem_t       *created;
    fairsem_counted_t counted;
    uint64_t         counts[FAIRSEM_WAIT_BUCKETS];
};

static void set_up(struct scene *s, enum condition condition)
{
    fairsem_attr_t attr = { .capacity = 4, .max_waiters = 1 };

    if (condition == UNBOUNDED)
        attr.capacity = 0;
    *s = (struct scene){
        .other = FAIRSEM_INITIALIZER(5), .nothing = FAIRSEM_INITIALIZER(0),
        .share = FAIRSEM_SHARE_INITIALIZER(1), .busy = FAIRSEM_SHARE_INITIALIZER(2),
        .past = from_now(CLOCK_MONOTONIC, -10),
    };
    s->good = fopen("/dev/null", "w");
    s->bad = fopen("/dev/null", "r");
    ck_assert(s->good != NULL && s->bad != NULL);
    ck_assert_int_eq(fairsem_init(&s->sem, 4, &attr), 0);
    ck_assert_int_eq(fairsem_token_init(&s->canceled), 0);
    ck_assert_int_eq(fairsem_token_cancel(&s->canceled, REASON), 0);
    ck_assert_int_eq(fairsem_units_adopt(&s->held, &s->sem, 3), 0);
    ck_assert_int_eq(fairsem_units_acquire(&s->foreign, &s->other, 1, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_take(&s->granted, &s->other, 1, 0, NULL, NULL), 0);
    ck_assert_int_eq(fairsem_ticket_take_with(&s->of_busy, &(const fairsem_request_t){ &s->nothing, 1, &s->busy },
                                              0, NULL, NULL), EINPROGRESS);
    if (condition == USED || condition == WAITED_FOR || condition == CLOSED)
        ck_assert_int_eq(fairsem_acquire(&s->sem, 3), 0);
    if (condition == WAITED_FOR)
        ck_assert_int_eq(fairsem_ticket_take(&s->waiting, &s->sem, 3, 0, NULL, NULL), EINPROGRESS);
    if (condition == INDEBTED)
        ck_assert_int_eq(fairsem_consume(&s->sem, 6), 0);
    if (condition == PAUSED)
        ck_assert_int_eq(fairsem_set_capacity(&s->sem, 0), 0);
    if (condition == CLOSED)
        ck_assert_int_eq(fairsem_close(&s->sem, EPIPE), 0);
}

static void tear_down(struct scene *s)
{
    fairsem_ticket_return(&s->waiting);
    fairsem_ticket_return(&s->idle);
    fairsem_ticket_return(&s->granted);
    fairsem_ticket_return(&s->of_busy);
    fairsem_token_destroy(&s->canceled);
    fclose(s->good);
    fclose(s->bad);
    fairsem_free(s->created);
    ck_assert_int_eq(fairsem_destroy(&s->sem), 0);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static const struct timespec bad_time = { .tv_nsec = 1000000000 };

#define HOW(...) &(const fairsem_wait_t){ __VA_ARGS__ }
#define PAST     .clock = CLOCK_MONOTONIC, .deadline = &s->past
#define CANCELED .token = &s->canceled

/* A call of the table; n is the number of units, a reason or a capacity. */
#define CALL(name, ...)                          \
    static int name(struct scene *s, int64_t n)  \
    {                                            \
        (void)n;                                 \
        return (int)(__VA_ARGS__);               \
    }

CALL(acquire, fairsem_acquire(&s->sem, n))
CALL(acquire_null, fairsem_acquire_with(&s->sem, n, NULL))
CALL(try, fairsem_tryacquire(&s->sem, n))
CALL(upto, fairsem_tryacquire_upto(&s->sem, n))
CALL(release, fairsem_release(&s->sem, n))
CALL(consume, fairsem_consume(&s->sem, n))
CALL(resize, fairsem_set_capacity(&s->sem, n))
CALL(close_with, fairsem_close(&s->sem, (int)n))
CALL(blocks, fairsem_would_block(&s->sem, n))
CALL(with, fairsem_with(&s->sem, n, do_nothing, NULL))
CALL(destroy, fairsem_destroy(&s->sem))
CALL(counted_init, fairsem_counted_init(&s->counted, n, NULL))
CALL(new, fairsem_new(&s->created, n, NULL))
CALL(new_too_full, fairsem_new(&s->created, n, &(const fairsem_attr_t){ .capacity = n - 1 }))

CALL(for_0, fairsem_acquire_for(&s->sem, n, 0))
CALL(for_1ns, fairsem_acquire_for(&s->sem, n, 1))
CALL(until_past, fairsem_acquire_until(&s->sem, n, CLOCK_MONOTONIC, &s->past))
CALL(with_past, fairsem_acquire_with(&s->sem, n, HOW(PAST)))
CALL(bad_clock, fairsem_acquire_until(&s->sem, n, CLOCK_THREAD_CPUTIME_ID, &s->past))
CALL(bad_nsec, fairsem_acquire_with(&s->sem, n, HOW(.deadline = &bad_time)))
#if UINTPTR_MAX > UINT32_MAX
#define RESERVED .reserved_ = { 1 }
#else
#define RESERVED .share_key = 1
#endif
CALL(reserved, fairsem_acquire_with(&s->sem, n, HOW(RESERVED)))
CALL(canceled, fairsem_acquire_with(&s->sem, n, HOW(CANCELED)))
CALL(with_share, fairsem_acquire_with(&s->sem, n, HOW(.share = &s->share)))
CALL(with_busy, fairsem_acquire_with(&s->sem, n, HOW(.share = &s->busy)))
CALL(with_none, fairsem_acquire_with(&s->sem, n, HOW(.share = &s->none)))
CALL(share_init, fairsem_share_init(&s->none, (uint32_t)n))
CALL(share_destroy, fairsem_share_destroy(n == 0 ? &s->share : &s->busy))
CALL(share_charge, fairsem_share_charge(&s->busy, n))
CALL(share_charge_none, fairsem_share_charge(&s->none, n))
CALL(cancel, fairsem_token_cancel(&s->canceled, (int)n))

#define BOTH (const fairsem_request_t[]){ { &s->other, 1, NULL }, { &s->sem, n, NULL } }, 2
CALL(all, fairsem_acquire_all(BOTH, NULL))
CALL(all_past, fairsem_acquire_all(BOTH, HOW(PAST)))
CALL(all_reserved, fairsem_acquire_all(BOTH, HOW(.share_weight = 1)))
CALL(all_canceled, fairsem_acquire_all(BOTH, HOW(CANCELED)))
CALL(release_all, fairsem_release_all(BOTH))

CALL(u_acquire, fairsem_units_acquire(&s->empty, &s->sem, n, NULL))
CALL(u_canceled, fairsem_units_acquire(&s->empty, &s->sem, n, HOW(CANCELED)))
CALL(u_try, fairsem_units_tryacquire(&s->empty, &s->sem, n))
CALL(u_adopt, fairsem_units_adopt(&s->empty, &s->sem, n))
CALL(u_return, fairsem_units_return(&s->held, n))
CALL(u_release, fairsem_units_release(n == 0 ? &s->empty : &s->held))
CALL(u_split, fairsem_units_split(&s->held, n, &s->empty))
CALL(u_split_itself, fairsem_units_split(&s->held, n, &s->held))
CALL(u_merge, fairsem_units_merge(&s->empty, &s->held))
CALL(u_merge_itself, fairsem_units_merge(&s->held, &s->held))
CALL(u_merge_foreign, fairsem_units_merge(&s->foreign, &s->held))
CALL(u_forget, fairsem_units_forget(n == 0 ? &s->empty : &s->held))
CALL(u_acquire_full, fairsem_units_acquire(&s->held, &s->sem, n, NULL))
CALL(u_try_full, fairsem_units_tryacquire(&s->held, &s->sem, n))
CALL(u_adopt_full, fairsem_units_adopt(&s->held, &s->sem, n))
CALL(u_split_full, fairsem_units_split(&s->held, n, &s->foreign))

CALL(t_take, fairsem_ticket_take(&s->idle, &s->sem, n, 0, NULL, NULL))
CALL(t_take_granted, fairsem_ticket_take(&s->granted, &s->sem, n, 0, NULL, NULL))
#define REQUEST(...) &(const fairsem_request_t){ __VA_ARGS__ }
CALL(t_take_with, fairsem_ticket_take_with(&s->idle, REQUEST(&s->sem, n, &s->share), 0, NULL, NULL))
CALL(t_take_busy, fairsem_ticket_take_with(&s->idle, REQUEST(&s->sem, n, &s->busy), 0, NULL, NULL))
CALL(t_take_nowhere, fairsem_ticket_take_with(&s->idle, REQUEST(NULL, n, &s->share), 0, NULL, NULL))
CALL(t_claim, fairsem_ticket_claim(&s->waiting, &s->empty))
CALL(t_claim_idle, fairsem_ticket_claim(&s->idle, &s->empty))
CALL(t_claim_full, fairsem_ticket_claim(&s->granted, &s->held))
CALL(t_wait, fairsem_ticket_wait(&s->waiting, HOW(PAST)))
CALL(t_wait_granted, fairsem_ticket_wait(&s->granted, HOW(PAST)))
CALL(t_wait_canceled, fairsem_ticket_wait(&s->waiting, HOW(CANCELED)))
CALL(t_wait_better, fairsem_ticket_wait(&s->waiting, HOW(PAST, .priority = (int)n)))
CALL(t_wait_reserved, fairsem_ticket_wait(&s->waiting, HOW(.share_key = 1)))
CALL(t_wait_bad_nsec, fairsem_ticket_wait(&s->waiting, HOW(.deadline = &bad_time)))
CALL(t_wait_bad_clock, fairsem_ticket_wait(&s->waiting, HOW(.clock = 99, .deadline = &s->past)))
CALL(t_wait_share, fairsem_ticket_wait(&s->waiting, HOW(PAST, .share = &s->share)))
CALL(t_return, fairsem_ticket_return(&s->waiting))

CALL(capacity, fairsem_capacity(&s->sem))
CALL(waiters, fairsem_waiters(&s->sem))
CALL(closed, fairsem_closed(&s->sem))
CALL(stat, fairsem_stat(&s->sem, &s->stat))
CALL(histogram, fairsem_stat_histogram(&s->sem, s->counts))
CALL(dump, fairsem_dump(&s->sem, n == 0 ? s->good : s->bad))

/* The effect of a call that returned 0 on the number of free units. */
enum effect {
    NOTHING,
    TAKES,          /* n less if n are free; otherwise a ticket waits */
    COUNTS,         /* less by the result, which is a number of units */
    CONSUMES,       /* n less */
    GIVES,          /* n more */
    RESIZES         /* more by the change of the capacity */
};

#define ANY (-9)    /* no call: it would wait, or could fail for two reasons */
#define T   ETIMEDOUT
#define ALL(x) x, x, x, x, x, x, x

struct row {
    const char *name;
    int       (*call)(struct scene *, int64_t n);
    int64_t     n;
    enum effect effect;
    int         result[CONDITIONS];
};

#define ROW(call, n, effect, ...) { #call "(" #n ")", call, n, effect, { __VA_ARGS__ } }

static const struct row rows[] = {
    /*                       FREE    USED    WAITED_FOR INDEBTED PAUSED CLOSED UNBOUNDED */
    ROW(acquire, 1, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire, 4, TAKES, 0, ANY, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, ANY, EPIPE, ANY),
    ROW(acquire, 0, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire, -1, TAKES, ALL(EINVAL)),
    ROW(acquire, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(acquire_null, 1, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire_null, 4, TAKES, 0, ANY, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire_null, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, ANY, EPIPE, ANY),
    ROW(acquire_null, 0, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(acquire_null, -1, TAKES, ALL(EINVAL)),
    ROW(acquire_null, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(u_acquire, 1, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(u_acquire, 4, TAKES, 0, ANY, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(u_acquire, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, ANY, EPIPE, ANY),
    ROW(u_acquire, 0, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(u_acquire, -1, TAKES, ALL(EINVAL)),
    ROW(u_acquire, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(try, 1, TAKES, 0, 0, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(try, 4, TAKES, 0, EAGAIN, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(try, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, EAGAIN, EPIPE, EAGAIN),
    ROW(try, 0, TAKES, 0, 0, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(try, -1, TAKES, ALL(EINVAL)),
    ROW(try, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(u_try, 1, TAKES, 0, 0, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(u_try, 4, TAKES, 0, EAGAIN, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(u_try, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, EAGAIN, EPIPE, EAGAIN),
    ROW(u_try, 0, TAKES, 0, 0, EAGAIN, EAGAIN, EAGAIN, EPIPE, 0),
    ROW(u_try, -1, TAKES, ALL(EINVAL)),
    ROW(u_try, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(for_0, 1, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(for_0, 4, TAKES, 0, T, T, T, T, EPIPE, 0),
    ROW(for_0, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, T, EPIPE, T),
    ROW(for_0, 0, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(for_0, -1, TAKES, ALL(EINVAL)),
    ROW(for_0, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(until_past, 1, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(until_past, 4, TAKES, 0, T, T, T, T, EPIPE, 0),
    ROW(until_past, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, T, EPIPE, T),
    ROW(until_past, 0, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(until_past, -1, TAKES, ALL(EINVAL)),
    ROW(until_past, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(with_past, 1, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(with_past, 4, TAKES, 0, T, T, T, T, EPIPE, 0),
    ROW(with_past, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, T, EPIPE, T),
    ROW(with_past, 0, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(with_past, -1, TAKES, ALL(EINVAL)),
    ROW(with_past, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(for_1ns, 1, TAKES, 0, 0, ENOBUFS, T, T, EPIPE, 0),
    ROW(for_1ns, 4, TAKES, 0, T, ENOBUFS, T, T, EPIPE, 0),
    ROW(for_1ns, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, T, EPIPE, T),
    ROW(for_1ns, 0, TAKES, 0, 0, ENOBUFS, T, T, EPIPE, 0),
    ROW(for_1ns, -1, TAKES, ALL(EINVAL)),
    ROW(for_1ns, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(all, 1, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(all, 4, TAKES, 0, ANY, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(all, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, ANY, EPIPE, ANY),
    ROW(all, 0, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(all, -1, TAKES, ALL(EINVAL)),
    ROW(all, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(all_past, 1, TAKES, 0, 0, T, T, T, EPIPE, 0),
    ROW(all_past, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, T, EPIPE, T),
    ROW(all_reserved, 1, TAKES, ALL(EINVAL)),
    ROW(all_canceled, 1, TAKES, REASON, REASON, REASON, REASON, REASON, ANY, REASON),
    ROW(with, 1, NOTHING, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(with, 5, NOTHING, E2BIG, E2BIG, E2BIG, E2BIG, ANY, EPIPE, ANY),
    ROW(with, -1, NOTHING, ALL(EINVAL)),
    ROW(upto, 9, COUNTS, 4, 1, 0, 0, 0, 0, 4),
    ROW(upto, 2, COUNTS, 2, 1, 0, 0, 0, 0, 2),
    ROW(upto, INT64_MAX, COUNTS, 4, 1, 0, 0, 0, 0, 4),
    ROW(upto, 0, COUNTS, ALL(0)),
    ROW(upto, -1, COUNTS, ALL(0)),
    ROW(bad_clock, 1, TAKES, ALL(EINVAL)),
    ROW(bad_nsec, 1, TAKES, ALL(EINVAL)),
    ROW(reserved, 1, TAKES, ALL(EINVAL)),
    ROW(canceled, 1, TAKES, REASON, REASON, REASON, REASON, REASON, ANY, REASON),
    ROW(canceled, 0, TAKES, REASON, REASON, REASON, REASON, REASON, ANY, REASON),
    ROW(u_canceled, 1, TAKES, REASON, REASON, REASON, REASON, REASON, ANY, REASON),
    ROW(u_canceled, 0, TAKES, REASON, REASON, REASON, REASON, REASON, ANY, REASON),
    ROW(with_share, 1, TAKES, 0, 0, ENOBUFS, ANY, ANY, EPIPE, 0),
    ROW(with_busy, 1, TAKES, ALL(EINVAL)),
    ROW(with_none, 1, TAKES, ALL(EINVAL)),
    ROW(share_init, 1, NOTHING, ALL(0)),
    ROW(share_init, FAIRSEM_MAX_WEIGHT, NOTHING, ALL(0)),
    ROW(share_init, 0, NOTHING, ALL(EINVAL)),
    ROW(share_init, FAIRSEM_MAX_WEIGHT + 1, NOTHING, ALL(EINVAL)),
    ROW(share_destroy, 0, NOTHING, ALL(0)),
    ROW(share_destroy, 1, NOTHING, ALL(EBUSY)),
    ROW(share_charge, MAX, NOTHING, ALL(0)),
    ROW(share_charge, -MAX, NOTHING, ALL(0)),
    ROW(share_charge, MAX + 1, NOTHING, ALL(EINVAL)),
    ROW(share_charge, -MAX - 1, NOTHING, ALL(EINVAL)),
    ROW(share_charge_none, 1, NOTHING, ALL(EINVAL)),
    ROW(cancel, 1, NOTHING, ALL(EALREADY)),
    ROW(cancel, -1, NOTHING, ALL(EINVAL)),

    ROW(release, 1, GIVES, EOVERFLOW, 0, 0, 0, EOVERFLOW, 0, 0),
    ROW(release, 0, GIVES, ALL(0)),
    ROW(release, -1, GIVES, ALL(EINVAL)),
    ROW(release_all, 1, GIVES, EOVERFLOW, 0, 0, 0, EOVERFLOW, 0, 0),
    ROW(release_all, -1, GIVES, ALL(EINVAL)),
    ROW(u_return, 1, GIVES, EOVERFLOW, 0, 0, 0, EOVERFLOW, 0, 0),
    ROW(u_return, 0, GIVES, ALL(0)),
    ROW(u_return, -1, GIVES, ALL(EINVAL)),
    ROW(release, 4, GIVES, EOVERFLOW, EOVERFLOW, EOVERFLOW, 0, EOVERFLOW, EOVERFLOW, 0),
    ROW(release, MAX, GIVES, ALL(EOVERFLOW)),
    ROW(release, MAX + 1, GIVES, ALL(EINVAL)),
    ROW(u_return, 4, GIVES, ALL(EINVAL)),
    ROW(u_return, 3, GIVES, EOVERFLOW, 0, ANY, 0, EOVERFLOW, 0, 0),
    ROW(u_release, 3, GIVES, EOVERFLOW, 0, ANY, 0, EOVERFLOW, 0, 0),
    ROW(u_release, 0, GIVES, ALL(0)),
    ROW(consume, 1, CONSUMES, ALL(0)),
    ROW(consume, 0, CONSUMES, ALL(0)),
    ROW(consume, MAX, CONSUMES, 0, 0, 0, EOVERFLOW, 0, 0, 0),
    ROW(consume, -1, CONSUMES, ALL(EINVAL)),
    ROW(consume, MAX + 1, CONSUMES, ALL(EINVAL)),
    ROW(resize, 3, RESIZES, 0, 0, 0, 0, 0, 0, EINVAL),
    ROW(resize, 0, RESIZES, 0, 0, 0, 0, 0, 0, EINVAL),
    ROW(resize, -1, RESIZES, ALL(EINVAL)),
    ROW(resize, MAX + 1, RESIZES, ALL(EINVAL)),
    ROW(close_with, 0, NOTHING, 0, 0, 0, 0, 0, EALREADY, 0),
    ROW(close_with, REASON, NOTHING, 0, 0, 0, 0, 0, EALREADY, 0),
    ROW(close_with, -1, NOTHING, ALL(EINVAL)),
    ROW(destroy, 0, NOTHING, 0, 0, EBUSY, 0, 0, 0, 0),
    ROW(counted_init, 1, NOTHING, ALL(0)),
    ROW(counted_init, -1, NOTHING, ALL(EINVAL)),
    ROW(counted_init, MAX + 1, NOTHING, ALL(EINVAL)),
    ROW(new, 1, NOTHING, ALL(0)),
    ROW(new, -1, NOTHING, ALL(EINVAL)),
    ROW(new, MAX + 1, NOTHING, ALL(EINVAL)),
    ROW(new_too_full, 2, NOTHING, ALL(EINVAL)),

    ROW(blocks, 1, NOTHING, 0, 0, 1, 1, 1, 0, 0),
    ROW(blocks, 2, NOTHING, 0, 1, 1, 1, 1, 0, 0),
    ROW(blocks, 5, NOTHING, 0, 0, 0, 0, 1, 0, 1),
    ROW(blocks, 0, NOTHING, 0, 0, 1, 1, 1, 0, 0),
    ROW(blocks, -1, NOTHING, ALL(0)),
    ROW(capacity, 0, NOTHING, 4, 4, 4, 4, 0, 4, -1),
    ROW(waiters, 0, NOTHING, 0, 0, 1, 0, 0, 0, 0),
    ROW(closed, 0, NOTHING, 0, 0, 0, 0, 0, EPIPE, 0),
    ROW(stat, 0, NOTHING, ALL(0)),
    ROW(histogram, 0, NOTHING, ALL(EINVAL)),
    ROW(dump, 0, NOTHING, ALL(0)),
    ROW(dump, 1, NOTHING, ALL(EIO)),

    ROW(u_adopt, 3, NOTHING, ALL(0)),
    ROW(u_adopt, -1, NOTHING, ALL(EINVAL)),
    ROW(u_adopt, MAX + 1, NOTHING, ALL(EINVAL)),
    ROW(u_split, 2, NOTHING, ALL(0)),
    ROW(u_split, 4, NOTHING, ALL(EINVAL)),
    ROW(u_split, -1, NOTHING, ALL(EINVAL)),
    ROW(u_split_itself, 1, NOTHING, ALL(EINVAL)),
    ROW(u_merge, 0, NOTHING, ALL(0)),
    ROW(u_merge_itself, 0, NOTHING, ALL(EINVAL)),
    ROW(u_merge_foreign, 0, NOTHING, ALL(EINVAL)),
    ROW(u_forget, 0, NOTHING, ALL(0)),
    ROW(u_forget, 3, NOTHING, ALL(3)),
    ROW(u_acquire_full, 1, NOTHING, EBUSY, EBUSY, EBUSY, EBUSY, EBUSY, ANY, EBUSY),
    ROW(u_try_full, 1, NOTHING, EBUSY, EBUSY, EBUSY, EBUSY, EBUSY, ANY, EBUSY),
    ROW(u_adopt_full, 1, NOTHING, ALL(EBUSY)),
    ROW(u_split_full, 1, NOTHING, ALL(EBUSY)),

    ROW(t_take, 1, TAKES, 0, 0, ENOBUFS, WAITING, WAITING, EPIPE, 0),
    ROW(t_take, 0, TAKES, 0, 0, ENOBUFS, WAITING, WAITING, EPIPE, 0),
    ROW(t_take, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, WAITING, EPIPE, WAITING),
    ROW(t_take, -1, TAKES, ALL(EINVAL)),
    ROW(t_take, MAX + 1, TAKES, ALL(EINVAL)),
    ROW(t_take_with, 1, TAKES, 0, 0, ENOBUFS, WAITING, WAITING, EPIPE, 0),
    ROW(t_take_with, 5, TAKES, E2BIG, E2BIG, E2BIG, E2BIG, WAITING, EPIPE, WAITING),
    ROW(t_take_with, -1, TAKES, ALL(EINVAL)),
    ROW(t_take_busy, 1, TAKES, ALL(EINVAL)),
    ROW(t_take_nowhere, 1, TAKES, ALL(EINVAL)),
    ROW(t_take_granted, 1, TAKES, ALL(EINVAL)),
    ROW(t_claim, 0, NOTHING, EINVAL, EINVAL, EAGAIN, EINVAL, EINVAL, EINVAL, EINVAL),
    ROW(t_claim_idle, 0, NOTHING, ALL(EINVAL)),
    ROW(t_claim_full, 0, NOTHING, ALL(EBUSY)),
    ROW(t_wait, 0, NOTHING, EINVAL, EINVAL, T, EINVAL, EINVAL, EINVAL, EINVAL),
    ROW(t_wait_canceled, 0, NOTHING, EINVAL, EINVAL, REASON, EINVAL, EINVAL, EINVAL, EINVAL),
    ROW(t_wait_granted, 0, NOTHING, ALL(0)),
    ROW(t_wait_better, -1, NOTHING, ALL(EINVAL)),
    ROW(t_wait_share, 0, NOTHING, ALL(EINVAL)),
    ROW(t_wait_reserved, 0, NOTHING, ALL(EINVAL)),
    ROW(t_wait_bad_nsec, 0, NOTHING, ALL(EINVAL)),
    ROW(t_wait_bad_clock, 0, NOTHING, ALL(EINVAL)),
    ROW(t_return, 0, NOTHING, ALL(0)),
};

/* How many units must be free after a call that returned `result`. */
static int64_t free_afterwards(const struct row *row, enum condition condition, int result)
{
    int64_t before = available_before[condition];

    if (row->effect == COUNTS)
        return before - result;
    if (result != 0)
        return before;
    switch (row->effect) {
    case TAKES:    return before >= row->n ? before - row->n : before;
    case CONSUMES: return before - row->n;
    case GIVES:    return before + row->n;
    case RESIZES:  return before + row->n - (condition == PAUSED ? 0 : 4);
    default:       return before;
    }
}

static void try_row(const struct row *row, enum condition condition)
{
    const int expected = row->result[condition];
    const int64_t then = free_afterwards(row, condition, expected);
    struct scene s;
    int64_t available, waiters_before;
    int result, error;

    set_up(&s, condition);
    waiters_before = fairsem_waiters(&s.sem);
    ck_assert_int_eq(fairsem_available(&s.sem), available_before[condition]);
    errno = 4711;
    result = row->call(&s, row->n);
    error = errno;
    if (row->call == destroy && result == 0) {
        ck_assert_int_eq(fairsem_init(&s.sem, 0, NULL), 0);
        ck_assert_int_eq(then < 0 ? fairsem_consume(&s.sem, -then) : fairsem_release(&s.sem, then), 0);
    }
    available = fairsem_available(&s.sem);
    ck_assert_msg(result == expected, "%s in condition %d returned %d, not %d", row->name,
                  condition, result, expected);
    ck_assert_msg(error == 4711, "%s in condition %d changed errno", row->name, condition);
    ck_assert_msg(available == then, "%s in condition %d: afterwards %lld are free, not %lld",
                  row->name, condition, (long long)available, (long long)then);
    if (!was_taken(result) && row->call != u_forget)
        ck_assert_msg(fairsem_waiters(&s.sem) == waiters_before && s.held.n == 3
                          && s.empty.n == 0 && s.foreign.n == 1 && s.created == NULL
                          && fairsem_ticket_state(&s.idle) == FAIRSEM_TICKET_IDLE,
                      "%s in condition %d failed, and changed something", row->name, condition);
    tear_down(&s);
}

START_TEST(every_function_returns_what_the_table_says)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int condition = 0; condition < CONDITIONS; condition++) {
            if (rows[i].result[condition] != ANY)
                try_row(&rows[i], (enum condition)condition);
        }
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("results", every_function_returns_what_the_table_says);
}

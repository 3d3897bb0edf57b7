/* SPDX-License-Identifier: MIT */
/*
 * t_fault_threads.c - threads with the smallest possible stacks, and ten thousand threads at once.
 */
#define _DEFAULT_SOURCE     /* MAP_ANONYMOUS */
#include "askers.h"
#include "suite.h"

#include "system/parking.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL_STACK ((size_t)16 * 1024)
#define MANY        10000
#define UNTOUCHED   0xa5

/* ---- 16 KiB ---- */

struct small {
    pthread_t        thread;
    fairsem_t       *sem;
    fairsem_token_t *token;
    fairsem_t       *never;     /* has no units */
    unsigned char   *stack;
    int              unexpected;
};

static void release_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    fairsem_units_t units = { 0 };

    (void)arg;
    if (fairsem_ticket_claim(ticket, &units) == 0)
        fairsem_units_release(&units);
}

static void note(struct small *s, int expected, int result)
{
    if (result != expected)
        s->unexpected = result != 0 ? result : -1;
}

/* Make every kind of call.  The last call waits until the thread is canceled. */
static void *live_on_a_small_stack(void *arg)
{
    struct small *s = arg;
    fairsem_wait_t how = { .token = s->token };
    fairsem_ticket_t ticket = { 0 }, behind = { 0 };
    fairsem_units_t units = { 0 };
    struct timespec at = from_now(CLOCK_REALTIME, 2);

    note(s, ETIMEDOUT, fairsem_acquire_for(s->sem, 1, 2000000));
    note(s, ETIMEDOUT, fairsem_acquire_until(s->sem, 1, CLOCK_REALTIME, &at));
    note(s, EINPROGRESS, fairsem_ticket_take(&ticket, s->sem, 1, 0, NULL, NULL));
    note(s, EINPROGRESS, fairsem_ticket_take(&behind, s->sem, 1, 0, release_in_callback, NULL));
    note(s, 0, fairsem_ticket_wait(&ticket, NULL));         /* the test releases */
    note(s, 0, fairsem_ticket_claim(&ticket, &units));
    note(s, 0, fairsem_units_release(&units));              /* runs the callback */
    note(s, 0, fairsem_ticket_return(&behind));
    note(s, 4711, fairsem_acquire_with(s->sem, 2, &how));   /* the test cancels the token */
    note(s, 0, fairsem_acquire(s->sem, 1));
    note(s, 0, fairsem_release(s->sem, 1));
    note(s, 0, fairsem_acquire(s->never, 1));
    s->unexpected = -2;
    return NULL;
}

static size_t touched(const struct small *s)
{
    size_t low = 0;

    while (low < SMALL_STACK && s->stack[low] == UNTOUCHED)
        low++;
    return SMALL_STACK - low;
}

/* Make a stack above a page without access, so that an overflow ends the process. */
static void make_stack(struct small *s, size_t page)
{
    unsigned char *memory = mmap(NULL, page + SMALL_STACK, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory, page, PROT_NONE), 0);
    s->stack = memory + page;
    memset(s->stack, UNTOUCHED, SMALL_STACK);
}

/* Returns false if the system starts no thread on so small a stack. */
static bool start_small(struct small *s)
{
    pthread_attr_t attr;
    int error;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    error = pthread_attr_setstack(&attr, s->stack, SMALL_STACK);
    if (error == 0)
        error = pthread_create(&s->thread, &attr, live_on_a_small_stack, s);
    pthread_attr_destroy(&attr);
    return error == 0;
}

static void live(unsigned flags)
{
    const fairsem_attr_t attr = { .flags = flags };
    fairsem_t sem, never;
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct small s = { .sem = &sem, .token = &token, .never = &never };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *result;

    make_stack(&s, page);
    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(fairsem_init(&never, 0, &attr), 0);
    if (!start_small(&s))
        SKIP_TEST("no thread has so small a stack here");
    await_waiters(&sem, 2);                 /* the tickets */
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    while (fairsem_waiters(&sem) != 1 || fairsem_available(&sem) != 1)
        moment();
    ck_assert_int_eq(fairsem_token_cancel(&token, 4711), 0);
    await_waiters(&never, 1);
    ck_assert_int_eq(pthread_cancel(s.thread), 0);
    pthread_join(s.thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_int_eq(s.unexpected, 0);
    printf("%zu bytes of stack touched, %s\n", touched(&s),
           flags != 0 ? "interruptible" : "not interruptible");
    ck_assert_int_eq(fairsem_waiters(&never), 0);
    ck_assert_int_eq(fairsem_available(&sem), 1);
    ck_assert_int_eq(fairsem_token_destroy(&token), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&never), 0);
    munmap(s.stack - page, page + SMALL_STACK);
}

START_TEST(sixteen_kilobytes_of_stack_are_enough)
{
    if (UNDER_TSAN || UNDER_ASAN)
        NOT_HERE("a sanitizer needs a larger stack");
    live(0);
    if (FS_HAS_FUTEX)
        live(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

/* ---- Ten thousand ---- */

static _Atomic int service;

struct one {
    pthread_t  thread;
    fairsem_t *sem;
    int        kind, result, place;
};

static void *wait_in_the_crowd(void *arg)
{
    struct one *o = arg;

    o->result = o->kind == 0 ? fairsem_acquire(o->sem, 1)
                             : fairsem_acquire_for(o->sem, 1, INT64_MAX);
    if (o->result == 0)
        o->place = atomic_fetch_add(&service, 1);
    return NULL;
}

/* Start `many` threads, or as many as the system allows.  (With a sanitizer, stacks are larger.) */
static int start_crowd(struct one crowd[], int many, fairsem_t *sem)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN);   /* 128 KB on some processors */
    pthread_attr_t attr;
    int started = 0;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, least > 65536 ? (size_t)least : 65536), 0);
    for (; started < many; started++) {
        struct one *o = &crowd[started];

        *o = (struct one){ .sem = sem, .kind = started % 2, .result = STILL_WAITING };
        if (pthread_create(&o->thread, &attr, wait_in_the_crowd, o) != 0)
            break;
        if (started % 1000 == 0)
            await_waiters(sem, started + 1);
    }
    pthread_attr_destroy(&attr);
    await_waiters(sem, started);
    return started;
}

static void leave(struct one crowd[], int first, int many)
{
    for (int i = first; i < many; i++) {
        if (i % 10 == 9)
            ck_assert_int_eq(pthread_cancel(crowd[i].thread), 0);
    }
}

/* Grant half of the requests one by one, and the rest by one release. */
static void grant_crowd(fairsem_t *sem, int waiting)
{
    for (int i = 0; i < waiting / 2; i++) {
        ck_assert_int_eq(fairsem_release(sem, 1), 0);
        ck_assert_int_eq(fairsem_available(sem), 0);
    }
    ck_assert_int_eq(fairsem_waiters(sem), waiting - waiting / 2);
    ck_assert_int_eq(fairsem_release(sem, waiting - waiting / 2), 0);
    ck_assert_int_eq(fairsem_waiters(sem), 0);
}

START_TEST(ten_thousand_threads_wait_at_once_and_each_is_granted_or_canceled)
{
    struct one *crowd = calloc(MANY, sizeof *crowd);
    const int wanted = UNDER_TSAN || UNDER_ASAN ? 200 : MANY;
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    int started, canceled, granted = 0, gone = 0;

    ck_assert_ptr_nonnull(crowd);
    started = start_crowd(crowd, wanted, &sem);
    if (started < wanted)
        printf("the system has no more than %d of %d threads\n", started, wanted);
    canceled = started / 10;
    leave(crowd, 0, started);
    await_waiters(&sem, started - canceled);
    grant_crowd(&sem, started - canceled);
    for (int i = 0; i < started; i++) {
        void *result;

        pthread_join(crowd[i].thread, &result);
        granted += crowd[i].result == 0;
        gone += result == PTHREAD_CANCELED;
    }
    printf("%d waited at once\n", started);
    ck_assert_int_eq(granted, started - canceled);
    ck_assert_int_eq(gone, canceled);
    ck_assert_int_eq(service, granted);
    ck_assert_int_gt(started, 0);
    ck_assert_int_eq(fairsem_available(&sem), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
    free(crowd);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault threads", sixteen_kilobytes_of_stack_are_enough,
              ten_thousand_threads_wait_at_once_and_each_is_granted_or_canceled);
}

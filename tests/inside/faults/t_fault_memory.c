/* SPDX-License-Identifier: MIT */
/*
 * t_fault_memory.c - each request of the library for memory fails in turn: the first, the second, and so on,
 * up to the last request of the scenario.
 *
 * Requests are malloc, aligned_alloc and the calls of the C library that POSIX allows to fail for lack of
 * memory.  Each failure has a process of its own, because a parker is never freed.
 */
#include "askers.h"
#include "bare.h"
#include "children.h"
#include "suite.h"

#include "system/parking.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* Set only in a child, before it has threads. */
static bool armed;
static int first_to_fail, last_to_fail;
static _Atomic int calls;
static _Atomic bool has_key;
static pthread_key_t library_key;   /* the library's key, not a sanitizer's */

/* Count a call that may request memory.  Returns true if the call must fail. */
BARE static bool fails(void)
{
    int call;

    if (!armed)
        return false;
    call = atomic_fetch_add(&calls, 1) + 1;
    return call >= first_to_fail && call <= last_to_fail;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
BARE void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
BARE void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

int __real_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
BARE int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    return fails() ? ENOMEM : __real_pthread_cond_init(c, attr);
}

int __real_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr);
BARE int __wrap_pthread_condattr_init(pthread_condattr_t *attr)
{
    return fails() ? ENOMEM : __real_pthread_condattr_init(attr);
}

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
BARE int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    return fails() ? ENOMEM : __real_pthread_mutex_init(m, attr);
}

int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
BARE int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = fails() ? ENOMEM : __real_pthread_key_create(key, destructor);

    if (armed && error == 0) {
        library_key = *key;
        atomic_store(&has_key, true);
    }
    return error;
}

int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
BARE int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (armed && atomic_load(&has_key) && key == library_key && fails())
        return ENOMEM;
    return __real_pthread_setspecific(key, value);
}

static void *watch(void *arg)
{
    struct asker *a = arg;

    atomic_store(&a->w.result, fairsem_ticket_wait((fairsem_ticket_t *)(void *)a->w.sem, NULL));
    return NULL;
}

static void wait_for_a_ticket(fairsem_t *sem)
{
    fairsem_ticket_t ticket = { 0 };
    fairsem_units_t units = { 0 };
    struct asker a = { .w = { .sem = (fairsem_t *)(void *)&ticket, .result = STILL_WAITING } };

    CHILD_CHECK(fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL) == EINPROGRESS);
    start_thread(&a.w.thread, watch, &a);
    CHILD_CHECK(fairsem_release(sem, 1) == 0);
    CHILD_CHECK(worker_join(&a.w) == 0);
    CHILD_CHECK(fairsem_ticket_claim(&ticket, &units) == 0 && units.n == 1);
    CHILD_CHECK(fairsem_ticket_return(&ticket) == 0);
}

/* The dump must list the whole queue, or list no waiter and return ENOMEM. */
static void dump(fairsem_t *sem, FILE *file)
{
    int error = fairsem_dump(sem, file), lines = 0, c;

    CHILD_CHECK(error == 0 || error == ENOMEM);
    rewind(file);
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    CHILD_CHECK(lines == 3 + (error == 0 ? (int)fairsem_waiters(sem) : 0));
}

/*
 * Each kind of wait, in an order that does not depend on speed: several waiters, one of them canceled by its
 * token; a wait that times out; a ticket; a dump.  No request for units may fail for lack of memory, and no
 * request may overtake another.
 */
static void scenario(FILE *file)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    fairsem_token_t token = FAIRSEM_TOKEN_INITIALIZER;
    struct timespec deadline = from_now(CLOCK_REALTIME, 3600 * 1000);
    _Atomic int service = 0;
    struct asker a[4] = {
        { .how = { .clock = CLOCK_REALTIME, .deadline = &deadline }, .w.service = &service },
        { .how = { .token = &token }, .w.service = &service },
        { .w.service = &service },
        { .w.service = &service },
    };

    for (int i = 0; i < 4; i++)
        asker_queue(&a[i], &sem, 1 + i % 2, i + 1);
    CHILD_CHECK(fairsem_tryacquire(&sem, 0) == EAGAIN);
    dump(&sem, file);
    CHILD_CHECK(fairsem_acquire_for(&sem, 1, 3000000) == ETIMEDOUT);
    CHILD_CHECK(fairsem_token_cancel(&token, 4711) == 0);
    CHILD_CHECK(worker_join(&a[1].w) == 4711);
    CHILD_CHECK(fairsem_waiters(&sem) == 3);
    for (int i = 0, place = 0; i < 4; i++) {
        if (i == 1)
            continue;
        CHILD_CHECK(fairsem_release(&sem, 1 + i % 2) == 0);
        CHILD_CHECK(fairsem_available(&sem) == 0);
        CHILD_CHECK(worker_join(&a[i].w) == 0 && a[i].w.place == place++);
    }
    wait_for_a_ticket(&sem);
    CHILD_CHECK(fairsem_available(&sem) == 0 && fairsem_waiters(&sem) == 0);
    CHILD_CHECK(fairsem_token_destroy(&token) == 0);
    CHILD_CHECK(fairsem_destroy(&sem) == 0);
}

/* Play the scenario.  Requests for memory fail from number `first` to `last`.  Returns how many were made. */
static int calls_when(int first, int last)
{
    int ends[2], made = -1, status;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        FILE *file = tmpfile();

        CHILD_CHECK(file != NULL && setvbuf(file, NULL, _IONBF, 0) == 0);
        hang_alarm();
        first_to_fail = first;
        last_to_fail = last;
        armed = true;
        scenario(file);
        armed = false;  /* handlers that run at exit, such as gcov's, get memory again */
        made = atomic_load(&calls);
        CHILD_CHECK(write(ends[1], &made, sizeof made) == sizeof made);
        _exit(0);
    }
    close(ends[1]);
    status = status_of(child);
    ck_assert_msg(status == 0, "without memory from call %d to %d: line %d", first, last,
                  status - 1);
    ck_assert_int_eq(read(ends[0], &made, sizeof made), sizeof made);
    close(ends[0]);
    return made;
}

/*
 * Does the scenario make a k-th request for memory?  On a busy machine a wait may end before its sleep, and
 * needs no memory.  So the answer is no only after three plays without a k-th request.
 */
static bool has_request(int k, int last)
{
    for (int tries = 0; tries < 3; tries++) {
        if (calls_when(k, last) >= k)
            return true;
    }
    return false;
}

START_TEST(waits_work_in_order_whichever_request_for_memory_fails)
{
    int k = 1;

    while (has_request(k, k))
        k++;
    printf("%d requests for memory\n", k - 1);
    ck_assert_int_ge(k - 1, 20);
}
END_TEST

START_TEST(waits_work_in_order_wherever_memory_runs_out_for_good)
{
    int k = 1;

    while (has_request(k, 1 << 30))
        k++;
    ck_assert_int_gt(k, 1);
}
END_TEST

START_TEST(without_memory_no_semaphore_is_allocated)
{
    fairsem_t static_sem = FAIRSEM_INITIALIZER(0), *sem = &static_sem;
    int error;

    first_to_fail = last_to_fail = 1;
    armed = true;
    error = fairsem_new(&sem, 1, NULL);
    armed = false;
    ck_assert_int_eq(error, ENOMEM);
    ck_assert_ptr_eq(sem, &static_sem);
}
END_TEST

int main(void)
{
    RUN_SUITE("fault memory", waits_work_in_order_whichever_request_for_memory_fails,
              waits_work_in_order_wherever_memory_runs_out_for_good,
              without_memory_no_semaphore_is_allocated);
}

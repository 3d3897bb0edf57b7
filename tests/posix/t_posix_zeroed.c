/* SPDX-License-Identifier: MIT */
/*
 * t_posix_zeroed.c - a sem_t that is all zero, and was never initialized, is a semaphore with the
 * value 0, as in libc.
 *
 * The first use initializes the sem_t.  The first use may happen in several threads at once, in a signal
 * handler that interrupts another first use, and in a forked child.
 */
#include "callers.h"
#include "stress.h"
#include "children.h"
#include "sem.h"

#include <signal.h>
#include <string.h>

START_TEST(a_zeroed_sem_t_has_the_value_0_whichever_function_comes_first)
{
    struct timespec past = { 0, 0 }, bad = { 0, 1000000000 };
    static sem_t first[6];

    ck_assert_int_eq(value_of(&first[0]), 0);
    ck_assert_fails(sem_trywait(&first[1]), EAGAIN);
    ck_assert_fails(sem_timedwait(&first[2], &past), ETIMEDOUT);
    ck_assert_fails(sem_clockwait(&first[3], CLOCK_MONOTONIC, &past), ETIMEDOUT);
    ck_assert_fails(sem_timedwait(&first[4], &bad), EINVAL);
    ck_assert_works(sem_destroy(&first[5]));
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(value_of(&first[i]), 0);
        ck_assert_works(sem_post(&first[i]));
        ck_assert_works(sem_post(&first[i]));
        ck_assert_int_eq(value_of(&first[i]), 2);
        ck_assert_works(sem_wait(&first[i]));
        ck_assert_works(sem_trywait(&first[i]));
        ck_assert_fails(sem_trywait(&first[i]), EAGAIN);
        ck_assert_works(sem_destroy(&first[i]));
    }
}
END_TEST

/* Like caller_queue(), for a first use: before it, the test must not inspect the semaphore inside. */
static void caller_first_in_queue(struct caller *c, sem_t *sem, enum how how)
{
    caller_start(c, sem, how);
    while (atomic_load(&fs_inside(&sem->fairsem_inside_)->limit) == 0)
        moment();
    await_waiters(&sem->fairsem_inside_, 1);
}

START_TEST(the_first_wait_is_in_the_queue_until_a_post)
{
    static sem_t sem[WAYS];

    for (int how = 0; how < WAYS; how++) {
        struct caller c = { 0 }, behind = { 0 };

        caller_first_in_queue(&c, &sem[how], (enum how)how);
        caller_queue(&behind, &sem[how], WAIT, 2);
        ck_assert_int_eq(value_of(&sem[how]), 0);
        ck_assert_fails(sem_trywait(&sem[how]), EAGAIN);
        ck_assert_works(sem_destroy(&sem[how]));    /* changes nothing while threads wait */
        ck_assert_works(sem_post(&sem[how]));
        ck_assert_int_eq(caller_join(&c), 0);
        ck_assert_int_eq(fairsem_waiters(&sem[how].fairsem_inside_), 1);
        ck_assert_works(sem_post(&sem[how]));
        ck_assert_int_eq(caller_join(&behind), 0);
        ck_assert_works(sem_destroy(&sem[how]));
    }
}
END_TEST

/*
 * A zeroed sem_t becomes equal to an initialized sem_t, byte for byte.  So signals end its waits, its largest
 * value is SEM_VALUE_MAX, and its mutex inherits priority if mutexes of the process do.
 */
START_TEST(after_its_first_use_a_zeroed_sem_t_equals_an_initialized_sem_t)
{
    static sem_t zeroed[4], initialized;
    struct timespec past = { 0, 0 };

    ck_assert_works(sem_post(&zeroed[0]));
    ck_assert_works(sem_wait(&zeroed[0]));
    ck_assert_works(sem_post(&zeroed[1]));
    ck_assert_works(sem_trywait(&zeroed[1]));
    ck_assert_works(sem_init(&initialized, 0, 0));
    ck_assert_works(sem_post(&initialized));
    ck_assert_works(sem_wait(&initialized));
    ck_assert_mem_eq(&zeroed[0], &initialized, sizeof initialized);
    ck_assert_mem_eq(&zeroed[1], &initialized, sizeof initialized);

    ck_assert_fails(sem_clockwait(&zeroed[2], CLOCK_REALTIME, &past), ETIMEDOUT);
    ck_assert_fails(sem_timedwait(&zeroed[3], &past), ETIMEDOUT);
    ck_assert_fails(sem_timedwait(&initialized, &past), ETIMEDOUT);
    ck_assert_mem_eq(&zeroed[2], &initialized, sizeof initialized);
    ck_assert_mem_eq(&zeroed[3], &initialized, sizeof initialized);
}
END_TEST

/* ---- The first use, in several threads at once ---- */

enum { THREADS = 4, MANY = 4000 };

static sem_t       many[MANY];
static _Atomic int arrived, faults, stop;

static void *use_first(void *arg)
{
    const int self = *(int *)arg;

    for (int i = 0; i < MANY; i++) {
        struct timespec deadline = far_away(TIMEDWAIT);
        int result = 0;

        atomic_fetch_add(&arrived, 1);
        while (atomic_load(&arrived) < (i + 1) * THREADS)
            moment();
        dawdle((self * 31 + i) % 13);
        switch ((self + i) % THREADS) {
        case 0: result = sem_wait(&many[i]); break;
        case 1: result = sem_timedwait(&many[i], &deadline); break;
        default: result = sem_post(&many[i]);
        }
        if (result != 0)
            atomic_fetch_add(&faults, 1);
    }
    return NULL;
}

/* Each post makes a unit: no thread's initialization undoes the post of another thread. */
START_TEST(threads_that_use_a_sem_t_first_at_the_same_time_lose_no_post)
{
    int number[THREADS];
    pthread_t thread[THREADS];

    memset(many, 0, sizeof many);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        start_thread(&thread[i], use_first, &number[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(atomic_load(&faults), 0);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(value_of(&many[i]), 0);
        ck_assert_int_eq(fairsem_waiters(&many[i].fairsem_inside_), 0);
    }
}
END_TEST

/* ---- In a handler that interrupts the first use ---- */

static _Atomic int current;     /* index of the semaphore in use, or NONE */
static _Atomic int units;       /* number of units posted and not taken in this pass */
static _Atomic int handled;

enum { NONE = -1 };

static void count(int result, int change)
{
    if (result == 0)
        atomic_fetch_add(&units, change);
    else if (errno != ETIMEDOUT && errno != EINTR)
        atomic_fetch_add(&faults, 1);
}

static void post_current(int sig)
{
    int before = errno, i = atomic_load(&current);

    (void)sig;
    if (i != NONE)
        count(sem_post(&many[i]), 1);
    atomic_fetch_add(&handled, 1);
    errno = before;
}

static void *use_one_after_the_other(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        struct timespec past = { 0, 0 };
        int values = 0;

        memset(many, 0, sizeof many);
        atomic_store(&units, 0);
        for (int i = 0; i < MANY; i++) {
            atomic_store(&current, i);
            if (i % 2 == 0)
                count(sem_post(&many[i]), 1);
            else
                count(sem_timedwait(&many[i], &past), -1);
        }
        atomic_store(&current, NONE);
        for (int i = 0; i < MANY; i++) {
            int value = -1;

            sem_getvalue(&many[i], &value);
            values += value;
        }
        if (values != atomic_load(&units))
            atomic_fetch_add(&faults, 1);
    }
    return NULL;
}

/* Signals come one by one: a handler right after another would find the semaphore initialized. */
START_TEST(a_handler_may_post_during_the_first_use_of_the_sem_t)
{
    struct sigaction action = { .sa_handler = post_current };
    pthread_t thread;

    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    atomic_store(&current, NONE);
    start_thread(&thread, use_one_after_the_other, NULL);
    for (int sent = 1; sent <= stress_times(2000); sent++) {
        pthread_kill(thread, SIGUSR1);
        while (atomic_load(&handled) < sent)
            moment();
        dawdle(sent);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(atomic_load(&faults), 0);
}
END_TEST

/* ---- In a child ---- */

static void use_all_in_child(int from)
{
    for (int i = from; i < from + 100; i++) {
        sem_t *sem = &many[i % MANY];
        struct timespec past = { 0, 0 };
        int value = -1, left;

        CHILD_CHECK(sem_getvalue(sem, &value) == 0 && (value == 0 || value == 1));
        CHILD_CHECK(sem_post(sem) == 0);
        for (left = value + 1; left > 0; left--)
            CHILD_CHECK(sem_wait(sem) == 0);
        CHILD_CHECK(sem_timedwait(sem, &past) == -1 && errno == ETIMEDOUT);
        CHILD_CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
        CHILD_CHECK(sem_destroy(sem) == 0);
    }
    _exit(0);
}

static pthread_mutex_t no_fork = PTHREAD_MUTEX_INITIALIZER;     /* held while the semaphores become zero again */

static void *post_each(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        pthread_mutex_lock(&no_fork);
        atomic_store(&current, 0);
        memset(many, 0, sizeof many);
        pthread_mutex_unlock(&no_fork);
        for (int i = 0; i < MANY; i++) {
            atomic_store(&current, i);
            sem_post(&many[i]);
        }
    }
    return NULL;
}

/* The child begins with the semaphore that the thread had just reached. */
START_TEST(a_child_can_use_a_sem_t_that_another_thread_was_using_for_the_first_time)
{
    pthread_t thread;

    memset(many, 0, sizeof many);
    start_thread(&thread, post_each, NULL);
    for (int i = 0; i < stress_times(60); i++) {
        pid_t child;

        pthread_mutex_lock(&no_fork);
        child = fork();
        if (child == 0)
            use_all_in_child(atomic_load(&current));
        pthread_mutex_unlock(&no_fork);
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
}
END_TEST

/* ---- Errors that still end the program ---- */

static void wait_once(void *sem)
{
    sem_wait(sem);
}

static void post_once(void *sem)
{
    sem_post(sem);
}

static void destroy_once(void *sem)
{
    sem_destroy(sem);
}

static void release_zeroed(void *sem)
{
    memset(sem, 0, sizeof(sem_t));
    (void)fairsem_release(&((sem_t *)sem)->fairsem_inside_, 1);
}

/* A fairsem_t must always be initialized, even the fairsem_t inside a sem_t. */
START_TEST(use_of_a_destroyed_sem_t_or_a_zeroed_fairsem_t_ends_the_program)
{
    void (*const use[])(void *) = { wait_once, post_once, destroy_once, release_zeroed };
    static sem_t sem;

    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_destroy(&sem));
    for (size_t i = 0; i < sizeof use / sizeof use[0]; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            if (freopen("/dev/null", "w", stderr) == NULL)
                _exit(1);
            use[i](&sem);
            _exit(0);
        }
        ck_assert_int_gt(child, 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%zu: %x", i,
                      (unsigned)status);
    }
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    if (UNDER_TSAN) {
        puts("not here: the tests with handlers and with threads that fork, under ThreadSanitizer");
        RUN_SUITE("posix zeroed", a_zeroed_sem_t_has_the_value_0_whichever_function_comes_first,
                  the_first_wait_is_in_the_queue_until_a_post,
                  after_its_first_use_a_zeroed_sem_t_equals_an_initialized_sem_t,
                  threads_that_use_a_sem_t_first_at_the_same_time_lose_no_post);
    }
    RUN_SUITE("posix zeroed", a_zeroed_sem_t_has_the_value_0_whichever_function_comes_first,
              the_first_wait_is_in_the_queue_until_a_post,
              after_its_first_use_a_zeroed_sem_t_equals_an_initialized_sem_t,
              threads_that_use_a_sem_t_first_at_the_same_time_lose_no_post,
              a_handler_may_post_during_the_first_use_of_the_sem_t,
              a_child_can_use_a_sem_t_that_another_thread_was_using_for_the_first_time,
              use_of_a_destroyed_sem_t_or_a_zeroed_fairsem_t_ends_the_program);
}

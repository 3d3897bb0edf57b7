/* SPDX-License-Identifier: MIT */
/*
 * t_fork_tickets.c - a fork while threads wait for a ticket, or for the end of its callback:
 * the child has neither them nor what they have left behind.
 *
 * The linker sends the library's sleeps and wakes here first (--wrap), so that a test can see
 * who sleeps and who is woken.
 */
#include "bare.h"
#include "children.h"
#include "suite.h"
#include "workers.h"

#include "park.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
void __real_fs_park(struct fs_parker *self, const struct fs_deadline *deadline);
void __wrap_fs_park(struct fs_parker *self, const struct fs_deadline *deadline);
bool __real_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline);
bool __wrap_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline);
void __real_fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker);
void __wrap_fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker);
void __real_fs_wake_word_later(struct fs_wakes *wakes, const _Atomic int *word);
void __wrap_fs_wake_word_later(struct fs_wakes *wakes, const _Atomic int *word);

static pthread_mutex_t *_Atomic waits_with;     /* the mutex of the last pthread_cond_wait */
static _Atomic int parks, wakes_noted;

BARE int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    atomic_store(&waits_with, m);
    return __real_pthread_cond_wait(c, m);
}

void __wrap_fs_park(struct fs_parker *self, const struct fs_deadline *deadline)
{
    atomic_fetch_add(&parks, 1);
    __real_fs_park(self, deadline);
}

bool __wrap_fs_futex_park(const _Atomic int *word, int value, const struct fs_deadline *deadline)
{
    atomic_fetch_add(&parks, 1);
    return __real_fs_futex_park(word, value, deadline);
}

void __wrap_fs_wake_later(struct fs_wakes *wakes, struct fs_parker *parker)
{
    atomic_fetch_add(&wakes_noted, 1);
    __real_fs_wake_later(wakes, parker);
}

void __wrap_fs_wake_word_later(struct fs_wakes *wakes, const _Atomic int *word)
{
    atomic_fetch_add(&wakes_noted, 1);
    __real_fs_wake_word_later(wakes, word);
}

/* Return when a thread waits on a condition variable: it has let its mutex go. */
static void await_cond_wait(void)
{
    pthread_mutex_t *m;

    while ((m = atomic_load(&waits_with)) == NULL)
        sched_yield();
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    atomic_store(&waits_with, NULL);
}

/* In a child: it hangs no longer than that.  (Check's own handler would end the test.) */
static void end_in_time(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(30);
}

/* A ticket that is granted, whose callback runs in one thread, and for which another waits. */
struct busy {
    fairsem_t        sem;
    fairsem_ticket_t ticket;
    _Atomic bool     in_callback, let_go;
    pthread_t        releaser, returner;
};

static void stay_in_callback(fairsem_ticket_t *ticket, void *arg)
{
    struct busy *b = arg;

    (void)ticket;
    atomic_store(&b->in_callback, true);
    while (!atomic_load(&b->let_go))
        sched_yield();
}

static void *release_it(void *arg)
{
    fairsem_release(&((struct busy *)arg)->sem, 1);
    return NULL;
}

static void *return_it(void *arg)
{
    fairsem_ticket_return(&((struct busy *)arg)->ticket);
    return NULL;
}

static void begin_busy(struct busy *b)
{
    *b = (struct busy){ .sem = FAIRSEM_INITIALIZER(0) };
    fairsem_ticket_take(&b->ticket, &b->sem, 1, 0, stay_in_callback, b);
    start_thread(&b->releaser, release_it, b);
    while (!atomic_load(&b->in_callback))
        sched_yield();
    start_thread(&b->returner, return_it, b);
    await_cond_wait();
}

static void end_busy(struct busy *b)
{
    atomic_store(&b->let_go, true);
    pthread_join(b->releaser, NULL);
    pthread_join(b->returner, NULL);
}

/*
 * A condition variable with a waiter that does not exist: glibc lets the second broadcast
 * wait until that one has gone.
 */
START_TEST(threads_of_the_child_can_wait_for_callbacks_where_one_of_the_parent_did)
{
    struct busy parents, childs;
    pid_t child;

    begin_busy(&parents);
    child = fork();
    if (child == 0) {
        end_in_time();
        for (int i = 0; i < 3; i++) {
            begin_busy(&childs);
            end_busy(&childs);
            CHILD_CHECK(fairsem_available(&childs.sem) == 1);
        }
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    end_busy(&parents);
    ck_assert_int_eq(fairsem_available(&parents.sem), 1);
}
END_TEST

struct watched {
    fairsem_ticket_t ticket;
    _Atomic int      result;
};

static void *wait_for_ticket(void *arg)
{
    struct watched *w = arg;

    atomic_store(&w->result, fairsem_ticket_wait(&w->ticket, NULL));
    return NULL;
}

static void watch_until_asleep(pthread_t *thread, struct watched *w)
{
    int before = atomic_load(&parks);

    atomic_store(&w->result, STILL_WAITING);
    start_thread(thread, wait_for_ticket, w);
    while (atomic_load(&parks) == before)
        sched_yield();
}

/* The child takes the ticket anew: it is told to those who wait for it there. */
START_TEST(a_ticket_in_the_child_is_not_told_to_threads_of_the_parent)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    struct watched w = { .result = STILL_WAITING };
    pthread_t parents, childs;
    pid_t child;

    ck_assert_int_eq(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    watch_until_asleep(&parents, &w);
    child = fork();
    if (child == 0) {
        end_in_time();
        CHILD_CHECK(fairsem_ticket_state(&w.ticket) == FAIRSEM_TICKET_IDLE);
        CHILD_CHECK(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL) == EINPROGRESS);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(fairsem_ticket_state(&w.ticket) == FAIRSEM_TICKET_GRANTED);
        CHILD_CHECK(atomic_load(&wakes_noted) == 0);
        CHILD_CHECK(fairsem_ticket_return(&w.ticket) == 0);
        CHILD_CHECK(fairsem_tryacquire(&sem, 1) == 0);

        CHILD_CHECK(fairsem_ticket_take(&w.ticket, &sem, 1, 0, NULL, NULL) == EINPROGRESS);
        watch_until_asleep(&childs, &w);
        CHILD_CHECK(fairsem_release(&sem, 1) == 0);
        CHILD_CHECK(pthread_join(childs, NULL) == 0);
        CHILD_CHECK(atomic_load(&w.result) == 0);
        CHILD_CHECK(atomic_load(&wakes_noted) == 1);
        _exit(0);
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert_int_eq(fairsem_ticket_state(&w.ticket), FAIRSEM_TICKET_WAITING);
    ck_assert_int_eq(fairsem_release(&sem, 1), 0);
    pthread_join(parents, NULL);
    ck_assert_int_eq(w.result, 0);
    ck_assert_int_eq(fairsem_ticket_return(&w.ticket), 0);
}
END_TEST

int main(void)
{
    if (UNDER_TSAN) {
        puts("skipped: ThreadSanitizer does not follow a fork of a threaded process");
        return 77;
    }
    RUN_SUITE("fork tickets",
              threads_of_the_child_can_wait_for_callbacks_where_one_of_the_parent_did,
              a_ticket_in_the_child_is_not_told_to_threads_of_the_parent);
}

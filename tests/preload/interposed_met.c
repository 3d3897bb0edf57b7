/* SPDX-License-Identifier: MIT */
/*
 * interposed_met.c - one thread is stopped before each instruction of an operation on a semaphore.  While it is
 * stopped, a second thread acts on the same semaphore: it destroys the semaphore, posts, waits for the first
 * time, or forks a child that uses the semaphore.
 *
 * test_interpose.py runs this behavior under fairsem-run.  A child repeats the operation.  The parent steps
 * through the operation once.  In each later run, the parent stops the child at the next instruction, and tells
 * the child's second thread to act.  After each run the units must add up.  Programs do all this, and with libc
 * it works, even though POSIX does not allow the use of a semaphore while it is destroyed.
 *
 * If the second thread sleeps in its act, it waits for the stopped thread: then the stopped thread goes on.
 */
#include "interposed.h"

#include <limits.h>
#include <linux/futex.h>

static sem_t sem;

/* Memory shared with the parent. */
static struct shared {
    _Atomic int round;          /* number of operations begun */
    /* The last round in which the second thread was asked to act; in which it saw the request; in which it acted. */
    _Atomic int asked, heard, acted;
    _Atomic int second;         /* the thread ID of the second thread */
} *shared;

static _Atomic int first;       /* the thread ID of the thread that is stopped */

/* The second thread sleeps until it is told to act: polling would cost more time than all the steps. */
static void await_change(_Atomic int *number, int seen)
{
    syscall(SYS_futex, number, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void tell_change(_Atomic int *number)
{
    syscall(SYS_futex, number, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- Operations and acts; each returns the change of the number of units ---- */

static int post(void)
{
    MUST(sem_post(&sem) == 0);
    return 1;
}

static int take(void)
{
    if (sem_trywait(&sem) == 0)
        return -1;
    MUST(errno == EAGAIN);
    return 0;
}

/* Wait and time out: this moves a semaphore that was a number into a cell. */
static int wait_and_time_out(void)
{
    if (sem_timedwait(&sem, &past) == 0)
        return -1;
    MUST(errno == ETIMEDOUT);
    return 0;
}

static int wait_for_unit(void)
{
    MUST(sem_wait(&sem) == 0);
    return -1;
}

static int ask(void)
{
    MUST(value_of(&sem) == 1);
    return 0;
}

static int destroy(void)
{
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

static sem_t copy;              /* of `sem`, made before the operation */

static int ask_copy(void)
{
    MUST(value_of(&copy) == 1);
    return 0;
}

/* Number of other semaphores after which the quarantine of a cell ends. */
enum { OTHERS = 64 };
static sem_t copy_of_last;

static int destroy_others(void)
{
    sem_t other[OTHERS];

    for (int i = 0; i < OTHERS; i++) {
        MUST(sem_init(&other[i], 0, 0) == 0);
        MUST_FAIL(sem_timedwait(&other[i], &past), ETIMEDOUT);
        MUST(sem_post(&other[i]) == 0);
    }
    memcpy(&copy_of_last, &other[OTHERS - 1], sizeof copy_of_last);
    for (int i = 0; i < OTHERS; i++)
        MUST(sem_destroy(&other[i]) == 0);
    return 0;
}

/* A copy of a semaphore that has just been destroyed keeps its value, even when a new semaphore needs a cell. */
static void ask_copy_of_last(void)
{
    sem_t new;

    MUST(sem_init(&new, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&new, &past), ETIMEDOUT);
    MUST(value_of(&copy_of_last) == 1);
    MUST(sem_destroy(&new) == 0);
}

/* The child has one thread.
 * The number of units is 0 or 1, depending on how far the stopped operation has come.
 */
static int use_in_child(pid_t pid)
{
    if (pid == 0) {
        int value;

        hang_alarm();
        value = value_of(&sem);
        MUST(value == 0 || value == 1);
        MUST(sem_post(&sem) == 0 && value_of(&sem) == value + 1);
        for (; value >= 0; value--)
            MUST(wait_and_time_out() == -1);
        MUST(take() == 0 && wait_and_time_out() == 0);
        MUST(sem_destroy(&sem) == 0 && sem_post(&sem) == 0 && sem_wait(&sem) == 0);
        MUST(sem_init(&sem, 0, 0) == 0 && wait_and_time_out() == 0);
        _exit(0);
    }
    MUST(pid > 0 && child_status(pid) == 0);
    return 0;
}

static int fork_a_child(void)
{
    return use_in_child(fork());
}

/* _Fork() calls no handlers of pthread_atfork().  (Older versions of glibc do not have it.) */
extern pid_t _Fork(void) __attribute__((weak));

static int fork_without_handlers(void)
{
    return use_in_child(_Fork != NULL ? _Fork() : fork());
}

static const struct meeting {
    const char *name;
    int       (*operation)(void), (*act)(void);
    bool        in_cell;        /* before the operation; otherwise the semaphore is a number */
    int         units;          /* before the operation */
} meetings[] = {
    { "post, destroy", post, destroy, true, 0 },
    { "try, destroy", take, destroy, true, 1 },
    { "getvalue, destroy", ask, destroy, true, 1 },
    { "time out, destroy", wait_and_time_out, destroy, true, 0 },
    { "wait, destroy", wait_for_unit, destroy, true, 0 },
    { "destroy, post", destroy, post, true, 0 },
    { "destroy, try", destroy, take, true, 1 },
    { "destroy, time out", destroy, wait_and_time_out, true, 0 },
    { "destroy, destroy", destroy, destroy, true, 1 },
    { "getvalue of a copy, destroy", ask_copy, destroy, true, 1 },
    { "destroy, destroy others", destroy, destroy_others, true, 1 },
    { "first wait, post", wait_and_time_out, post, false, 0 },
    { "first wait, first wait", wait_and_time_out, wait_and_time_out, false, 0 },
    { "post, first wait", post, wait_and_time_out, false, 0 },
    { "post, fork", post, fork_a_child, true, 0 },
    { "try, fork", take, fork_a_child, true, 1 },
    { "destroy, fork", destroy, fork_a_child, true, 1 },
    { "first wait, fork", wait_and_time_out, fork_a_child, false, 0 },
    { "wait that times out, _Fork", wait_and_time_out, fork_without_handlers, true, 0 },
    { "destroy, _Fork", destroy, fork_without_handlers, true, 1 },
};

/* ---- The child ---- */

static _Atomic int acts_change, helped;

/* The second thread.  If the operation is a wait, it also posts once in each round, when the wait sleeps. */
static void *act(void *arg)
{
    const struct meeting *meeting = arg;
    int posted = 0;

    atomic_store(&shared->second, gettid());
    for (;;) {
        int asked = atomic_load(&shared->asked), round = atomic_load(&shared->round);

        if (asked != atomic_load(&shared->acted)) {
            atomic_store(&shared->heard, asked);
            atomic_fetch_add(&acts_change, meeting->act());
            atomic_store(&shared->acted, asked);
        }
        if (meeting->operation == wait_for_unit && posted != round
            && sleeps(getpid(), atomic_load(&first))) {
            posted = round;
            atomic_store(&helped, 1);       /* before the wait can return */
            (void)post();
        }
        if (meeting->operation == wait_for_unit)
            moment();
        else
            await_change(&shared->asked, asked);
    }
    return NULL;
}

static void repeat(const struct meeting *meeting)
{
    for (;;) {
        int change;

        MUST(sem_init(&sem, 0, 0) == 0);
        if (meeting->in_cell)
            MUST(wait_and_time_out() == 0);
        for (int i = 0; i < meeting->units; i++)
            (void)post();
        memcpy(&copy, &sem, sizeof copy);
        atomic_store(&acts_change, 0);
        atomic_store(&helped, 0);
        raise(SIGSTOP);
        atomic_fetch_add(&shared->round, 1);
        change = meeting->operation();
        raise(SIGSTOP);
        while (atomic_load(&shared->acted) != atomic_load(&shared->asked))
            moment();
        change += atomic_load(&acts_change) + atomic_load(&helped);
        MUST(value_of(&sem) == meeting->units + change);
        /* The stopped thread must get the unit, although the semaphore is destroyed meanwhile. */
        if (meeting->operation == take && meeting->act == destroy)
            MUST(change == -1);
        MUST(sem_destroy(&sem) == 0);
        if (meeting->act == destroy_others && atomic_load(&shared->asked) == shared->round)
            ask_copy_of_last();
    }
}

static void child(const void *meeting)
{
    pthread_t thread;

    atomic_store(&first, gettid());
    start(&thread, act, (void *)(uintptr_t)meeting);
    while (atomic_load(&shared->second) == 0)
        moment();
    repeat(meeting);
}

/* ---- The parent ---- */

static uintptr_t address[STEPS_MOST];

/*
 * Note the instructions of an undisturbed operation, from the shortest of several runs.  On a busy machine a
 * run may be longer, with instructions that later runs do not reach.
 */
static int note_shortest(pid_t pid)
{
    static uintptr_t noted[STEPS_MOST];
    int fewest = INT_MAX;

    for (int i = 0; i < 4; i++) {
        int signals, count = note_all(pid, noted, &signals);

        if (count < fewest) {
            fewest = count;
            memcpy(address, noted, (size_t)count * sizeof noted[0]);
        }
        run_to_stop(pid);
    }
    return fewest;
}

/* Ask the second thread to act, and wait until it has acted, or sleeps in its act. */
static void let_act(pid_t pid)
{
    int round = atomic_load(&shared->round);

    atomic_store(&shared->asked, round);
    tell_change(&shared->asked);
    for (int i = 1; atomic_load(&shared->acted) != round; i++) {
        /* Checking for sleep is slow, and most acts soon end. */
        if (i % 16 == 0 && atomic_load(&shared->heard) == round
            && sleeps(pid, atomic_load(&shared->second)) && atomic_load(&shared->acted) != round)
            break;
        moment();
    }
}

static void step_through(const struct meeting *meeting)
{
    int instructions, reached = 0;
    pid_t pid;

    memset(shared, 0, sizeof *shared);
    pid = begin_traced(child, meeting);
    /* The loader resolves symbols in the first run. */
    run_to_stop(pid);
    run_to_stop(pid);
    instructions = note_shortest(pid);
    for (int i = 0; i < instructions; i++) {
        int inside = stop_before(pid, address, i);

        reached += inside;
        if (inside) {
            let_act(pid);
            run_to_stop(pid);
        }
        run_to_stop(pid);
    }
    end_traced(pid);
    printf("%s: %d of %d instructions\n", meeting->name, reached, instructions);
    MUST(reached > instructions / 3);
}

BEHAVIOR(met)
{
    needs_steps();
    setlinebuf(stdout);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++)
        step_through(&meetings[i]);
}

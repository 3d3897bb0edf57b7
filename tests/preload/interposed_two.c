/* SPDX-License-Identifier: MIT */
/*
 * interposed_two.c - two copies of sem_post and its relatives act on one sem_t.  This program calls the
 * functions of the interposer.  A library that was loaded with RTLD_DEEPBIND or by dlmopen() calls the
 * functions of libc.  Either the count is right, or the program aborts.
 */
#include "interposed.h"

#include <dlfcn.h>

/* Functions of the library, whose source is in test_interpose.py. */
static struct {
    int (*post)(sem_t *);
    int (*wait)(sem_t *);
    int (*try_wait)(sem_t *);
    int (*value)(sem_t *);
} other;

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    MUST(found != NULL);
    memcpy(function, &found, sizeof found);
}

/* Does the library call other functions than this program? */
static bool are_two(void *library)
{
    void *(*its_post)(void);
    int (*our_post)(sem_t *) = sem_post;
    void *ours;

    find(library, "address_of_post", &its_post);
    memcpy(&ours, &our_post, sizeof ours);
    return its_post() != ours;
}

static void *wait_in_library(void *arg)
{
    struct waiter *w = arg;

    atomic_store(&w->tid, gettid());
    atomic_store(&w->result, other.wait(w->sem));
    return NULL;
}

static void take_turns(sem_t *sem)
{
    MUST(sem_post(sem) == 0 && other.post(sem) == 0 && sem_post(sem) == 0);
    MUST(value_of(sem) == 3 && other.value(sem) == 3);
    MUST(other.wait(sem) == 0 && sem_wait(sem) == 0 && other.try_wait(sem) == 0);
    MUST(value_of(sem) == 0 && other.value(sem) == 0);
    MUST(other.try_wait(sem) != 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
}

/* A thread sleeps in libc's sem_wait, and another one in the interposer's; both are woken. */
static void wake_each_other(sem_t *sem)
{
    struct waiter w = { .sem = sem, .result = STILL_WAITING }, ours = { 0 };

    start(&w.thread, wait_in_library, &w);
    MUST(await_sleep(&w));
    queue(&ours, sem);
    MUST(sem_post(sem) == 0 && sem_post(sem) == 0);
    MUST(join(&ours) == 0 && join(&w) == 0);
    MUST(value_of(sem) == 0);
}

/* The semaphore is in a cell, of which libc does not know.
 * The interposer's next call detects libc's sem_wait.
 */
static void wait_beside_cell(void)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    MUST(sem_post(&sem) == 0 && other.wait(&sem) == 0);
    MUST(value_of(&sem) == 0);
}

/* libc's sem_post aborts at once: a waiter in the cell would not be woken. */
static void post_beside_cell(void)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    MUST(other.post(&sem) == 0 && other.value(&sem) == 1);
}

static bool aborts(void (*act)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        die_silently();
        act();
        _exit(0);
    }
    status = child_status(child);
    MUST(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    return status != 0;
}

static void use_both(void *library)
{
    bool interposed = is_interposed();
    sem_t sem;

    if (library == NULL)
        fprintf(stderr, "interposed: %s\n", dlerror());
    MUST(library != NULL && (!interposed || are_two(library)));
    find(library, "other_post", &other.post);
    find(library, "other_wait", &other.wait);
    find(library, "other_try", &other.try_wait);
    find(library, "other_value", &other.value);
    MUST(sem_init(&sem, 0, 0) == 0);
    take_turns(&sem);
    wake_each_other(&sem);
    take_turns(&sem);
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    MUST(sem_destroy(&sem) == 0);           /* the semaphore leaves its cell */
    take_turns(&sem);
    MUST(aborts(wait_beside_cell) == interposed && aborts(post_beside_cell) == interposed);
}

BEHAVIOR(bound_deeply)
{
    use_both(dlopen(argument, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
}

BEHAVIOR(in_namespace)
{
    use_both(dlmopen(LM_ID_NEWLM, argument, RTLD_NOW | RTLD_LOCAL));
}

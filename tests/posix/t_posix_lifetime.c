/* SPDX-License-Identifier: MIT */
/*
 * t_posix_lifetime.c - a sem_t is destroyed and its memory freed as soon as a wait has returned.
 */
#define _GNU_SOURCE
#include "callers.h"
#include "stress.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

START_TEST(destroying_a_semaphore_that_is_waited_for_changes_nothing)
{
    struct caller c[3] = { { 0 } };
    sem_t sem;

    ck_assert_works(sem_init(&sem, 0, 0));
    for (int i = 0; i < 3; i++) {
        caller_queue(&c[i], &sem, WAIT, i + 1);
        ck_assert_works(sem_destroy(&sem));
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_works(sem_post(&sem));
        ck_assert_int_eq(caller_join(&c[i]), 0);
    }
    ck_assert_works(sem_post(&sem));
    ck_assert_works(sem_wait(&sem));
    ck_assert_works(sem_destroy(&sem));
    ck_assert_works(sem_init(&sem, 0, 7));
    ck_assert_int_eq(value_of(&sem), 7);
    ck_assert_works(sem_destroy(&sem));
}
END_TEST

struct relay {
    _Atomic(sem_t *) sem;   /* of this round; NULL between rounds */
    _Atomic int      stop;
};

static void *post_what_comes(void *arg)
{
    struct relay *relay = arg;
    int round = 0;

    while (!atomic_load(&relay->stop)) {
        sem_t *sem = atomic_exchange(&relay->sem, NULL);

        if (sem != NULL) {
            dawdle(round++);
            sem_post(sem);
        } else {
            moment();
        }
    }
    return NULL;
}

struct memory {
    void *(*get)(void);
    void  (*lose)(void *memory);
};

static void *get_page(void)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED ? page : NULL;
}

static void lose_page(void *page)
{
    munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

static void *get_heap(void)
{
    return aligned_alloc(_Alignof(sem_t), sizeof(sem_t));
}

/* It is filled first, so that a late access shows without a sanitizer, too. */
static void lose_heap(void *memory)
{
    memset(memory, 0xa5, sizeof(sem_t));
    free(memory);
}

static const struct memory page_memory = { get_page, lose_page };
static const struct memory heap_memory = { get_heap, lose_heap };

/*
 * The post comes at any moment between the entry to the wait and the sleep, and the memory is freed
 * as soon as the wait returns.
 */
static void wait_and_lose(const struct memory *memory, int rounds)
{
    struct relay relay = { .sem = NULL };
    pthread_t thread;

    start_thread(&thread, post_what_comes, &relay);
    for (int i = 0; i < rounds; i++) {
        sem_t *sem = memory->get();

        if (sem == NULL || sem_init(sem, 0, 0) != 0)
            ck_abort_msg("no semaphore");
        atomic_store(&relay.sem, sem);
        if (i % 4 == WAYS) {
            while (sem_trywait(sem) != 0)
                moment();      /* on a busy machine the other one needs this core */
        } else if (wait_somehow(sem, (enum how)(i % 4)) != 0) {
            ck_abort_msg("wait failed");
        }
        if (sem_destroy(sem) != 0)
            ck_abort_msg("destroy failed");
        memory->lose(sem);
    }
    atomic_store(&relay.stop, 1);
    pthread_join(thread, NULL);
}

/* The poster must not access the semaphore once its unit can be taken. */
START_TEST(a_thread_that_has_waited_may_destroy_and_unmap_at_once)
{
    wait_and_lose(&page_memory, (int)stress_times(4000));
}
END_TEST

START_TEST(a_thread_that_has_waited_may_destroy_and_free_at_once)
{
    wait_and_lose(&heap_memory, (int)stress_times(4000));
}
END_TEST

int main(void)
{
    if (has_no_sem_t())
        return SKIPPED;
    RUN_SUITE("posix lifetime", destroying_a_semaphore_that_is_waited_for_changes_nothing,
              a_thread_that_has_waited_may_destroy_and_unmap_at_once,
              a_thread_that_has_waited_may_destroy_and_free_at_once);
}

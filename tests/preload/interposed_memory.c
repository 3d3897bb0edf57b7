/* SPDX-License-Identifier: MIT */
/*
 * interposed_memory.c - the memory of a program's semaphores, which the program may unmap or use again; and the
 * memory that the interposer takes for cells.
 */
#include "interposed.h"

static _Atomic(sem_t *) offered;

static void *post_what_comes(void *arg)
{
    while (!atomic_load(&stop)) {
        sem_t *sem = atomic_exchange(&offered, NULL);

        if (sem != NULL)
            sem_post(sem);
        else
            moment();
    }
    return arg;
}

/* Unmap the memory as soon as the wait has returned; every second time, without sem_destroy() before. */
BEHAVIOR(unmap)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    pthread_t thread;

    start(&thread, post_what_comes, NULL);
    for (int i = 0; i < 20000; i++) {
        sem_t *sem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        MUST(sem != MAP_FAILED);
        MUST(sem_init(sem, 0, 0) == 0);
        atomic_store(&offered, sem);
        MUST(sem_wait(sem) == 0);
        if (i % 2 == 0)
            MUST(sem_destroy(sem) == 0);
        munmap(sem, size);
    }
    stop_all(&thread, 1);
}

BEHAVIOR(destroy_with_waiters)
{
    struct waiter w[2] = { { 0 } };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(join(&w[0]) == 0 && join(&w[1]) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_wait(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
}

static void goes_on(sem_t *sem, int value)
{
    MUST(value_of(sem) == value);
    for (int i = 0; i < value; i++)
        MUST(sem_trywait(sem) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);
    MUST(sem_post(sem) == 0 && sem_wait(sem) == 0);
    contend(sem);
    MUST(value_of(sem) == 0);
}

/* As with libc, a destroyed semaphore still works, since a detached thread may use it late.  (4 waits.) */
BEHAVIOR(destroyed)
{
    sem_t sem, other;

    MUST(sem_init(&sem, 0, 3) == 0);
    MUST(sem_destroy(&sem) == 0);
    goes_on(&sem, 3);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_init(&other, 0, 0) == 0);
    contend(&other);                        /* perhaps in the former cell of `sem` */
    MUST(sem_post(&other) == 0);
    goes_on(&sem, 0);
    MUST(value_of(&other) == 1);
    MUST(sem_destroy(&sem) == 0 && sem_destroy(&sem) == 0 && sem_destroy(&other) == 0);
    goes_on(&other, 1);
}

BEHAVIOR(not_libcs)
{
    MUST(is_interposed());
}

/* ---- Copies ---- */

/* As with libc, each copy is a semaphore of its own, even if threads have waited for the original. */
BEHAVIOR(copies)
{
    enum { COPIES = 4 };
    sem_t sem[COPIES], moved;

    MUST(sem_init(&moved, 0, 1) == 0);
    for (int i = 0; i < COPIES; i++)
        memcpy(&sem[i], &moved, sizeof moved);
    memset(&moved, 0x5a, sizeof moved);
    for (int i = 0; i < COPIES; i++)
        MUST(value_of(&sem[i]) == 1 && sem_trywait(&sem[i]) == 0);
    for (int i = 0; i < COPIES; i++) {
        contend(&sem[i]);
        memcpy(&moved, &sem[i], sizeof moved);
        MUST(sem_post(&moved) == 0);
        MUST(value_of(&moved) == 1 && value_of(&sem[i]) == 0);
        goes_on(&moved, 1);
    }
    for (int i = 0; i < COPIES; i++)
        MUST(sem_destroy(&sem[i]) == 0);
}

/* As when a vector grows: the elements are copied, and then the old elements are destroyed. */
BEHAVIOR(copies_of_destroyed)
{
    sem_t sem, copy, copy_of_copy, other;

    MUST(sem_init(&sem, 0, 2) == 0 && sem_init(&other, 0, 0) == 0);
    MUST(sem_trywait(&sem) == 0 && sem_trywait(&sem) == 0);
    contend(&sem);
    MUST(sem_post(&sem) == 0);
    memcpy(&copy, &sem, sizeof copy);
    MUST(sem_destroy(&sem) == 0);
    memset(&sem, 0x5a, sizeof sem);
    contend(&other);                        /* the cell of `sem` is still in quarantine */
    memcpy(&copy_of_copy, &copy, sizeof copy);
    MUST(sem_destroy(&copy) == 0);
    goes_on(&copy, 1);
    goes_on(&copy_of_copy, 1);
    MUST(sem_post(&copy) == 0);
    memcpy(&sem, &copy, sizeof sem);
    MUST(sem_destroy(&copy) == 0);
    memcpy(&copy, &sem, sizeof sem);        /* back to the old place */
    goes_on(&sem, 1);
    goes_on(&copy, 1);
}

/* ---- How much memory ---- */

static long resident_bytes(void)
{
    char text[128] = "";
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "re");

    MUST(file != NULL && fgets(text, sizeof text, file) != NULL);
    fclose(file);
    MUST(sscanf(text, "%ld %ld", &size, &resident) == 2);
    return resident * sysconf(_SC_PAGESIZE);
}

/*
 * Many programs never destroy their semaphores.  A semaphore without waiters uses no memory except its sem_t.
 * From its first wait on, it also uses a cell, until it is destroyed.
 */
BEHAVIOR(no_more_memory)
{
    enum { PLAIN = 1000000, IN_CELL = 100000 };
    long before = resident_bytes();
    sem_t sem;

    for (int i = 0; i < PLAIN; i++) {
        MUST(sem_init(&sem, 0, 1) == 0);
        MUST(sem_wait(&sem) == 0);
    }
    MUST(value_of(&sem) == 0);
    for (int i = 0; i < IN_CELL; i++) {
        MUST(sem_init(&sem, 0, 0) == 0);
        MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
        MUST(sem_destroy(&sem) == 0);
    }
    MUST(resident_bytes() - before < 2000000);
}

/*
 * A program that never destroys its semaphores keeps no more memory than fairsem-run(1) says (except for part of
 * a huge page), and each of its semaphores still has its value.  Two threads wait during the test, and are
 * woken in order at its end.
 */
BEHAVIOR(never_destroyed)
{
    enum { MANY = 200000, BYTES = 320, HUGE_PAGE = 1 << 21 };
    sem_t *sem = calloc(MANY, sizeof *sem);
    _Atomic int service = 0;
    struct waiter w[2] = { { .service = &service }, { .service = &service } };
    sem_t waited_for;
    long before;

    MUST(sem != NULL && sem_init(&waited_for, 0, 0) == 0);
    queue(&w[0], &waited_for);
    for (int i = 0; i < MANY; i++)
        MUST(sem_init(&sem[i], 0, 0) == 0);
    before = resident_bytes();
    for (int i = 0; i < MANY; i++) {
        if (i == MANY / 2)
            queue(&w[1], &waited_for);
        MUST_FAIL(sem_timedwait(&sem[i], &past), ETIMEDOUT);
        MUST(sem_post(&sem[i]) == 0);
    }
    MUST(resident_bytes() - before < (long)MANY * BYTES + 2 * HUGE_PAGE);
    for (int i = 0; i < MANY; i += 1 + i % 7)
        MUST(sem_wait(&sem[i]) == 0 && value_of(&sem[i]) == 0);
    MUST(sem_post(&waited_for) == 0 && join(&w[0]) == 0);
    MUST(sem_post(&waited_for) == 0 && join(&w[1]) == 0);
    MUST(w[0].place < w[1].place && value_of(&waited_for) == 0);
    free(sem);
}

/*
 * Make a semaphore in memory, and perhaps in a cell, that another semaphore had before: nothing of the other
 * one is left.  Every second semaphore is destroyed, and works on; the others are abandoned.
 */
static void use_own(bool destroys)
{
    sem_t own;

    MUST(sem_init(&own, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&own, &past), ETIMEDOUT);
    MUST(value_of(&own) == 0 && sem_post(&own) == 0 && sem_post(&own) == 0);
    MUST(value_of(&own) == 2 && sem_trywait(&own) == 0 && value_of(&own) == 1);
    if (destroys)
        MUST(sem_destroy(&own) == 0 && value_of(&own) == 1 && sem_wait(&own) == 0);
}

enum { USED = 64, USERS = 3, PASSES = 100000 };
static sem_t used[USED];
static _Atomic int taken[USED];

/* Post and take; now and then time out, which moves the semaphore into a cell. */
static void *use(void *arg)
{
    static _Atomic unsigned seeds;
    unsigned random = atomic_fetch_add(&seeds, 1);

    for (int i = 0; i < PASSES; i++) {
        unsigned which;
        int took = -1;

        random = random * 1103515245u + 12345u;
        which = random >> 16 & (USED - 1);
        MUST(value_of(&used[which]) >= 0);
        MUST(sem_post(&used[which]) == 0);
        took += sem_trywait(&used[which]) == 0;
        if (i % 32 == 0)
            took += sem_timedwait(&used[which], &past) == 0;
        atomic_fetch_add(&taken[which], took);
        if (i % 4 == 0)
            use_own(i % 8 == 0);
    }
    return arg;
}

/*
 * Threads use some semaphores together, and make semaphores of their own, in cells that another thread has
 * used.  No unit is lost, and no unit comes from nowhere.
 */
BEHAVIOR(cells_used_again)
{
    pthread_t thread[USERS];

    for (int i = 0; i < USED; i++)
        MUST(sem_init(&used[i], 0, 0) == 0);
    start_all(thread, USERS, use, NULL);
    join_all(thread, USERS);
    for (int i = 0; i < USED; i++)
        MUST(value_of(&used[i]) == -atomic_load(&taken[i]));
}

static _Atomic int go_on, handled;

static void *wait_when_told(void *arg)
{
    while (!atomic_load(&go_on))
        moment();
    MUST(sem_wait(arg) == 0);
    return arg;
}

static void count_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&handled, 1);
}

static _Atomic int sent;    /* the signal that is sent, or 0 */

static void *send_signals(void *arg)
{
    while (!atomic_load(&stop)) {
        if (atomic_load(&sent) != 0)
            MUST(pthread_kill(*(pthread_t *)arg, atomic_load(&sent)) == 0);
        moment();
    }
    return NULL;
}

/*
 * Without memory for a cell, a wait still works, and ends at its deadline or by a signal.  As with libc, a
 * handler with SA_RESTART ends only a wait with a deadline.
 */
BEHAVIOR(no_memory)
{
    pthread_t thread, sender, self = pthread_self();
    struct rlimit before, none;
    struct timespec at;
    sem_t sem;

    handle(SIGUSR1, count_signal, SA_RESTART);
    handle(SIGUSR2, count_signal, 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    start(&thread, wait_when_told, &sem);
    start(&sender, send_signals, &self);
    MUST(getrlimit(RLIMIT_AS, &before) == 0);
    none = before;
    none.rlim_cur = 1;
    MUST(setrlimit(RLIMIT_AS, &none) == 0);
    hang_alarm();
    MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
    at = soon(CLOCK_REALTIME, 10000);
    MUST_FAIL(sem_timedwait(&sem, &at), ETIMEDOUT);
    atomic_store(&go_on, 1);
    for (int i = 1; i <= 50; i++) {
        MUST(pthread_kill(thread, SIGUSR1) == 0);
        while (atomic_load(&handled) < i)
            moment();
    }
    MUST(sem_post(&sem) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    at = soon(CLOCK_REALTIME, 1000000000);
    atomic_store(&sent, SIGUSR1);
    MUST_FAIL(sem_timedwait(&sem, &at), EINTR);
    atomic_store(&sent, SIGUSR2);
    MUST_FAIL(sem_wait(&sem), EINTR);
    stop_all(&sender, 1);
    MUST(value_of(&sem) == 0);
    MUST(setrlimit(RLIMIT_AS, &before) == 0);
    contend(&sem);
}

/* ---- More semaphores than --stats lists, and more than can have statistics of their own ---- */

/* (11 waits.) */
BEHAVIOR(eleven)
{
    sem_t sem[11];

    for (int i = 0; i < 11; i++) {
        MUST(sem_init(&sem[i], 0, 0) == 0);
        contend(&sem[i]);
    }
}

/* A thread waits for the last of many semaphores.  (1 wait.) */
BEHAVIOR(many)
{
    sem_t sem;

    for (int i = 0; i < 20000; i++)
        MUST(sem_init(&sem, 0, 0) == 0);
    contend(&sem);
}

/* ---- The end of the process ---- */

static sem_t of_library;
static _Atomic int used_late;

static void *use_to_the_end(void *arg)
{
    for (;;) {
        if (sem_wait(&of_library) != 0 || sem_post(&of_library) != 0)
            abort();
        atomic_fetch_add(&used_late, 1);
    }
    return arg;
}

static void at_the_end(void)
{
    int before;

    sem_destroy(&of_library);
    before = atomic_load(&used_late);
    while (atomic_load(&used_late) < before + 1000)
        moment();
}

/*
 * A library destroys a semaphore when the process ends, while a detached thread still uses the semaphore and
 * aborts on an error (as in libuv).
 */
BEHAVIOR(static_destructor)
{
    pthread_t thread[2];

    MUST(sem_init(&of_library, 0, 0) == 0);
    MUST(atexit(at_the_end) == 0);
    contend(&of_library);
    MUST(sem_post(&of_library) == 0);
    start_all(thread, 2, use_to_the_end, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * ctrl-c.c - a program that shuts down cleanly on Ctrl-C.
 *
 * Threads do jobs, at most LIMIT of them at a time.  On Ctrl-C the signal handler closes the
 * semaphore.  It may do so, whatever it has interrupted, because the semaphore has the flag
 * FAIRSEM_INTERRUPTIBLE.  Threads that wait for a unit get ECANCELED, jobs that are in progress
 * finish, and no job begins any more.
 *
 * `ctrl-c JOBS` interrupts itself when that many jobs are done.
 */
#include <errno.h>
#include <fairsem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 8, LIMIT = 3 };

static fairsem_t   slots;
static long        interrupt_after;     /* jobs; 0: never */
static _Atomic int begun, done, turned_away;

static void on_interrupt(int sig)
{
    int error = errno;

    (void)sig;
    fairsem_close(&slots, ECANCELED);   /* EALREADY the second time: no change */
    errno = error;
}

static void job(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void *work(void *arg)
{
    int error;

    while ((error = fairsem_acquire(&slots, 1)) == 0 || error == EINTR) {
        if (error == EINTR)             /* another handler ran: wait again */
            continue;
        atomic_fetch_add(&begun, 1);
        job();
        if (atomic_fetch_add(&done, 1) + 1 == interrupt_after)
            raise(SIGINT);
        fairsem_release(&slots, 1);     /* works after the close, too */
    }
    atomic_fetch_add(&turned_away, 1);
    return arg;
}

int main(int argc, char **argv)
{
    const fairsem_attr_t attr = { .capacity = LIMIT, .flags = FAIRSEM_INTERRUPTIBLE };
    struct sigaction action = { .sa_handler = on_interrupt };
    pthread_t thread[THREADS];
    int error = fairsem_init(&slots, LIMIT, &attr);

    if (error != 0) {
        fprintf(stderr, "ctrl-c: %s\n", fairsem_strerror(error));
        return EXIT_FAILURE;
    }
    interrupt_after = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    for (int i = 0; i < THREADS; i++) {
        error = pthread_create(&thread[i], NULL, work, NULL);
        if (error != 0) {
            fprintf(stderr, "ctrl-c: pthread_create: %s\n", strerror(error));
            return EXIT_FAILURE;
        }
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("begun and finished %s\n", begun == done ? "all" : "NOT all");
    printf("threads that ended %d\n", turned_away);
    printf("slots free %d of %d\n", (int)fairsem_available(&slots), LIMIT);
    return begun == done && fairsem_destroy(&slots) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: MIT */
/* textbook_sem.h - the FIFO semaphore of the textbooks: the plain way to be fair. */
#ifndef BENCH_TEXTBOOK_SEM_H
#define BENCH_TEXTBOOK_SEM_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

struct textbook_waiter;

struct textbook_sem {
    pthread_mutex_t mutex; /* guards everything below */
    int64_t units;
    struct textbook_waiter *head, *tail;
};

/* All return 0 or an errno value. */
int textbook_init(struct textbook_sem *s, int64_t units);
int textbook_acquire(struct textbook_sem *s, int64_t n);
int textbook_release(struct textbook_sem *s, int64_t n);
int textbook_try(struct textbook_sem *s, int64_t n);
int textbook_until(struct textbook_sem *s, int64_t n, const struct timespec *deadline);
int textbook_destroy(struct textbook_sem *s);

#endif /* BENCH_TEXTBOOK_SEM_H */

/* SPDX-License-Identifier: MIT */
/*
 * annotations.h - tells helgrind and DRD what they do not know of C11 and POSIX; included before
 * every source that they check (-include).
 *
 * In a compiled program an atomic load or store is a plain one.  helgrind and DRD therefore
 * report a race where there is none, and do not know that one thread's release store comes
 * before another's acquire load.  So here
 *
 *   - every atomic store is an exchange: both tools take an instruction with a lock prefix
 *     for a read, and two reads do not race.  A plain write beside it still does;
 *   - the tool is told of a release or acquire order, but not of a relaxed one: if the library
 *     used that where it needs more, the accesses after it are a race;
 *   - the writes of an initializer of pthread_once come before every return of pthread_once;
 *   - a thread that is canceled in the wait for a condition variable has the mutex again.
 *
 * Nothing is hidden by this: no range is declared free of races, no lock is added.
 */
#ifndef ANNOTATIONS_H
#define ANNOTATIONS_H

/* Some sources define it; here it must be defined before the first header. */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <valgrind/helgrind.h>      /* DRD understands these, too */

#define TOLD_RELEASES(order)                                                           \
    ((order) == __ATOMIC_RELEASE || (order) == __ATOMIC_ACQ_REL || (order) == __ATOMIC_SEQ_CST)
#define TOLD_ACQUIRES(order)                                                           \
    ((order) == __ATOMIC_ACQUIRE || (order) == __ATOMIC_ACQ_REL || (order) == __ATOMIC_SEQ_CST)

#define TOLD_BEFORE(object, order)                                                     \
    do {                                                                               \
        if (TOLD_RELEASES(order))                                                      \
            ANNOTATE_HAPPENS_BEFORE(object);                                           \
    } while (0)
#define TOLD_AFTER(object, order)                                                      \
    do {                                                                               \
        if (TOLD_ACQUIRES(order))                                                      \
            ANNOTATE_HAPPENS_AFTER(object);                                            \
    } while (0)

/* The value of `expression`, told before and after. */
#define TOLD(object, order, expression)                                                \
    __extension__({                                                                    \
        __auto_type told_object = (object);                                            \
        TOLD_BEFORE(told_object, order);                                               \
        __auto_type told_result = (expression);                                        \
        TOLD_AFTER(told_object, order);                                                \
        told_result;                                                                   \
    })

#undef atomic_load_explicit
#define atomic_load_explicit(o, order)                                                 \
    TOLD(o, order, __atomic_load_n(told_object, order))
#undef atomic_store_explicit
#define atomic_store_explicit(o, value, order)                                         \
    ((void)TOLD(o, order, __atomic_exchange_n(told_object, value, order)))
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(o, value, order)                                      \
    TOLD(o, order, __atomic_exchange_n(told_object, value, order))
#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(o, value, order)                                     \
    TOLD(o, order, __atomic_fetch_add(told_object, value, order))
#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(o, value, order)                                     \
    TOLD(o, order, __atomic_fetch_sub(told_object, value, order))
#undef atomic_fetch_or_explicit
#define atomic_fetch_or_explicit(o, value, order)                                      \
    TOLD(o, order, __atomic_fetch_or(told_object, value, order))
#undef atomic_fetch_and_explicit
#define atomic_fetch_and_explicit(o, value, order)                                     \
    TOLD(o, order, __atomic_fetch_and(told_object, value, order))

/* A compare-and-swap that fails is a load, with the second order. */
#define TOLD_COMPARE_EXCHANGE(o, expected, desired, weak, order, failure)              \
    __extension__({                                                                    \
        __auto_type told_object = (o);                                                 \
        TOLD_BEFORE(told_object, order);                                               \
        bool told_done = __atomic_compare_exchange_n(told_object, expected, desired,   \
                                                     weak, order, failure);            \
        if (told_done)                                                                 \
            TOLD_AFTER(told_object, order);                                            \
        else                                                                           \
            TOLD_AFTER(told_object, failure);                                          \
        told_done;                                                                     \
    })
#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(o, expected, desired, order, failure)  \
    TOLD_COMPARE_EXCHANGE(o, expected, desired, false, order, failure)
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(o, expected, desired, order, failure)    \
    TOLD_COMPARE_EXCHANGE(o, expected, desired, true, order, failure)

/* Without an order: the strongest. */
#undef atomic_load
#define atomic_load(o) atomic_load_explicit(o, __ATOMIC_SEQ_CST)
#undef atomic_store
#define atomic_store(o, value) atomic_store_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_exchange
#define atomic_exchange(o, value) atomic_exchange_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_fetch_add
#define atomic_fetch_add(o, value) atomic_fetch_add_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_fetch_sub
#define atomic_fetch_sub(o, value) atomic_fetch_sub_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_fetch_or
#define atomic_fetch_or(o, value) atomic_fetch_or_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_fetch_and
#define atomic_fetch_and(o, value) atomic_fetch_and_explicit(o, value, __ATOMIC_SEQ_CST)
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(o, expected, desired)                           \
    TOLD_COMPARE_EXCHANGE(o, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(o, expected, desired)                             \
    TOLD_COMPARE_EXCHANGE(o, expected, desired, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* The tools do not know pthread_once: the initializing thread comes before all that return. */
static _Thread_local pthread_once_t *told_once;
static _Thread_local void          (*told_initialiser)(void);

static inline void told_initialise(void)
{
    told_initialiser();
    ANNOTATE_HAPPENS_BEFORE(told_once);
}

static inline int told_pthread_once(pthread_once_t *once, void (*initialiser)(void))
{
    int error;

    told_once = once;
    told_initialiser = initialiser;
    error = pthread_once(once, told_initialise);
    ANNOTATE_HAPPENS_AFTER(once);
    return error;
}
#define pthread_once(once, initialiser) told_pthread_once(once, initialiser)

/* A cancellation does not return to the functions by which the tools replace these. */
static inline void told_has_mutex_again(void *mutex)
{
    VALGRIND_HG_MUTEX_LOCK_POST(mutex);
}

static inline int told_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    int error;

    pthread_cleanup_push(told_has_mutex_again, mutex);
    error = pthread_cond_wait(cond, mutex);
    pthread_cleanup_pop(0);
    return error;
}
#define pthread_cond_wait(cond, mutex) told_cond_wait(cond, mutex)

static inline int told_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                      const struct timespec *at)
{
    int error;

    pthread_cleanup_push(told_has_mutex_again, mutex);
    error = pthread_cond_timedwait(cond, mutex, at);
    pthread_cleanup_pop(0);
    return error;
}
#define pthread_cond_timedwait(cond, mutex, at) told_cond_timedwait(cond, mutex, at)

#endif

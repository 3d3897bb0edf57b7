/* SPDX-License-Identifier: MIT */
/* canary_lock_order.c - two mutexes, locked in both orders; with an argument, in one. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *a_then_b(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void *b_then_a(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

/* One thread after the other: they do not deadlock, but they could. */
int main(int argc, char **argv)
{
    pthread_t thread;

    (void)argv;
    pthread_create(&thread, NULL, a_then_b, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, argc > 1 ? a_then_b : b_then_a, NULL);
    pthread_join(thread, NULL);
    return 0;
}

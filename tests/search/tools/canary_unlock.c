/* SPDX-License-Identifier: MIT */
/* canary_unlock.c - a mutex is unlocked once too often; with an argument, once. */
#include <pthread.h>

int main(int argc, char **argv)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    (void)argv;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (argc == 1)
        pthread_mutex_unlock(&mutex);
    return 0;
}

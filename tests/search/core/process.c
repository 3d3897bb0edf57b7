/* SPDX-License-Identifier: MIT */
/* process.c - the library's other calls: once, thread-specific data, the end of the process. */
#include "views.h"

#include <stdarg.h>
#include <string.h>

static struct key { bool made; void (*destroy)(void *); } key[KEYS_MAX], warm_key[KEYS_MAX];

int xp_once(pthread_once_t *once, void (*fn)(void))
{
    int *done = (int *)once;

    if (*done == PTHREAD_ONCE_INIT) {
        *done = PTHREAD_ONCE_INIT + 1;
        fn();
        if (views_on())
            views_release(once);
    }
    if (views_on())
        views_acquire(once);
    return 0;
}

int xp_key_create(pthread_key_t *made, void (*destroy)(void *))
{
    for (unsigned i = 0; i < KEYS_MAX; i++) {
        if (!key[i].made) {
            key[i].made = true;
            key[i].destroy = destroy;
            *made = i;
            return 0;
        }
    }
    return EAGAIN;
}

void *xp_getspecific(pthread_key_t which)
{
    return self->key[which];
}

int xp_setspecific(pthread_key_t which, const void *value)
{
    self->key[which] = (void *)(uintptr_t)value;
    return 0;
}

pthread_t xp_self(void)
{
    return (pthread_t)my_number();
}

int xp_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)before;
    (void)parent;
    (void)child;
    return 0;
}

void thread_destroys_keys(void)
{
    for (int i = 0; i < KEYS_MAX; i++) {
        void *value = self->key[i];

        self->key[i] = NULL;
        if (value != NULL && key[i].destroy != NULL)
            key[i].destroy(value);
    }
}

void keys_learn(void)
{
    memcpy(warm_key, key, sizeof key);
}

void keys_reset(bool cold)
{
    if (cold)
        memset(key, 0, sizeof key);
    else
        memcpy(key, warm_key, sizeof key);
}

/* ---- The library aborts: its last message is the reason of the failure ---- */

static char message[300];

int xp_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;

    (void)file;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return 0;
}

void xp_abort(void)
{
    message[strcspn(message, "\n")] = '\0';
    fail("the library stops itself", "%s", message);
}

/* SPDX-License-Identifier: MIT */
/*
 * sigaction_hook.c - a library with two uses.  Behind the interposer, it calls functions of the program in the
 * middle of sigaction() and pthread_setcanceltype().  In front of the interposer, it stores the second handler
 * of a signal and lets the first handler call the second, as Java's libjsig does.  test_interpose.py compiles
 * and preloads this file for interposed_actions.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Behind the interposer, this constructor runs before the interposer's: constructors run in the reverse order. */
__attribute__((constructor)) static void use_early(void)
{
    siginterrupt(SIGURG, 0);
}

/* Set by the program.  If this function returns false, sigaction() fails with EPERM, as in a sandbox. */
extern bool (*in_sigaction)(int sig);
bool (*in_sigaction)(int sig);

/* Set by the program: where sigaction() stores a new action of SIGUSR1, instead of setting it. */
extern struct sigaction *second_action;
struct sigaction *second_action;

int sigaction(int sig, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    int (*next)(int, const struct sigaction *, struct sigaction *);
    void *found = dlsym(RTLD_NEXT, "sigaction");

    memcpy(&next, &found, sizeof next);
    if (sig == SIGUSR1 && second_action != NULL) {
        *second_action = *action;
        return 0;
    }
    if (in_sigaction != NULL && !in_sigaction(sig)) {
        errno = EPERM;
        return -1;
    }
    return next(sig, action, old);
}

extern void (*in_setcanceltype)(int type);
void (*in_setcanceltype)(int type);

int pthread_setcanceltype(int type, int *before)
{
    int (*next)(int, int *);
    void *found = dlsym(RTLD_NEXT, "pthread_setcanceltype");

    memcpy(&next, &found, sizeof next);
    if (in_setcanceltype != NULL)
        in_setcanceltype(type);
    return next(type, before);
}

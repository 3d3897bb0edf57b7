/* SPDX-License-Identifier: MIT */
/*
 * signaller.c - sends signals to players, with and without SA_RESTART.  They may end waits only on
 * an interruptible semaphore.  The handler takes and releases no units, which is not allowed in
 * programs whose tickets have callbacks.
 */
#include "soak.h"

#include <signal.h>

#define BETWEEN_SIGNALS_NS INT64_C(300000)

static _Atomic int taken;

static void take_signal(int sig)
{
    (void)sig;
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
}

static void install(int sig, int flags)
{
    struct sigaction action = { .sa_handler = take_signal, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    sigaction(sig, &action, NULL);
}

/* The players were started before and end after us. */
void signal_now_and_then(struct actor *a)
{
    struct soak *s = a->soak;

    install(SIGUSR1, 0);
    install(SIGUSR2, SA_RESTART);
    while (!is_over(s)) {
        int sig = next(&a->seed) % 2 == 0 ? SIGUSR1 : SIGUSR2;

        pthread_kill(s->actors[next(&a->seed) % PLAYERS].thread, sig);
        atomic_fetch_add(&s->signals, 1);
        beat(a);
        rest(s, BETWEEN_SIGNALS_NS);
    }
    if (atomic_load(&taken) == 0)
        complain(s, "no signal was ever handled");
}

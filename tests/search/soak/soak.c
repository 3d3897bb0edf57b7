/* SPDX-License-Identifier: MIT */
/*
 * soak.c - `make soak HOURS=h`: starts the actors, and reports the result.
 *
 * The run fails if an actor finds an error, if one is silent for a minute, or if the
 * resident memory has grown: see watch.h.
 *
 *     soak HOURS [lost | made | leak [PATIENCE]]
 *
 * The second argument is a fault that the soak commits itself, to show that it can fail; the
 * third, in seconds, how long an actor may be silent.
 */
#include "soak.h"

#include "seed.h"
#include "watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct soak soak;        /* too large for a stack */

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void beat(struct actor *a)
{
    atomic_fetch_add_explicit(&a->acts, 1, memory_order_relaxed);
    atomic_store_explicit(&a->beat_ns, now_ns(), memory_order_relaxed);
}

void complain(struct soak *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    flockfile(stderr);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
    atomic_store(&s->failed, 1);
    atomic_store(&s->stop, 1);
}

void rest(struct soak *s, int64_t ns)
{
    const struct timespec ts = { .tv_nsec = (long)ns };

    if (!is_over(s))
        nanosleep(&ts, NULL);
}

/* What the thread of an actor runs. */
static void *act(void *arg)
{
    struct actor *a = arg;

    a->run(a);
    atomic_store(&a->at_home, 1);
    return NULL;
}

static void add(struct soak *s, const char *name, actor_fn *run, struct arena *arena,
                uint32_t seed)
{
    struct actor *a = &s->actors[s->count];

    a->name = name;
    a->run = run;
    a->soak = s;
    a->arena = arena;
    a->seed = seed + (uint32_t)s->count * 7919;
    a->beat_ns = now_ns();
    pthread_mutex_init(&a->token_mutex, NULL);
    fairsem_token_init(&a->token);
    s->count++;
}

/* Players first: others pick them by number.  All are there before the first one runs. */
static void begin(struct soak *s, uint32_t seed)
{
    arenas_init(s->arenas);
    for (int i = 0; i < PLAYERS; i++)
        add(s, "a player", play, NULL, seed);
    for (int i = 0; i < HUNTERS; i++)
        add(s, "a hunter", hunt, NULL, seed);
    for (int i = 0; i < FOUNDERS; i++)
        add(s, "a founder", found, NULL, seed);
    for (int i = 0; i < ARENAS; i++)
        add(s, "a warden", guard, &s->arenas[i], seed);
    add(s, "the forker", fork_now_and_then, NULL, seed);
    add(s, "the signaller", signal_now_and_then, NULL, seed);
    for (int i = 0; i < s->count; i++)
        start_thread(&s->actors[i].thread, act, &s->actors[i]);
}

/* The watch goes on until all actors have ended, because one may be stuck. */
static void end(struct soak *s, const struct watch *watch)
{
    const struct timespec moment = { .tv_nsec = 50000000 };

    atomic_store(&s->stop, 1);
    for (int i = 0; i < s->count; i++) {
        while (!atomic_load(&s->actors[i].at_home)) {
            watch_hearts(s, watch);
            nanosleep(&moment, NULL);
        }
    }
    /* The signaller before the players: it needs their names. */
    for (int i = s->count - 1; i >= 0; i--)
        pthread_join(s->actors[i].thread, NULL);
    for (int i = 0; i < s->count; i++) {
        if (fairsem_token_destroy(&s->actors[i].token) != 0)
            complain(s, "a token is still in use");
    }
    for (int i = 0; i < ARENAS; i++) {
        const char *wrong = arena_end(&s->arenas[i]);

        if (wrong != NULL)
            complain(s, "%s, in the end: %s", s->arenas[i].name, wrong);
    }
}

static void print_result(struct soak *s)
{
    printf("\nacquired %" PRId64 ", timed out %" PRId64 ", refused %" PRId64
           ", canceled by token %" PRId64 ", interrupted %" PRId64 "\n"
           "callbacks %" PRId64 ", threads started and canceled or ended %" PRId64
           ", forks %" PRId64 ", signals %" PRId64 ", short-lived semaphores %" PRId64 "\n",
           s->acquired, s->timed_out, s->refused, s->canceled, s->interrupted, s->called_back,
           s->threads, s->forks, s->signals, s->semaphores);
}

static enum fault fault_named(const char *name)
{
    static const char *const names[] = { "none", "lost", "made", "leak" };

    for (int i = 0; name != NULL && i < 4; i++) {
        if (strcmp(name, names[i]) == 0)
            return (enum fault)i;
    }
    return NO_FAULT;
}

int main(int argc, char *argv[])
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) * 3600 : 0;
    long patience_s = argc > 3 ? strtol(argv[3], NULL, 10) : 60;
    uint32_t seed = test_seed();
    struct watch watch;

    if (seconds <= 0 || patience_s <= 0) {
        fprintf(stderr, "usage: soak HOURS [none | lost | made | leak [PATIENCE-IN-SECONDS]]\n");
        return 2;
    }
    printf("soak for %.0f seconds\n", seconds);
    fflush(stdout);
    soak.fault = fault_named(argc > 2 ? argv[2] : NULL);
    begin(&soak, seed);
    watch_until(&soak, &watch, (int64_t)(seconds * 1e9), patience_s * INT64_C(1000000000));
    end(&soak, &watch);
    print_result(&soak);
    watch_result(&soak, &watch);
    puts(soak.failed ? "FAILED" : "ok: no unit lost or made, no thread stuck, memory flat");
    return soak.failed ? 1 : 0;
}

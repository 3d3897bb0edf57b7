/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "watch.h"

#include "hang.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define S_NS INT64_C(1000000000)

/* The stacks and allocator arenas of threads that start and end change the figure by some hundred
 * KiB. */
#define MAY_GROW_KIB 2048

static int64_t acts(struct soak *s)
{
    int64_t sum = 0;

    for (int i = 0; i < s->count; i++)
        sum += atomic_load_explicit(&s->actors[i].acts, memory_order_relaxed);
    return sum;
}

static double longest_wait_ms(struct soak *s)
{
    int64_t longest = 0;

    for (int i = 0; i < s->count; i++) {
        int64_t ns = atomic_load_explicit(&s->actors[i].longest_ns, memory_order_relaxed);

        if (ns > longest)
            longest = ns;
    }
    return (double)longest / 1e6;
}

static void print_line(struct soak *s, const struct watch *w)
{
    printf("%6" PRId64 " s  %11" PRId64 " operations  longest wait %7.1f ms  %7" PRId64
           " KiB  %6" PRId64 " checks\n", (now_ns() - w->begin_ns) / S_NS, acts(s),
           longest_wait_ms(s), resident_kib(), atomic_load(&s->checks));
    fflush(stdout);
}

/* A dump takes the mutex.  If it hangs there, the alarm ends the program. */
static _Noreturn void stop_at(struct soak *s, const struct actor *silent)
{
    fprintf(stderr, "FAILED: %s has been silent for too long\n", silent->name);
    hang_alarm();
    for (int i = 0; i < ARENAS; i++) {
        fprintf(stderr, "%s, its users say they hold %" PRId64 " of %" PRId64 ":\n",
                s->arenas[i].name, atomic_load(&s->arenas[i].held), s->arenas[i].units);
        fairsem_dump(&s->arenas[i].sem, stderr);
    }
    abort();
}

void watch_hearts(struct soak *s, const struct watch *w)
{
    for (int i = 0; i < s->count; i++) {
        struct actor *a = &s->actors[i];
        int64_t last = atomic_load_explicit(&a->beat_ns, memory_order_relaxed);

        if (!atomic_load(&a->at_home) && now_ns() - last > w->patience_ns)
            stop_at(s, a);
    }
}

void watch_until(struct soak *s, struct watch *w, int64_t duration_ns, int64_t patience_ns)
{
    const struct timespec moment = { .tv_nsec = 50000000 };
    int64_t now = now_ns();
    int64_t settles = duration_ns / 2 < 60 * S_NS ? duration_ns / 2 : 60 * S_NS;

    *w = (struct watch){
        .begin_ns = now, .end_ns = now + duration_ns, .settled_ns = now + settles,
        .patience_ns = patience_ns, .next_line_ns = now + 10 * S_NS,
    };
    while ((now = now_ns()) < w->end_ns && !is_over(s)) {
        if (now >= w->next_line_ns) {
            print_line(s, w);
            w->next_line_ns += 10 * S_NS;
        }
        if (w->settled_kib == 0 && now >= w->settled_ns)
            w->settled_kib = resident_kib();
        watch_hearts(s, w);
        nanosleep(&moment, NULL);
    }
}

void watch_result(struct soak *s, const struct watch *w)
{
    int64_t grown = resident_kib() - w->settled_kib;

    print_line(s, w);
    if (w->settled_kib == 0) {
        printf("resident memory: not compared\n");
        return;
    }
    printf("resident memory: %" PRId64 " KiB after %" PRId64 " s, %" PRId64 " KiB at the end\n",
           w->settled_kib, (w->settled_ns - w->begin_ns) / S_NS, w->settled_kib + grown);
    if (grown > MAY_GROW_KIB)
        complain(s, "it has grown by more than %d KiB", MAY_GROW_KIB);
}

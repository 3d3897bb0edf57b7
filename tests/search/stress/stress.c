/* SPDX-License-Identifier: MIT */
/*
 * stress.c - all functions at once, on real threads: a round for each kind of semaphore (actors.h).
 *
 *     stress [hours=H] [kind=NAME] [fault=lost | made | leak] [patience=S]
 *
 * `make check` runs it with a fixed seed, `make verify` runs more of it (stress.h), and `make soak HOURS=H` runs it
 * for that time.  With fault= it commits a fault itself, to show that it can fail.
 *
 * HOW TO READ A FAILURE: if more than all units were held at once, units were made.  If an actor has been silent
 * for S seconds, units or a wake were lost, and the semaphores are dumped.
 */
#include "actors.h"

#include "emulated.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define S_NS INT64_C(1000000000)
#define BYPASS_NS 50000     /* short, so that strict order and bypass alternate all the time */
#define AGING_NS  50000

/* Stacks and allocator arenas of threads that start and end change the size by some hundred KiB. */
#define MAY_GROW_KIB 2048

static const struct kind kinds[] = {
    { "two for one", 2, 1, 1, 1, { .capacity = 0 } },
    { "four for one", 4, 1, 1, 1, { .capacity = 1 } },
    { "three for two", 3, 2, 2, 2, { .capacity = 0 } },
    { "four for three", 4, 1, 3, 3, { .capacity = 0 } },
    { "eight for two, with priorities", 8, 3, 2, 2, { .capacity = 0 } },
    { "sixteen for five", 16, 1, 5, 5, { .capacity = 0 } },
    { "with a short queue", 8, 3, 6, 8, { .capacity = 6, .max_waiters = 8 } },
    { "waiters sleep at once", 10, 1, 5, 5, { .flags = FAIRSEM_NO_SPIN } },
    { "signals interrupt", 8, 3, 4, 6, { .capacity = 4, .flags = FAIRSEM_INTERRUPTIBLE } },
    { "running threads pass", 10, 1, 5, 5,
      { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = BYPASS_NS } },
    { "running threads pass, and signals interrupt", 10, 1, 5, 5,
      { .flags = FAIRSEM_BOUNDED_BYPASS | FAIRSEM_INTERRUPTIBLE, .bypass_ns = BYPASS_NS } },
    { "old requests come first", 8, 3, 2, 2, { .aging_ns = AGING_NS } },
};

static const struct kind plain = { "the plain one", 0, 1, 3, 3, { .capacity = 0 } };

/* The number of actors of each role, and their acts in a round.  Players are first, because others pick them by
 * number. */
static const struct role {
    const char *name;
    actor_fn   *run;
    int         many;
    int64_t     wanted;
} roles[] = {
    { "a player", play, 0, 12000 },     /* the kind has their number */
    { "a hunter", hunt, 2, 60 },
    { "a founder", found, 2, 20 },
    { "a warden", guard, 2, 10 },
    /*
     * ThreadSanitizer does not follow a fork of a threaded process, and defers signals.  AddressSanitizer's
     * allocator may stay locked in the child for ever.
     */
    { "a forker", fork_now_and_then, 2 * (!UNDER_TSAN && !UNDER_ASAN), 10 },
    { "the signaller", signal_now_and_then, !UNDER_TSAN, 200 },
};

#define ROLES ((int)(sizeof roles / sizeof roles[0]))
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

/* Settings of the command line. */
static int64_t round_ns, patience_ns;

static struct round current;    /* too large for a stack */

void beat(struct actor *a)
{
    atomic_fetch_add_explicit(&a->acts, 1, memory_order_relaxed);
    atomic_store_explicit(&a->beat_ns, now_ns(), memory_order_relaxed);
}

void complain(struct round *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    flockfile(stderr);
    fprintf(stderr, "FAILED: %s: ", r->arenas[0].kind->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
    atomic_store(&r->failed, 1);
    atomic_store(&r->stop, 1);
}

void rest(struct round *r, int64_t ns)
{
    const struct timespec ts = { .tv_nsec = (long)ns };

    if (!is_over(r))
        nanosleep(&ts, NULL);
}

void moments(uint32_t *seed)
{
    for (uint32_t i = next(seed) % 400; i > 0; i--)
        moment();
}

void pick_up(struct arena *arena, int64_t n)
{
    int64_t held = atomic_fetch_add_explicit(&arena->held, n, memory_order_relaxed) + n;
    int64_t most = atomic_load_explicit(&arena->most_held, memory_order_relaxed);

    while (held > most && !atomic_compare_exchange_weak(&arena->most_held, &most, held))
        continue;
    if (arena->kind->most == 1 && n == 1)
        arena->turns++;
}

void put_down(struct arena *arena, int64_t n)
{
    atomic_fetch_sub_explicit(&arena->held, n, memory_order_relaxed);
}

/* ---- Begin ---- */

static void *act(void *arg)
{
    struct actor *a = arg;

    a->role->run(a);
    atomic_store(&a->at_home, 1);
    return NULL;
}

static void open_arena(struct arena *arena, const struct kind *kind)
{
    fairsem_attr_t attr = kind->attr;

    *arena = (struct arena){ .kind = kind };
    arena->interruptible = FUTEXES && (attr.flags & FAIRSEM_INTERRUPTIBLE) != 0;
    if (!arena->interruptible)
        attr.flags &= ~(unsigned)FAIRSEM_INTERRUPTIBLE;
    attr.name = kind->name;
    insist(0, fairsem_init(&arena->sem, kind->units, &attr));
}

/* All actors are initialized before the first one runs. */
static void begin(struct round *r, const struct kind *kind, enum fault fault, uint32_t seed)
{
    *r = (struct round){ .fault = fault };
    open_arena(&r->arenas[0], kind);
    open_arena(&r->arenas[1], &plain);
    insist(0, fairsem_token_init(&r->never));
    for (int role = 0; role < ROLES; role++) {
        int many = role == 0 ? kind->players : roles[role].many;

        for (int i = 0; i < many; i++) {
            struct actor *a = &r->actors[r->count];

            a->role = &roles[role];
            a->round = r;
            a->place = i;
            a->seed = seed + (uint32_t)r->count++ * 7919;
            a->beat_ns = now_ns();
            pthread_mutex_init(&a->token_mutex, NULL);
            insist(0, fairsem_token_init(&a->token));
        }
    }
    for (int i = 0; i < r->count; i++)
        start_thread(&r->actors[i].thread, act, &r->actors[i]);
}

/* ---- Watch ---- */

static int64_t resident_kib(void)
{
    FILE *file = emulated() ? NULL      /* most memory is the emulator's, and grows */
                            : fopen("/proc/self/statm", "r");
    long long total, resident = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld %lld", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

static int64_t acts_of(struct round *r, const struct role *role)
{
    int64_t sum = 0;

    for (int i = 0; i < r->count; i++) {
        if (r->actors[i].role == role)
            sum += atomic_load_explicit(&r->actors[i].acts, memory_order_relaxed);
    }
    return sum;
}

/* A dump locks the mutex.  If it hangs there, the alarm ends the program. */
static _Noreturn void stop_at(struct round *r, const struct actor *silent)
{
    fprintf(stderr, "FAILED: %s: %s has been silent for too long\n", r->arenas[0].kind->name,
            silent->role->name);
    hang_alarm();
    for (int i = 0; i < 2; i++) {
        fprintf(stderr, "%s, its users say they hold %" PRId64 " of %" PRId64 ":\n",
                r->arenas[i].kind->name, atomic_load(&r->arenas[i].held), r->arenas[i].kind->units);
        fairsem_dump(&r->arenas[i].sem, stderr);
    }
    abort();
}

/* Returns after a moment, or stops the program if an actor has been silent for too long. */
static void watch_hearts(struct round *r)
{
    const struct timespec pause = { .tv_nsec = 5000000 };

    for (int i = 0; i < r->count; i++) {
        struct actor *a = &r->actors[i];
        int64_t last = atomic_load_explicit(&a->beat_ns, memory_order_relaxed);

        if (!atomic_load(&a->at_home) && now_ns() - last > patience_ns)
            stop_at(r, a);
    }
    for (int i = 0; i < 2; i++) {
        if (atomic_load(&r->arenas[i].most_held) > r->arenas[i].kind->most)
            complain(r, "%s: more units are held than there are", r->arenas[i].kind->name);
    }
    nanosleep(&pause, NULL);
}

/* Has everything happened that must happen in a round? */
static bool has_happened(struct round *r)
{
    for (int i = 0; round_ns == 0 && i < ROLES; i++) {
        if ((i == 0 || roles[i].many > 0) && acts_of(r, &roles[i]) < stress_times(roles[i].wanted))
            return false;
    }
    return r->acquired > 0 && r->called_back > 0 && r->canceled > 0 && r->checks > 0
           && (r->interrupted > 0 || !r->arenas[0].interruptible);
}

/* Watch until enough has happened, or the time has passed, and print a line every ten seconds. */
static void watch(struct round *r)
{
    const int64_t begun = now_ns();
    /* After a minute, or half of a shorter round, the memory should have stopped growing. */
    const int64_t settles_ns = round_ns / 2 < 60 * S_NS ? round_ns / 2 : 60 * S_NS;
    int64_t passed_ns = 0, settled_kib = 0, lines = 0;

    while (!is_over(r) && (passed_ns < round_ns || !has_happened(r))) {
        watch_hearts(r);
        passed_ns = now_ns() - begun;
        if (settled_kib == 0 && passed_ns >= settles_ns)
            settled_kib = resident_kib();
        if (passed_ns / S_NS / 10 > lines) {
            lines = passed_ns / S_NS / 10;
            printf("%6" PRId64 " s %12" PRId64 " acts of players %8" PRId64 " KiB\n",
                   passed_ns / S_NS, acts_of(r, &roles[0]), resident_kib());
            fflush(stdout);
        }
    }
    if (round_ns != 0 && settled_kib != 0 && resident_kib() - settled_kib > MAY_GROW_KIB)
        complain(r, "the resident memory has grown from %" PRId64 " to %" PRId64 " KiB", settled_kib,
                 resident_kib());
}

/* ---- End ---- */

/* U44: each call returns once, from any stage of its wait, and the queue is empty then. */
static void close_arena(struct round *r, struct arena *arena)
{
    if (fairsem_close(&arena->sem, CLOSED) != 0 || fairsem_waiters(&arena->sem) != 0
        || fairsem_closed(&arena->sem) != CLOSED)
        complain(r, "%s: cannot be closed", arena->kind->name);
}

/* Check an arena that no thread uses any longer. */
static void check_arena(struct round *r, struct arena *arena)
{
    fairsem_stat_t stat;

    fairsem_stat(&arena->sem, &stat);
    if (stat.available != arena->kind->units || stat.waiters != 0 || arena->held != 0
        || stat.over_releases != 0 || stat.waits != stat.grants + stat.timeouts + stat.cancels) {
        complain(r, "%s: in the end, the numbers do not add up", arena->kind->name);
        fairsem_dump(&arena->sem, stderr);
    }
    if (fairsem_destroy(&arena->sem) != 0)
        complain(r, "%s: cannot be destroyed", arena->kind->name);
}

/* Watch until all actors have ended, because one may be stuck. */
static void end(struct round *r)
{
    atomic_store(&r->stop, 1);
    for (int i = 0; i < 2; i++)
        close_arena(r, &r->arenas[i]);
    for (int i = 0; i < r->count; i++) {
        while (!atomic_load(&r->actors[i].at_home))
            watch_hearts(r);
    }
    for (int i = 0; i < r->count; i++) {
        pthread_join(r->actors[i].thread, NULL);
        pthread_mutex_destroy(&r->actors[i].token_mutex);
        if (fairsem_token_destroy(&r->actors[i].token) != 0)
            complain(r, "a token is still in use");
    }
    if (fairsem_token_destroy(&r->never) != 0)
        complain(r, "a token is still in use");
    printf("%s: acquired %" PRId64 ", called back %" PRId64 ", threads canceled %" PRId64
           ", interrupted %" PRId64 ", checked %" PRId64 "\n", r->arenas[0].kind->name, r->acquired,
           r->called_back, r->canceled, r->interrupted, r->checks);
    for (int i = 0; i < 2; i++)
        check_arena(r, &r->arenas[i]);
    fflush(stdout);
}

/* ---- The command ---- */

struct options {
    double hours, patience;     /* in seconds */
    const char *kind;           /* NULL for all */
    enum fault fault;
};

/* Returns false if the text is not a number of hours or seconds. */
static bool read_number(const char *text, double *to)
{
    char *end;

    *to = strtod(text, &end);
    return end != text && *end == '\0' && *to >= 0 && *to < 1e6;
}

static bool read_kind(const char *text, const char **to)
{
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(text, kinds[i].name) == 0) {
            *to = kinds[i].name;
            return true;
        }
    }
    return false;
}

static bool read_fault(const char *text, enum fault *to)
{
    static const char *const names[] = { "none", "lost", "made", "leak" };

    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *to = (enum fault)i;
            return true;
        }
    }
    return false;
}

static bool read_option(const char *name, const char *value, struct options *o)
{
    if (strcmp(name, "hours") == 0)
        return read_number(value, &o->hours);
    if (strcmp(name, "patience") == 0)
        return read_number(value, &o->patience);
    if (strcmp(name, "kind") == 0)
        return read_kind(value, &o->kind);
    return strcmp(name, "fault") == 0 && read_fault(value, &o->fault);
}

static int run(const struct options *o)
{
    const uint32_t seed = test_seed();
    bool right = true;

    round_ns = (int64_t)(o->hours * 3600 * 1e9) / (o->kind != NULL ? 1 : KINDS);
    patience_ns = (int64_t)(o->patience * 1e9);
    for (int i = 0; i < KINDS && right; i++) {
        if (o->kind != NULL && o->kind != kinds[i].name)
            continue;
        begin(&current, &kinds[i], o->fault, seed + (uint32_t)i * 1000003);
        watch(&current);
        end(&current);
        right = !current.failed;
    }
    puts(right ? "ok: no unit lost or made, no thread stuck" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Stop and continue the child again and again until it ends, as Ctrl-Z, a debugger or a frozen container does. */
static int stop_and_continue(pid_t child)
{
    const struct timespec progress = { .tv_nsec = 20000000 };   /* in which the child makes progress */
    int status = 0;

    do {
        nanosleep(&progress, NULL);
        if (kill(child, SIGSTOP) != 0 || waitpid(child, &status, WUNTRACED) != child)
            return EXIT_FAILURE;
        kill(child, SIGCONT);
    } while (WIFSTOPPED(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A mistyped option is an error: the run would not do what its user wants. */
int main(int argc, char *argv[])
{
    struct options options = { .patience = hang_limit_s(), .fault = NO_FAULT };
    pid_t child;

    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');

        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || !read_option(argv[i], value, &options)) {
            fprintf(stderr, "stress: %s: unknown, or with a wrong value; usage: stress [hours=H] [kind=NAME] "
                    "[fault=lost | made | leak] [patience=SECONDS]\n", argv[i]);
            return 2;
        }
    }
    child = fork();
    if (child == 0)
        return run(&options);
    return child > 0 ? stop_and_continue(child) : EXIT_FAILURE;
}

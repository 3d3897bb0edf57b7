/* SPDX-License-Identifier: MIT */
/*
 * races.c - finds data races: plain accesses that are not ordered after a conflicting access.
 *
 * Each access has an epoch: a number that grows after its thread has published its view.  The access happens
 * before an access of another thread if that thread's view contains the epoch.  The accesses that may still
 * race are recorded for each eight bytes.  A recorded access is forgotten when a later access to the same bytes
 * is ordered after it and conflicts with everything with which the recorded access conflicts.
 */
#include "views.h"

#include <string.h>

enum { WORDS = 1 << 12, EACH_MAX = 16, EPOCHS_MAX = 1024 };

struct accesses {
    uint16_t      epoch;
    uint8_t       thread, kind, bytes;  /* bytes: a set */
    const void   *pc;
};

static struct word {
    uintptr_t       number;             /* its address / 8, or 0 for a free entry */
    bool            atomic;             /* some of its bytes have been used as an atomic */
    int             count;
    struct accesses by[EACH_MAX];
} word[WORDS];
static int used[WORDS], used_count;     /* used entries of word[] */

bool races_only_noted;
int races_noted;

void races_reset(void)
{
    for (int i = 0; i < used_count; i++)
        word[used[i]].number = 0;
    used_count = 0;
}

static struct word *word_of(uintptr_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 52);

    for (; word[at].number != number; at = (at + 1) % WORDS) {
        if (word[at].number != 0)
            continue;
        if (used_count > WORDS / 2)
            fail("explorer", "too many words in use");
        word[at].number = number;
        word[at].atomic = false;
        word[at].count = 0;
        used[used_count++] = (int)at;
        break;
    }
    return &word[at];
}

/* ---- Which accesses conflict ---- */

static bool is_write(enum access kind)
{
    return kind == PLAIN_WRITE || kind == ATOMIC_WRITE;
}

static bool is_atomic(enum access kind)
{
    return kind == ATOMIC_READ || kind == ATOMIC_WRITE;
}

static bool conflict(enum access a, enum access b)
{
    return (is_write(a) || is_write(b)) && !(is_atomic(a) && is_atomic(b));
}

/* Does `now` conflict with everything that `before` conflicts with? */
static bool replaces(enum access now, enum access before)
{
    for (int other = PLAIN_READ; other <= ATOMIC_WRITE; other++) {
        if (conflict(before, (enum access)other) && !conflict(now, (enum access)other))
            return false;
    }
    return true;
}

static void found(const void *at, const struct accesses *before, enum access kind, const void *pc)
{
    static const char *const does[] = { "reads", "writes", "loads", "stores to" };
    static const char *const did[] = { "has read", "has written", "has loaded",
                                       "has stored to" };
    char where[200];

    races_noted++;
    if (races_only_noted)
        return;
    snprintf(where, sizeof where, "%s", place_words(pc));
    fail("data race", "T%d %s %s in %s, without an order after T%d, which %s it in %s",
         id_of(self), does[kind], object_words(at), where, before->thread, did[before->kind],
         place_words(before->pc));
}

/* ---- Accesses ---- */

static bool comes_after(const struct accesses *a)
{
    return a->epoch <= view_of[id_of(self)].clock[a->thread];
}

static void in_word(uintptr_t number, unsigned bytes, enum access kind, const void *pc)
{
    struct word *w = word_of(number);
    uint16_t epoch = views_epoch();
    int kept = 0;

    if (is_atomic(kind))
        w->atomic = true;
    for (int i = 0; i < w->count; i++) {
        struct accesses a = w->by[i];

        if ((a.bytes & bytes) != 0 && !comes_after(&a) && conflict(a.kind, kind))
            found((const char *)(number * 8) + __builtin_ctz(a.bytes & bytes), &a, kind, pc);
        if (comes_after(&a) && replaces(kind, a.kind))
            a.bytes &= (uint8_t)~bytes;
        if (a.bytes != 0)
            w->by[kept++] = a;
    }
    if (kept == EACH_MAX)
        fail("explorer", "too many accesses of %s", object_words((const void *)(number * 8)));
    w->by[kept] = (struct accesses){ epoch, (uint8_t)id_of(self), (uint8_t)kind, (uint8_t)bytes,
                                     pc };
    w->count = kept + 1;
    if (kind == PLAIN_WRITE && w->atomic)
        views_plainly_written((const char *)(number * 8) + __builtin_ctz(bytes),
                              (size_t)__builtin_popcount(bytes));
}

/* Is the memory shared?  Other memory, such as errno, belongs to one thread. */
static bool is_shared(const void *at)
{
    return stack_owner(at) >= 0 || heap_offset(at) >= 0 || in_statics(at) || races_only_noted
           || (size_t)((const char *)at - (const char *)sems) < sizeof sems
           || (size_t)((const char *)at - (const char *)tickets) < sizeof tickets
           || (size_t)((const char *)at - (const char *)shares) < sizeof shares
           || (size_t)((const char *)at - (const char *)&the_token) < sizeof the_token;
}

void races_access(const void *at, size_t size, enum access kind, const void *pc)
{
    uintptr_t first = (uintptr_t)at, end = first + size;

    while (first < end && is_shared(at)) {
        uintptr_t number = first / 8, next = (number + 1) * 8 < end ? (number + 1) * 8 : end;
        unsigned bytes = (1u << (next - first)) - 1;

        in_word(number, bytes << first % 8, kind, pc);
        first = next;
    }
}

/*
 * A call of the library returns: its stack frames, below `below`, will be reused.  This counts as a write to
 * the frames: an access of another thread that is not ordered before the return is a race.
 */
void races_leave_frames(const char *below)
{
    const char *top = stack_top(id_of(self));

    for (int i = 0; i < used_count; i++) {
        struct word *w = &word[used[i]];
        const char *at = (const char *)(w->number * 8);

        if (at >= below || at < top - STACK_SIZE)
            continue;
        in_word(w->number, 0xff, PLAIN_WRITE, CALLER);
        w->count = 0;
    }
}

/* ---- As a part of a state ---- */

static uint16_t rank[THREADS][EPOCHS_MAX];
static int epochs[THREADS];     /* number of epochs with ranks: up to the thread's newest epoch */

static void begin_ranks(void)
{
    for (int t = 0; t < THREADS; t++) {
        epochs[t] = view_of[t].clock[t] + 1;
        if (epochs[t] > EPOCHS_MAX)
            fail("explorer", "more than %d epochs", EPOCHS_MAX);
        memset(rank[t], 0, (size_t)epochs[t] * sizeof rank[t][0]);
    }
}

static void prune(struct word *w, const uint16_t known_to_all[THREADS])
{
    int kept = 0;

    for (int i = 0; i < w->count; i++) {
        if (w->by[i].epoch > known_to_all[w->by[i].thread]) {
            rank[w->by[i].thread][w->by[i].epoch] = 1;
            w->by[kept++] = w->by[i];
        }
    }
    w->count = kept;
}

void races_prune(const uint16_t known_to_all[THREADS])
{
    begin_ranks();
    for (int i = 0; i < used_count; i++)
        prune(&word[used[i]], known_to_all);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 1; i < epochs[t]; i++)
            rank[t][i] = (uint16_t)(rank[t][i] + rank[t][i - 1]);
    }
}

uint16_t races_rank(int t, uint16_t clock)
{
    return rank[t][clock < epochs[t] ? clock : epochs[t] - 1];
}

/* A sum, so that the hash does not depend on the order of the records. */
uint64_t races_hash(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < used_count; i++) {
        const struct word *w = &word[used[i]];

        for (int k = 0; k < w->count; k++) {
            const struct accesses *a = &w->by[k];
            uint64_t hash = w->number << 32 ^ (uint64_t)races_rank(a->thread, a->epoch) << 16
                            ^ (uint64_t)a->bytes << 8 ^ (uint64_t)a->thread << 4 ^ a->kind;

            hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
            hash = (hash ^ hash >> 29) * UINT64_C(0xc2b2ae3d27d4eb4f);
            sum += hash ^ hash >> 32;
        }
    }
    return sum;
}

/* SPDX-License-Identifier: MIT */
/*
 * lines.c - cache lines: a core owns a line, or shares the line with other cores that only load it.
 *
 * A line goes to one core at a time, so a variable that many cores use is slow.
 */
#include "explorer.h"
#include "simulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1 << 16, LINE_SHIFT = 6, WORD_BITS = 64 };

struct line {
    uintptr_t number;           /* 0 for a free entry */
    int       from;             /* the core that fetched the line last, or -1 */
    bool      alone;            /* this core owns the line */
    uint64_t  has[MOST_CORES / WORD_BITS];      /* the cores that have the line: a set */
    int64_t   free_at;          /* the end of the last transfer */
};

static struct line lines[LINES];
static int lines_count;

static struct line *line_of(const void *at)
{
    uintptr_t number = (uintptr_t)at >> LINE_SHIFT;
    size_t i = (size_t)(number * 0x9E3779B97F4A7C15u >> 48) % LINES;

    while (lines[i].number != 0 && lines[i].number != number)
        i = (i + 1) % LINES;
    if (lines[i].number == 0) {
        if (++lines_count == LINES) {
            fprintf(stderr, "cores: more than %d cache lines\n", LINES);
            abort();
        }
        lines[i].number = number;
        lines[i].from = -1;
    }
    return &lines[i];
}

static bool has(const struct line *line, int core)
{
    return (line->has[core / WORD_BITS] >> core % WORD_BITS & 1) != 0;
}

static int64_t fetch_time(const struct line *line, int core)
{
    if (line->from < 0)
        return machine.line_new;
    return line->from / machine.socket == core / machine.socket ? machine.line : machine.line_far;
}

static void fetch(struct line *line, int core, bool alone)
{
    if (alone) {
        for (size_t i = 0; i < sizeof line->has / sizeof *line->has; i++)
            line->has[i] = 0;
    }
    line->alone = alone;
    line->from = core;
    line->has[core / WORD_BITS] |= UINT64_C(1) << core % WORD_BITS;
}

/*
 * Does the core keep the line, fetched for a store?  Otherwise the line would go round all cores between the
 * load and the compare-and-swap of a loop, which would hardly ever succeed.
 */
static bool keeps(const struct line *line, const struct core *core)
{
    return core->kept == line->number && core->now <= core->kept_until;
}

void touch(const void *at, enum touch how)
{
    struct line *line;
    struct core *core;
    int64_t begin, ns = how == LOCKED ? machine.atomic : machine.access;
    int number;

    if (self == NULL)
        return;
    line = line_of(at);
    number = self->core;
    core = &cores[number];
    /* All fibres share one errno, but real threads do not: no transfer of the line. */
    if (line->number == (uintptr_t)&errno >> LINE_SHIFT) {
        spend(ns);
        return;
    }
    if ((!has(line, number) || (how != LOAD && !line->alone)) && !keeps(line, core)) {
        begin = line->free_at > now() ? line->free_at : now();
        line->free_at = begin + fetch_time(line, number);
        ns += line->free_at - now();
        fetch(line, number, how != LOAD || line->from < 0);
        if (how != LOAD) {
            core->kept = line->number;
            core->kept_until = line->free_at + machine.atomic + machine.line_kept;
        }
    }
    spend(ns);
}

/* ---- Called by instrument.c ---- */

void access_plain(const void *at, size_t size, bool write, const void *pc)
{
    (void)size;
    (void)pc;
    touch(at, write ? STORE : LOAD);
}

void access_begins(const void *at, size_t size, enum access_kind kind, const void *pc)
{
    (void)size;
    (void)pc;
    touch(at, kind == ACCESS_LOAD ? LOAD : kind == ACCESS_STORE ? STORE : LOCKED);
}

int64_t access_load(const void *at, size_t size, int64_t newest, int order, const void *pc)
{
    (void)at;
    (void)size;
    (void)order;
    (void)pc;
    return newest;
}

bool access_stores(const void *at, size_t size, int64_t value, enum access_kind kind, int order, const void *pc)
{
    (void)at;
    (void)size;
    (void)value;
    (void)kind;
    (void)order;
    (void)pc;
    return true;
}

bool access_swap_fails(const void *at, size_t size, int64_t newest, int64_t *expected, int order, const void *pc)
{
    bool fails = newest != *expected;

    (void)at;
    (void)size;
    (void)order;
    (void)pc;
    *expected = newest;
    return fails;
}

void access_stored(const void *at, size_t size, int64_t before, int64_t now)
{
    (void)at;
    (void)size;
    (void)before;
    (void)now;
}

void access_fence(int order)
{
    (void)order;
    spend(2 * machine.atomic);
}

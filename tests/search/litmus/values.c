/* SPDX-License-Identifier: MIT */
/*
 * values.c - what may a load return, in a thread that runs alone?  Whatever another thread stores
 * there in any run, as far as it can be seen at that moment: too much costs time, as axioms.c
 * refuses it, and too little would be a mistake.
 */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 64, CHOICES = 64 };

int locations;
int64_t location_begins[LOCATIONS];
static int location_first[LOCATIONS];

/* In any run: what a thread stores, and what it leaves behind when it unlocks the nth time. */
struct values {
    int64_t value[VALUES];
    int     nth[VALUES];    /* the least that it can be in the order of all stores there */
    int     count;
    bool    not_always;     /* in some run it stores nothing there */
};
static struct values stored[LOCATIONS][THREADS], left[LOCATIONS][THREADS][SECTIONS];
static uint64_t guards[LOCATIONS];  /* the mutexes that are locked at each of its stores */
static int stores_most[LOCATIONS][THREADS];     /* in one run */
static bool grown;

/* The run that is recorded. */
static int64_t known[LOCATIONS];    /* what the thread has seen or stored last */
static int known_nth[LOCATIONS];
static int changes[LOCATIONS];      /* how often that was the doing of others */
static int stores[LOCATIONS];
static uint64_t held;               /* mutexes, by their locations */
static uint64_t fresh[LOCATIONS];   /* known, or stored, since these mutexes were locked */
static uint64_t stored_in[LOCATIONS];
static int64_t last_holder[LOCATIONS];
static int sections[LOCATIONS];     /* of this mutex, by this thread */

static int choice[CHOICES], choices, chosen, ways[CHOICES];

void give_up(const char *what)
{
    printf("COULD NOT RUN: too many %s\n", what);
    exit(2);
}

static int64_t value_in(const unsigned char *memory, size_t size)
{
    int64_t value = 0;

    memcpy(&value, memory, size);
    return size == 8 ? value : (int64_t)((uint64_t)value << (64 - 8 * size)) >> (64 - 8 * size);
}

int location_of(const void *at, size_t size)
{
    int first = (int)((const unsigned char *)at - shared);

    for (int i = 0; i < locations; i++) {
        if (location_first[i] == first)
            return i;
    }
    if (locations == LOCATIONS)
        give_up("locations");
    location_first[locations] = first;
    location_begins[locations] = known[locations] = value_in(at_first + first, size);
    return locations++;
}

/* ---- Choices: a run makes those of `choice`, and then the first of each ---- */

static int choose(int n)
{
    if (chosen == choices) {
        if (choices == CHOICES)
            give_up("choices");
        choice[choices++] = 0;
    }
    ways[chosen] = n;
    return choice[chosen++];
}

bool next_choices(void)
{
    while (choices > 0 && choice[choices - 1] + 1 >= ways[choices - 1])
        choices--;
    if (choices == 0)
        return false;
    choice[choices - 1]++;
    return true;
}

/* ---- Values ---- */

static void add_value(struct values *to, int64_t value, int nth)
{
    int i = 0;

    while (i < to->count && to->value[i] != value)
        i++;
    if (i == VALUES)
        give_up("values");
    if (i == to->count) {
        to->value[to->count++] = value;
        to->nth[i] = nth;
    } else if (nth < to->nth[i]) {
        to->nth[i] = nth;
    }
}

static void add_values(struct values *to, const struct values *from)
{
    for (int i = 0; i < from->count; i++)
        add_value(to, from->value[i], from->nth[i]);
}

/*
 * Under the mutex that guards a location, the only store that can be seen is the last one before
 * the lock.  NULL: that may be any.  Sets *only to what it must be among; to `nothing` if it is
 * what the thread knows.
 */
static bool is_known_from_section(int location, const struct values **only)
{
    static const struct values nothing;
    uint64_t guard = guards[location] & held;
    int mutex = 0, by, nth;

    if (guard == 0)
        return false;
    while ((guard >> mutex & 1) == 0)
        mutex++;
    by = (int)(last_holder[mutex] - UNLOCKED) / SECTIONS;
    nth = (int)(last_holder[mutex] - UNLOCKED) % SECTIONS;
    *only = &nothing;
    if (last_holder[mutex] == 0 || (fresh[location] >> mutex & 1) != 0)
        return true;
    if (by == self)
        return false;
    *only = &left[location][by][nth];
    return !(*only)->not_always;
}

static int stores_of_others(int location)
{
    int n = 0;

    for (int t = 0; t < THREADS; t++)
        n += t != self ? stores_most[location][t] : 0;
    return n;
}

/*
 * A thread sees the stores to a location in one order, so it sees at most as many changes as others
 * make.  This ends loops.
 */
int64_t guess(int location)
{
    struct values among = { .count = 0 };
    const struct values *only;
    int which;

    if (is_known_from_section(location, &only)) {
        add_values(&among, only);
        if (among.count == 0)
            add_value(&among, known[location], known_nth[location]);
    } else {
        add_value(&among, known[location], known_nth[location]);
        for (int t = 0; t < THREADS && changes[location] < stores_of_others(location); t++) {
            if (t != self)
                add_values(&among, &stored[location][t]);
        }
    }
    which = choose(among.count);
    changes[location] += among.value[which] != known[location];
    known[location] = among.value[which];
    known_nth[location] = among.nth[which];
    fresh[location] |= held;
    return known[location];
}

static void keep_value(struct values *in, int64_t value, int nth)
{
    int count = in->count, before = 0;

    for (int i = 0; i < count; i++)
        before = in->value[i] == value ? in->nth[i] : before;
    add_value(in, value, nth);
    grown = grown || in->count > count || nth < before;
}

/* No execution has more stores to a location than its threads make. */
void note_stored(int location, int64_t value)
{
    int own = ++stores[location];

    known[location] = value;
    known_nth[location]++;
    if (own < stores_most[location][self])
        own = stores_most[location][self];
    if (known_nth[location] > own + stores_of_others(location))
        longjmp(end, IMPOSSIBLE);
    fresh[location] |= held;
    stored_in[location] |= held;
    if ((guards[location] & ~held) != 0) {
        guards[location] &= held;
        grown = true;
    }
    keep_value(&stored[location][self], value, known_nth[location]);
}

/* ---- Mutexes ---- */

/* Each unlock stores another value, so that a lock knows after which one it comes. */
int64_t note_lock(int mutex)
{
    last_holder[mutex] = guess(mutex);
    held |= UINT64_C(1) << mutex;
    for (int i = 0; i < LOCATIONS; i++) {
        fresh[i] &= ~(UINT64_C(1) << mutex);
        stored_in[i] &= ~(UINT64_C(1) << mutex);
    }
    return last_holder[mutex];
}

int64_t note_unlock(int mutex)
{
    int nth = sections[mutex]++;

    if (nth == SECTIONS)
        give_up("sections");
    for (int i = 0; i < locations; i++) {
        struct values *values = &left[i][self][nth];

        if ((stored_in[i] >> mutex & 1) != 0) {
            keep_value(values, known[i], known_nth[i]);
        } else if (!values->not_always) {
            values->not_always = grown = true;
        }
    }
    held &= ~(UINT64_C(1) << mutex);
    return UNLOCKED + self * SECTIONS + nth;
}

/* ---- The begin and the end of a run, and of all of them ---- */

void values_begin(void)
{
    memcpy(known, location_begins, sizeof known);
    memset(known_nth, 0, sizeof known_nth);
    memset(changes, 0, sizeof changes);
    memset(stores, 0, sizeof stores);
    memset(fresh, 0, sizeof fresh);
    memset(stored_in, 0, sizeof stored_in);
    memset(sections, 0, sizeof sections);
    held = 0;
    chosen = 0;
}

void values_end(void)
{
    for (int i = 0; i < locations; i++) {
        if (stores[i] > stores_most[i][self]) {
            stores_most[i][self] = stores[i];
            grown = true;
        }
    }
}

bool values_grow(void)
{
    bool grew = grown;

    grown = false;
    return grew;
}

void values_forget(void)
{
    memset(stored, 0, sizeof stored);
    memset(left, 0, sizeof left);
    memset(guards, 0xff, sizeof guards);
    memset(stores_most, 0, sizeof stores_most);
    locations = choices = 0;
    grown = true;
}

/* SPDX-License-Identifier: MIT */
/*
 * executions.c - all executions of a test: one run of each thread, a store for each load to read
 * from, and an order of the stores to each location.
 */
#include "execution.h"

#include <stdio.h>
#include <string.h>

long executions_count;

static const struct test *test;
static bool thin_air;
static void (*found)(const char *outcome, const char *race);

static const struct run *run_of[THREADS];
const struct event *event[EVENTS];
int thread_of[EVENTS], events;

int rf[EVENTS], position[EVENTS];
relation sb, hb;
static int last_of[LOCATIONS];      /* the last store; INITIAL */
static int last_x, last_y;          /* locations, where a test asks for their last values */

static int last_value(int location)
{
    return (int)(last_of[location] == INITIAL ? location_begins[location]
                                              : event[last_of[location]]->wrote);
}

static void note_execution(void)
{
    char text[THREADS * SAID + 8] = "";

    executions_count++;
    for (int t = 0; t < test->threads; t++)
        strcat(text, run_of[t]->said);
    if (test->last_values)
        snprintf(text + strlen(text), 8, "/%d%d",
                 last_value(last_x), last_value(last_y));
    found(text, find_race());
}

/*
 * The stores to `location` in each order that keeps hb and the read-modify-writes; then those of
 * the next one.  Where only the existence matters, the first order will do.
 */
static bool order_stores(int location, int placed, int last, bool all);

static bool order_next_location(int location, bool all)
{
    int seq_cst = 0;

    if (location + 1 < locations)
        return order_stores(location + 1, 0, INITIAL, all);
    for (int i = 0; i < events; i++)
        seq_cst += is_sc(i);
    if (seq_cst > 1 && !sc_holds())
        return false;
    note_execution();
    return true;
}

static bool order_stores(int location, int placed, int last, bool all)
{
    bool any = false, left = false;

    for (int w = 0; w < events; w++) {
        bool first = position[w] == 0;

        if (event[w]->location != location || !is_write(w) || position[w] != 0)
            continue;
        left = true;
        for (int v = 0; first && v < events; v++) {
            if (event[v]->location == location && is_write(v) && position[v] == 0 && has(hb, v, w))
                first = false;
        }
        if (!first || (event[w]->kind == CHANGE && rf[w] != last))
            continue;
        position[w] = placed + 1;
        any = order_stores(location, placed + 1, w, all) || any;
        position[w] = 0;
        if (any && !all)
            return true;
    }
    if (left || !is_coherent(location))
        return any;
    last_of[location] = last;
    return order_next_location(location, all);
}

static void order_all_stores(void)
{
    bool all = test->last_values;

    for (int i = 0; i < events; i++)
        all = all || is_sc(i);
    memset(position, 0, sizeof position);
    if (locations == 0)
        order_next_location(0, all);
    else
        order_stores(0, 0, INITIAL, all);
}

/* May r read from w?  Not from its own future, not over its own store, not what another changes. */
static bool may_read(int r, int w)
{
    if (w != INITIAL && (event[w]->location != event[r]->location || !is_write(w) || w == r
                         || event[w]->wrote != event[r]->saw || has(sb, r, w)))
        return false;
    if (w == INITIAL && location_begins[event[r]->location] != event[r]->saw)
        return false;
    for (int k = 0; k < events; k++) {
        if (event[k]->location != event[r]->location || k == r)
            continue;
        if (is_write(k) && has(sb, k, r) && (w == INITIAL || has(sb, w, k)))
            return false;
        if (event[r]->kind == CHANGE && event[k]->kind == CHANGE && k < r && rf[k] == w)
            return false;
    }
    return true;
}

static void read_from(int r)
{
    while (r < events && !is_read(r))
        r++;
    if (r == events) {
        if (find_hb() && (thin_air || !has_thin_air()))
            order_all_stores();
        return;
    }
    for (int w = INITIAL; w < events; w++) {
        if (may_read(r, w)) {
            rf[r] = w;
            read_from(r + 1);
        }
    }
}

static void put_together(void)
{
    events = 0;
    for (int t = 0; t < test->threads; t++) {
        for (int i = 0; i < run_of[t]->length; i++) {
            if (events == EVENTS)
                give_up("events in all");
            event[events] = &run_of[t]->event[i];
            thread_of[events++] = t;
        }
    }
    for (int i = 0; i < events; i++) {
        sb[i] = 0;
        for (int k = i + 1; k < events && thread_of[k] == thread_of[i]; k++)
            sb[i] |= ONE(k);
    }
    read_from(0);
}

/*
 * Most runs do not fit together: each value that one reads must be stored by another, or be there
 * from the begin.  The values of all locations have numbers.
 */
static int value_number(int location, int64_t value)
{
    static int of[VALUES_MAX], count;
    static int64_t numbered[VALUES_MAX];

    if (location < 0)
        return count = 0;
    for (int i = 0; i < count; i++) {
        if (of[i] == location && numbered[i] == value)
            return i;
    }
    if (count == VALUES_MAX)
        give_up("values in all");
    of[count] = location;
    numbered[count] = value;
    return count++;
}

static void add_number(struct numbers *to, int location, int64_t value)
{
    int n = value_number(location, value);

    to->bits[n / 64] |= UINT64_C(1) << n % 64;
}

static void find_numbers(void)
{
    value_number(-1, 0);
    for (int t = 0; t < test->threads; t++) {
        for (int i = 0; i < runs_count[t]; i++) {
            struct run *run = &runs[t][i];

            for (int k = 0; k < run->length; k++) {
                const struct event *e = &run->event[k];

                if (e->kind == WRITE || e->kind == CHANGE)
                    add_number(&run->stores, e->location, e->wrote);
                if ((e->kind == READ || e->kind == CHANGE)
                    && e->saw != location_begins[e->location])
                    add_number(&run->needs, e->location, e->saw);
            }
        }
    }
}

static bool are_possible(void)
{
    for (int i = 0; i < VALUES_MAX / 64; i++) {
        uint64_t stores = 0, needs = 0;

        for (int t = 0; t < test->threads; t++) {
            stores |= run_of[t]->stores.bits[i];
            needs |= run_of[t]->needs.bits[i];
        }
        if ((needs & ~stores) != 0)
            return false;
    }
    return true;
}

static void choose_runs(int thread)
{
    if (thread == test->threads) {
        if (are_possible())
            put_together();
        return;
    }
    for (int i = 0; i < runs_count[thread]; i++) {
        run_of[thread] = &runs[thread][i];
        choose_runs(thread + 1);
    }
}

void executions(const struct test *of, bool with_thin_air,
                void (*call)(const char *outcome, const char *race))
{
    test = of;
    thin_air = with_thin_air;
    found = call;
    if (test->last_values) {
        last_x = location_of(&((int64_t *)(void *)shared)['x' - 'a'], 8);
        last_y = location_of(&((int64_t *)(void *)shared)['y' - 'a'], 8);
    }
    executions_count = 0;
    find_numbers();
    choose_runs(0);
}

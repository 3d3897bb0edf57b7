/* SPDX-License-Identifier: MIT */
/*
 * axioms.c - which executions do the axioms of RC11 allow?  With the names of the paper:
 *
 *   sb    before in the same thread           hb     happens before: sb and sw
 *   rf    a store, and a load that reads it   mo     the order of the stores to one location
 *   sw    a release, and an acquire that reads from its release sequence
 *   rb    a load, and a store after the one that it reads from
 *   eco   rf, mo and rb, any number of them
 *
 * Coherence: no event has hb, or hb and eco, to itself.  Atomicity: nothing is stored between the
 * two halves of a read-modify-write.  Seq_cst: psc has no cycle.  No thin air: sb and rf have none.
 *
 * The initial values are the first in each mo, and before all that happens.
 */
#include "execution.h"

#include <string.h>

static bool acquires(int e)
{
    return event[e]->order == memory_order_acquire || event[e]->order == memory_order_acq_rel
           || event[e]->order == memory_order_seq_cst;
}

static bool releases(int e)
{
    return event[e]->order == memory_order_release || event[e]->order == memory_order_acq_rel
           || event[e]->order == memory_order_seq_cst;
}

/* ---- Relations ---- */

static void close(relation r)
{
    for (int k = 0; k < events; k++) {
        for (int i = 0; i < events; i++) {
            if (has(r, i, k))
                r[i] |= r[k];
        }
    }
}

static bool is_cyclic(relation closed)
{
    for (int i = 0; i < events; i++) {
        if (has(closed, i, i))
            return true;
    }
    return false;
}

static void compose(relation result, relation a, relation b)
{
    for (int i = 0; i < events; i++) {
        result[i] = 0;
        for (int k = 0; k < events; k++) {
            if (has(a, i, k))
                result[i] |= b[k];
        }
    }
}

/* ---- hb ---- */

/* The release w, or one by a fence before it, to the acquire `read`, or one by a fence after it. */
static void synchronize(relation r, int w, int read)
{
    for (int from = 0; from < events; from++) {
        bool begins = from == w ? releases(w) && is_write(w)
                                : event[from]->kind == FENCE && releases(from) && has(sb, from, w);

        for (int to = 0; begins && to < events; to++) {
            if (to == read ? acquires(read)
                           : event[to]->kind == FENCE && acquires(to) && has(sb, read, to))
                r[from] |= ONE(to);
        }
    }
}

/* A release sequence: a store, and the read-modify-writes that read from it, one from the other. */
bool find_hb(void)
{
    memcpy(hb, sb, sizeof hb);
    for (int r = 0; r < events; r++) {
        int w = is_read(r) && !event[r]->plain ? rf[r] : INITIAL;

        /* Those that read from each other in a ring have no order: order_stores() finds none. */
        for (int n = 0; n < events && w != INITIAL && !event[w]->plain; n++) {
            synchronize(hb, w, r);
            w = event[w]->kind == CHANGE ? rf[w] : INITIAL;
        }
    }
    close(hb);
    return !is_cyclic(hb);
}

bool has_thin_air(void)
{
    relation r;

    memcpy(r, sb, sizeof r);
    for (int i = 0; i < events; i++) {
        if (is_read(i) && rf[i] != INITIAL)
            r[rf[i]] |= ONE(i);
    }
    close(r);
    return is_cyclic(r);
}

/* ---- Coherence and atomicity, of one location ---- */

/* Where an event reads from, and where it stores. */
static int read_at(int e)
{
    return rf[e] == INITIAL ? 0 : position[rf[e]];
}

bool is_coherent(int location)
{
    for (int a = 0; a < events; a++) {
        if (event[a]->location != location)
            continue;
        if (event[a]->kind == CHANGE && read_at(a) + 1 != position[a])
            return false;
        for (int b = 0; b < events; b++) {
            if (event[b]->location != location || !has(hb, a, b))
                continue;
            if ((is_write(a) && is_write(b) && position[a] >= position[b])
                || (is_write(a) && is_read(b) && position[a] > read_at(b))
                || (is_read(a) && is_write(b) && read_at(a) >= position[b])
                || (is_read(a) && is_read(b) && read_at(a) > read_at(b)))
                return false;
        }
    }
    return true;
}

/* ---- Seq_cst ---- */

static void find_eco(relation mo_rb, relation eco)
{
    for (int i = 0; i < events; i++) {
        mo_rb[i] = eco[i] = 0;
        for (int k = 0; event[i]->location >= 0 && k < events; k++) {
            if (k == i || event[k]->location != event[i]->location || !is_write(k))
                continue;
            if ((is_write(i) && position[i] < position[k])
                || (is_read(i) && read_at(i) < position[k]))
                mo_rb[i] |= ONE(k);
        }
    }
    memcpy(eco, mo_rb, (size_t)events * sizeof eco[0]);
    for (int r = 0; r < events; r++) {
        if (is_read(r) && rf[r] != INITIAL)
            eco[rf[r]] |= ONE(r);
    }
    close(eco);
}

/* sb, or sb to another location, hb, and sb to another location; hb in one location; mo; rb. */
static void find_scb(relation mo_rb, relation scb)
{
    relation away, some, more;

    for (int i = 0; i < events; i++) {
        away[i] = 0;
        scb[i] = sb[i] | mo_rb[i];
        for (int k = 0; k < events; k++) {
            bool same = event[i]->location >= 0 && event[i]->location == event[k]->location;

            if (has(sb, i, k) && !same)
                away[i] |= ONE(k);
            if (has(hb, i, k) && same)
                scb[i] |= ONE(k);
        }
    }
    compose(some, away, hb);
    compose(more, some, away);
    for (int i = 0; i < events; i++)
        scb[i] |= more[i];
}

/* From the seq_cst events, and from what comes before or after their fences. */
bool sc_holds(void)
{
    relation mo_rb, eco, scb, psc, some, more, begins, ends;
    set fences = 0;

    find_eco(mo_rb, eco);
    find_scb(mo_rb, scb);
    memset(begins, 0, sizeof begins);
    memset(ends, 0, sizeof ends);
    for (int i = 0; i < events; i++) {
        if (is_sc(i)) {
            begins[i] = ends[i] = ONE(i);
            if (event[i]->kind == FENCE)
                fences |= ONE(i);
        }
    }
    for (int i = 0; i < events; i++) {
        if ((fences >> i & 1) != 0)
            begins[i] |= hb[i];
        ends[i] |= hb[i] & fences;
    }
    compose(some, begins, scb);
    compose(psc, some, ends);
    compose(some, hb, eco);
    compose(more, some, hb);
    for (int i = 0; i < events; i++) {
        if ((fences >> i & 1) != 0)
            psc[i] |= (hb[i] | more[i]) & fences;
    }
    close(psc);
    return !is_cyclic(psc);
}

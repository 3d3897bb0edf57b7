/* SPDX-License-Identifier: MIT */
/*
 * t_spec_shares.c - random walks of the specification: no share may exceed the bound of shares.
 *
 * The fuzzer and the explorer check this bound, too, but few of their sequences are long enough for one share
 * to get ahead of another.  This test checks only the specification; the fuzzer and the explorer compare the
 * library with it.
 */
#include "suite.h"

#include "spec.c"

#include <string.h>

enum { WALKS = 500, STEPS = 200, MOST_WAIT = 22, WORDS = 24 * STEPS };

static struct spec_request pool[SPEC_QUEUE];
static bool waits[SPEC_QUEUE];
static char words[WORDS];
static size_t length;
static uint64_t dice;

/* Splitmix64, Steele, Lea and Flood 2014. */
static int below(int n)
{
    uint64_t z = dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((z ^ z >> 31) % (uint64_t)n);
}

static void say(const char *format, int64_t n, int share)
{
    int more = snprintf(words + length, sizeof words - length, format, (long long)n, share);

    ck_assert(more >= 0 && (size_t)more < sizeof words - length);
    length += (size_t)more;
}

static void ask(struct spec *s, int units, int priorities)
{
    struct spec_request *r = pool;
    int share = below(SPEC_FLOWS);

    while (waits[r - pool])
        r++;
    *r = (struct spec_request){
        .units = 1 + below(units), .priority = below(priorities), .share = share, .weight = share == 3 ? 3 : 1,
    };
    say("take %lld h%d; ", r->units, share);
    waits[r - pool] = spec_ask(s, r, 0) == SPEC_WAITS;
}

static void give_up(struct spec *s)
{
    const struct spec_request *r = s->queue[below(s->waiters)];

    say("return %lld h%d; ", r->units, r->share);
    spec_leave(s, r);
    waits[r - pool] = false;
}

/* One random step.  With charges, at least one step of ten is a charge. */
static void step(struct spec *s, int units, int priorities, bool charges)
{
    int kind = below(10), n = 1 + below(units), share = 1 + below(SPEC_FLOWS - 1);
    struct spec_request *r;
    int why;

    if (kind < 5 && s->waiters < MOST_WAIT) {
        ask(s, units, priorities);
    } else if (kind < 8) {
        say("release %lld; ", n, 0);
        (void)spec_release(s, n);
    } else if (kind == 8 && s->waiters > 0) {
        give_up(s);
    } else if (charges) {
        say("charge %lld h%d; ", n, share);
        spec_charge(s, share, n);
    }
    while ((r = spec_next(s, true, &why)) != NULL)
        waits[r - pool] = false;
}

static void walk(uint64_t seed, int units, int priorities, bool charges)
{
    const fairsem_attr_t attr = { .capacity = 0 };
    struct spec s;

    dice = seed;
    length = 0;
    memset(waits, 0, sizeof waits);
    ck_assert_int_eq(spec_init(&s, 0, &attr), 0);
    for (int i = 0; i < STEPS; i++) {
        step(&s, units, priorities, charges);
        ck_assert_msg(!s.unfair, "walk %llu exceeds the bound: %s", (unsigned long long)seed, words);
    }
}

/* Walks with requests of one unit, of some units, of many units; with priorities; with charges. */
static const struct { int units, priorities; bool charges; } kinds[] = {
    { 1, 1, false }, { 5, 1, false }, { 60, 1, false }, { 5, 3, false }, { 5, 1, true },
};

START_TEST(no_share_is_granted_more_than_the_bound)
{
    for (int i = 0; i < WALKS; i++)
        walk((uint64_t)i, kinds[_i].units, kinds[_i].priorities, kinds[_i].charges);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("spec");

    tcase_add_loop_test(tcase, no_share_is_granted_more_than_the_bound, 0, sizeof kinds / sizeof kinds[0]);
    return run_case("spec", tcase);
}

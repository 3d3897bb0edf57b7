/* SPDX-License-Identifier: MIT */
/*
 * campaign.c - searches many generated scenarios, each with a limited number of schedules.
 *
 * A scenario is searched without preemptions, then with one, and so on up to the bound, until its schedules are
 * used up.  So small scenarios are searched with all preemptions, and large scenarios at least with fewer.  An
 * incomplete search leaves out one end of the tree, so random schedules follow, half as many.  The first
 * failure of each scenario is minimized and printed.
 */
#include "explorer.h"

#include <string.h>

enum { BOUNDS = 8 };

static struct {
    long scenarios, failed, schedules, merged;
    long complete[BOUNDS];      /* scenarios, by the largest bound of preemptions with a complete search */
    long not_even_none;         /* scenarios of which not even the search without preemptions is complete */
    double seconds;
} total;

static void count(struct outcome outcome)
{
    total.schedules += outcome.runs;
    total.merged += outcome.merged;
}

/*
 * Returns the bound of preemptions with which the scenario failed, or -1.  *complete is the largest bound that
 * was searched completely, or -1.
 */
int search_deeper(const struct scenario *what, struct limits with, int *complete)
{
    struct limits now = with;
    struct outcome outcome = { .complete = true };

    *complete = -1;
    for (int bound = 0; bound <= with.bound && outcome.complete && now.runs > 0; bound++) {
        now.bound = bound;
        outcome = explore(what, now);
        count(outcome);
        if (outcome.failed)
            return bound;
        *complete += outcome.complete;
        now.runs -= outcome.runs + outcome.merged;
    }
    if (*complete == with.bound)
        return -1;
    with.by_chance = true;
    with.merge = false;
    with.runs /= 2;
    outcome = explore(what, with);
    count(outcome);
    return outcome.failed ? with.bound : -1;
}

static void one(unsigned long seed, struct limits with)
{
    const struct scenario *what = generate(seed);
    int complete, failed = search_deeper(what, with, &complete);

    total.scenarios++;
    if (failed < 0) {
        *(complete >= 0 ? &total.complete[complete] : &total.not_even_none) += 1;
        return;
    }
    total.failed++;
    printf("seed-%lu, scenario %ld, after %.1f s\n", seed, total.scenarios,
           seconds_now() - total.seconds);
    minimize_failure(what, with);
}

static void print_total(int bound)
{
    printf("%ld generated scenarios, %ld failed; %ld schedules, and %ld that were merged; %.1f s\n",
           total.scenarios, total.failed, total.schedules, total.merged,
           seconds_now() - total.seconds);
    for (int b = bound; b >= 0; b--)
        printf("    all schedules with at most %d preemptions: %ld\n", b, total.complete[b]);
    if (total.not_even_none > 0)
        printf("    not all schedules without preemptions: %ld\n", total.not_even_none);
    fflush(stdout);
}

/* With a limit of seconds, no scenario begins after that time. */
bool campaign(unsigned long first, unsigned long last, unsigned long every, struct limits with)
{
    double until;
    struct limits each = with;

    memset(&total, 0, sizeof total);
    total.seconds = seconds_now();
    until = total.seconds + with.seconds;
    each.seconds = 0;
    if (each.bound >= BOUNDS)
        each.bound = BOUNDS - 1;
    each.quiet = true;
    for (unsigned long seed = first; seed <= last; seed += every) {
        if (with.seconds > 0 && seconds_now() > until)
            break;
        one(seed, each);
    }
    print_total(each.bound);
    return total.failed == 0;
}

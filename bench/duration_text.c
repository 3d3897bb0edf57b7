/* SPDX-License-Identifier: MIT */
/* duration_text.c - a duration as people write it: 18.9 ns, 26.1 us, 589 ms. */
#include "duration_text.h"

#include <math.h>
#include <stdio.h>

struct duration_text duration_text(double ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    struct duration_text d = { "-" };
    int unit = 0;

    if (isnan(ns))
        return d;
    /* 999.5 would be rounded to 1000 below: take the next unit before that. */
    while (unit < 3 && ns >= 999.5) {
        ns /= 1000;
        unit++;
    }
    snprintf(d.text, sizeof(d.text), "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns,
             units[unit]);
    return d;
}

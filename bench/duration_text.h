/* SPDX-License-Identifier: MIT */
/* duration_text.h - a duration as people write it: 18.9 ns, 26.1 us, 589 ms. */
#ifndef BENCH_DURATION_TEXT_H
#define BENCH_DURATION_TEXT_H

struct duration_text {
    char text[24];
};

/* Three significant digits and the unit; "-" for NaN.
 * The text is returned by value: the caller needs no buffer.
 */
struct duration_text duration_text(double ns);

#endif /* BENCH_DURATION_TEXT_H */

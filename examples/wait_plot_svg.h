/* SPDX-License-Identifier: MIT */
/* wait_plot_svg.h - draw how long somebody waited, as an SVG picture. */
#ifndef WAIT_PLOT_SVG_H
#define WAIT_PLOT_SVG_H

#include <stddef.h>

struct wait_curve {
    const char *name;
    const char *note;    /* behind the name in the legend */
    const double *waits; /* nanoseconds, sorted */
    size_t n;
};

struct wait_plot {
    const char *title, *subtitle;
    const char *caption;      /* one long line; broken in two at a comma if need be */
    double mark_ns;           /* a line across the plot ... */
    const char *mark_label;   /* ... and what it means */
    struct wait_curve curves[2];
};

/* 0 or an errno value. */
int wait_plot_svg(const char *path, const struct wait_plot *plot);

#endif /* WAIT_PLOT_SVG_H */

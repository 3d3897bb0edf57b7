/* SPDX-License-Identifier: MIT */
/* wait_plot_svg.h - draw the lengths of waits, as an SVG picture. */
#ifndef WAIT_PLOT_SVG_H
#define WAIT_PLOT_SVG_H

#include <stddef.h>

struct wait_curve {
    const char *name;
    const char *note;    /* after the name in the legend */
    const double *waits; /* nanoseconds, sorted */
    size_t n;
};

struct wait_plot {
    const char *title, *subtitle;
    const char *caption;      /* one long line; it is broken in two at a comma if need be */
    double mark_ns;           /* a vertical line crosses the plot at this time */
    const char *mark_label;   /* what that line means */
    struct wait_curve curves[2];
};

/* Returns 0 or an errno value. */
int wait_plot_svg(const char *path, const struct wait_plot *plot);

#endif /* WAIT_PLOT_SVG_H */

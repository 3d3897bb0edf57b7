/* SPDX-License-Identifier: MIT */
/*
 * wait_plot_svg.c - draw the lengths of waits, as an SVG picture.
 *
 * For each time on the logarithmic x axis, a curve shows the share of the waits that were over by
 * then; the further left it rises, the better.  The curves differ in dashes and markers too, not in
 * color alone, so the picture can be printed in black and white.
 */
#include "wait_plot_svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 800,
    HEIGHT = 540,
    LEFT = 84, /* the frame of the plot */
    RIGHT = 776,
    TOP = 164,
    BOTTOM = 420,
};

/* The decades of the x axis: 10^first .. 10^last nanoseconds. */
struct axis {
    int first, last;
};

static const struct {
    const char *color, *dashes;
    int round; /* markers: filled circles, or open squares */
} styles[2] = {
    { "#b2182b", "8 5", 0 },
    { "#1f5fa8", "none", 1 },
};

static void escaped(FILE *f, const char *s, size_t n)
{
    for (; n > 0 && *s; s++, n--) {
        switch (*s) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        default: fputc(*s, f);
        }
    }
}

static void text(FILE *f, double x, double y, const char *class, const char *s)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    escaped(f, s, strlen(s));
    fputs("</text>\n", f);
}

static double x_of(const struct axis *a, double ns)
{
    double at = ns > 0 ? (log10(ns) - a->first) / (a->last - a->first) : 0;

    return LEFT + (RIGHT - LEFT) * fmin(fmax(at, 0), 1);
}

static double y_of(double share)
{
    return BOTTOM - (BOTTOM - TOP) * share;
}

/* The axis leaves out the shortest hundredth of the waits: a few very short waits would squeeze the others. */
static struct axis choose_axis(const struct wait_plot *plot)
{
    double low = plot->mark_ns / 2, high = plot->mark_ns * 2;
    struct axis a;

    for (int i = 0; i < 2; i++) {
        const struct wait_curve *c = &plot->curves[i];

        if (c->n == 0)
            continue;
        low = fmin(low, c->waits[c->n / 100]);
        high = fmax(high, c->waits[c->n - 1]);
    }
    a.first = (int)floor(log10(fmax(low, 100)));
    a.last = (int)ceil(log10(high));
    return a;
}

static void draw_x_axis(FILE *f, const struct axis *a)
{
    static const char *const units[] = { "ns", "\302\265s", "ms", "s" };
    char label[32];

    for (int decade = a->first; decade <= a->last; decade++) {
        double x = x_of(a, pow(10, decade));
        int unit = decade / 3 < 3 ? decade / 3 : 3;

        fprintf(f, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, BOTTOM);
        fprintf(f, "<path class=\"tick\" d=\"M%.1f %dv7\"/>\n", x, BOTTOM);
        snprintf(label, sizeof(label), "%.0f %s", pow(10, decade - 3 * unit), units[unit]);
        text(f, x, BOTTOM + 23, "middle", label);
        for (int i = 2; i < 10 && decade < a->last; i++)
            fprintf(f, "<path class=\"tick\" d=\"M%.1f %dv4\"/>\n",
                    x_of(a, i * pow(10, decade)), BOTTOM);
    }
    text(f, (LEFT + RIGHT) / 2.0, BOTTOM + 48, "middle label",
         "how long the victim waited for the unit (logarithmic scale)");
}

static void draw_y_axis(FILE *f)
{
    char label[16];

    for (int percent = 0; percent <= 100; percent += 25) {
        double y = y_of(percent / 100.0);

        fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
        fprintf(f, "<path class=\"tick\" d=\"M%d %.1fh-6\"/>\n", LEFT, y);
        snprintf(label, sizeof(label), "%d %%", percent);
        text(f, LEFT - 11, y + 4, "end", label);
    }
    fprintf(f, "<text class=\"middle label\" transform=\"translate(24 %.1f) rotate(-90)\">"
               "share of waits over by then</text>\n", (TOP + BOTTOM) / 2.0);
}

/* The label is in the margin above the frame, where no curve is. */
static void draw_mark(FILE *f, const struct axis *a, const struct wait_plot *plot)
{
    double x = x_of(a, plot->mark_ns);

    fprintf(f, "<path class=\"mark\" d=\"M%.1f %dV%d\"/>\n", x, TOP - 8, BOTTOM);
    text(f, x, TOP - 14, "middle small", plot->mark_label);
}

static void draw_marker(FILE *f, int style, double x, double y, double size)
{
    if (styles[style].round)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, size,
                styles[style].color);
    else
        fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fff\""
                   " stroke=\"%s\" stroke-width=\"2\"/>\n", x - size, y - size, 2 * size,
                2 * size, styles[style].color);
}

static void draw_line(FILE *f, int style, int end)
{
    fprintf(f, "%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\""
               " stroke-dasharray=\"%s\" stroke-linejoin=\"round\"/>\n",
            end ? "" : "<path d=\"", styles[style].color, styles[style].dashes);
}

/* A curve has a step for each wait, but no more steps than are visible, and a marker at every tenth of the waits. */
static void draw_curve(FILE *f, const struct axis *a, const struct wait_curve *c, int style)
{
    double last_x = LEFT, last_y = BOTTOM;

    if (c->n == 0)
        return;
    fprintf(f, "<path d=\"M%.1f %.1f", x_of(a, c->waits[0]), y_of(0));
    for (size_t i = 0; i < c->n; i++) {
        double x = x_of(a, c->waits[i]);
        double y = y_of((double)(i + 1) / (double)c->n);

        if (x - last_x < 0.7 && last_y - y < 0.7 && i + 1 < c->n)
            continue;
        fprintf(f, "H%.1fV%.1f", x, y);
        last_x = x;
        last_y = y;
    }
    draw_line(f, style, 1);
    for (int tenth = 1; tenth <= 10; tenth++) {
        size_t i = (c->n * (size_t)tenth + 9) / 10 - 1;

        draw_marker(f, style, x_of(a, c->waits[i]), y_of((double)(i + 1) / (double)c->n),
                    tenth == 10 ? 6 : 4);
    }
}

/* The legend is above the plot, where it covers nothing. */
static void draw_legend(FILE *f, const struct wait_plot *plot)
{
    for (int i = 0; i < 2; i++) {
        double y = 88 + 22 * i;

        fprintf(f, "<path d=\"M%d %.1fh56", LEFT, y - 4);
        draw_line(f, i, 1);
        draw_marker(f, i, LEFT + 28, y - 4, 4);
        text(f, LEFT + 68, y, "strong", plot->curves[i].name);
        text(f, LEFT + 136, y, "start", plot->curves[i].note);
    }
}

static void draw_caption(FILE *f, const char *caption)
{
    enum { FITS = 118 };
    size_t length = strlen(caption), first = length;

    text(f, LEFT, HEIGHT - 44, "small",
         "A marker at every tenth of the waits, a large one at the longest.");
    if (length > FITS) {
        /* The second line gets more than a single word. */
        first = length < 2 * FITS ? length * 2 / 3 : FITS;
        while (first > length / 3 && caption[first - 1] != ',')
            first--;
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"small\">", LEFT, HEIGHT - 28);
    escaped(f, caption, first);
    fprintf(f, "</text>\n<text x=\"%d\" y=\"%d\" class=\"small\">", LEFT, HEIGHT - 13);
    escaped(f, caption + first + strspn(caption + first, " "), FITS);
    fputs("</text>\n", f);
}

static void draw(FILE *f, const struct wait_plot *plot)
{
    struct axis a = choose_axis(plot);

    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
               " viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", WIDTH, HEIGHT, WIDTH, HEIGHT);
    escaped(f, plot->title, strlen(plot->title));
    fputs("</title>\n<style>\n"
          "text { font: 13px 'DejaVu Sans', Verdana, sans-serif; fill: #222 }\n"
          ".title { font-size: 20px; font-weight: bold }\n"
          ".strong { font-weight: bold }\n"
          ".label { font-size: 14px }\n"
          ".small { font-size: 11px; fill: #555 }\n"
          ".middle { text-anchor: middle }\n"
          ".end { text-anchor: end }\n"
          ".grid { stroke: #ddd; fill: none }\n"
          ".tick { stroke: #222; fill: none }\n"
          ".mark { stroke: #555; stroke-width: 1.2; stroke-dasharray: 2 3; fill: none }\n"
          "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", f);
    text(f, LEFT, 34, "title", plot->title);
    text(f, LEFT, 56, "small", plot->subtitle);
    draw_legend(f, plot);
    draw_x_axis(f, &a);
    draw_y_axis(f);
    draw_mark(f, &a, plot);
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"tick\"/>\n", LEFT, TOP,
            RIGHT - LEFT, BOTTOM - TOP);
    for (int i = 0; i < 2; i++)
        draw_curve(f, &a, &plot->curves[i], i);
    draw_caption(f, plot->caption);
    fputs("</svg>\n", f);
}

int wait_plot_svg(const char *path, const struct wait_plot *plot)
{
    FILE *f = fopen(path, "w");
    int err;

    if (!f)
        return errno;
    draw(f, plot);
    err = ferror(f) ? EIO : 0;
    if (fclose(f) != 0 && !err)
        err = errno;
    return err;
}

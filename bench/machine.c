/* SPDX-License-Identifier: MIT */
/* machine.c - describe the machine on which the numbers were measured. */
#define _POSIX_C_SOURCE 200809L

#include "machine.h"

#include "clock.h"
#include "pin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER ", sanitizer: figures mean nothing"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER ", sanitizer: figures mean nothing"
#endif
#endif
#ifndef SANITIZER
#define SANITIZER ""
#endif

#ifdef __OPTIMIZE__
#define OPTIMIZED "optimized"
#else
#define OPTIMIZED "NOT optimized"
#endif

#if defined(__clang__)
#define COMPILER __VERSION__ /* it contains the name */
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

/*
 * Copy the first line of a file into `value`.  With a key, copy the text after the colon of the first line that
 * starts with the key.  Without such a line, `value` is empty.
 */
static void file_line(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    FILE *f = fopen(path, "r");

    *value = '\0';
    if (!f)
        return;
    while (!*value && fgets(line, sizeof(line), f)) {
        char *start = key ? strchr(line, ':') : line;

        if (!start || (key && strncmp(line, key, strlen(key)) != 0))
            continue;
        start += key ? 1 + strspn(start + 1, " \t") : 0;
        start[strcspn(start, "\n")] = '\0';
        snprintf(value, size, "%.*s", (int)size - 1, start);
    }
    fclose(f);
}

static void look_at_clock(char *text, size_t size)
{
    enum { READS = 20000 };
    char source[32];
    int64_t start;

    file_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL, source,
              sizeof(source));
    start = now_ns();
    for (int i = 0; i < READS; i++)
        (void)now_ns();
    snprintf(text, size, "CLOCK_MONOTONIC (%s%s%.0f ns a read)", source, *source ? ", " : "",
             (double)(now_ns() - start) / READS);
}

void machine_look(struct machine *m)
{
    struct utsname u;
    char load[64];

    memset(m, 0, sizeof(*m));
    m->cores = pin_cores();
    memset(&u, 0, sizeof(u));
    uname(&u);
    file_line("/proc/cpuinfo", "model name", m->cpu, sizeof(m->cpu));
    if (!*m->cpu)
        snprintf(m->cpu, sizeof(m->cpu), "%.*s processor", (int)sizeof(m->cpu) - 12, u.machine);
    snprintf(m->kernel, sizeof(m->kernel), "%.32s %.64s %.24s", u.sysname, u.release, u.machine);
#ifdef _CS_GNU_LIBC_VERSION
    (void)confstr(_CS_GNU_LIBC_VERSION, m->libc, sizeof(m->libc));
#endif
    if (!*m->libc)
        snprintf(m->libc, sizeof(m->libc), "libc unknown");
    /* The average of the last minute shows whether others use the machine. */
    file_line("/proc/loadavg", NULL, load, sizeof(load));
    if (sscanf(load, "%lf", &m->load) != 1)
        m->load = NAN;
    look_at_clock(m->clock, sizeof(m->clock));
    snprintf(m->compiler, sizeof(m->compiler), "%.40s, %s%s", COMPILER, OPTIMIZED, SANITIZER);
}

void machine_line(const struct machine *m, char *line, size_t size)
{
    char load[32] = "";

    if (!isnan(m->load))
        snprintf(load, sizeof(load), ", load %.1f", m->load);
    snprintf(line, size, "%s, %d core%s%s, %s, %s, %s, %s", m->cpu, m->cores,
             m->cores == 1 ? "" : "s", load, m->kernel, m->libc, m->clock, m->compiler);
}

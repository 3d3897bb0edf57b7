/* SPDX-License-Identifier: MIT */
/* machine.c - describe the machine on which the numbers were measured. */
#define _POSIX_C_SOURCE 200809L

#include "machine.h"

#include "clock.h"
#include "pin.h"

#include <math.h>
#include <stdbool.h>
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

#ifdef FS_FUTEX_BY_DEFAULT
#define PARKER "futexes"
#else
#define PARKER "POSIX condition variables"
#endif

/* Copy the text after the colon of the first line that starts with key; false if none does. */
static bool cpuinfo_value(const char *key, char *value, size_t size)
{
    char line[256];
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "r");

    if (!f)
        return false;
    while (!found && fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');

        if (!colon || strncmp(line, key, strlen(key)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(value, size, "%.*s", (int)size - 1, colon);
        found = *value != '\0';
    }
    fclose(f);
    return found;
}

static void look_at_clock(char *text, size_t size)
{
    enum { READS = 20000 };
    char source[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    int64_t start;

    if (f) {
        if (!fgets(source, sizeof(source), f))
            source[0] = '\0';
        source[strcspn(source, "\n")] = '\0';
        fclose(f);
    }
    start = now_ns();
    for (int i = 0; i < READS; i++)
        (void)now_ns();
    snprintf(text, size, "CLOCK_MONOTONIC (%s%s%.0f ns a read)", source, *source ? ", " : "",
             (double)(now_ns() - start) / READS);
}

/* The load average of the last minute: other users of the machine disturb us. */
static double load_average(void)
{
    double load = NAN;
    FILE *f = fopen("/proc/loadavg", "r");

    if (!f)
        return NAN;
    if (fscanf(f, "%lf", &load) != 1)
        load = NAN;
    fclose(f);
    return load;
}

void machine_look(struct machine *m)
{
    struct utsname u;

    memset(m, 0, sizeof(*m));
    m->cores = pin_cores();
    memset(&u, 0, sizeof(u));
    uname(&u);
    if (!cpuinfo_value("model name", m->cpu, sizeof(m->cpu)))
        snprintf(m->cpu, sizeof(m->cpu), "%.*s processor", (int)sizeof(m->cpu) - 12, u.machine);
    snprintf(m->kernel, sizeof(m->kernel), "%.32s %.64s %.24s", u.sysname, u.release, u.machine);
    snprintf(m->libc, sizeof(m->libc), "libc unknown");
#ifdef _CS_GNU_LIBC_VERSION
    if (confstr(_CS_GNU_LIBC_VERSION, m->libc, sizeof(m->libc)) == 0)
        snprintf(m->libc, sizeof(m->libc), "libc unknown");
#endif
    m->load = load_average();
    look_at_clock(m->clock, sizeof(m->clock));
    snprintf(m->parker, sizeof(m->parker), "%s", PARKER);
    snprintf(m->compiler, sizeof(m->compiler), "%.40s, %s%s", COMPILER, OPTIMIZED, SANITIZER);
}

void machine_line(const struct machine *m, char *line, size_t size)
{
    char load[32] = "";

    if (!isnan(m->load))
        snprintf(load, sizeof(load), ", load %.1f", m->load);
    snprintf(line, size, "%s, %d core%s%s, %s, %s, %s, %s, fairsem on %s", m->cpu, m->cores,
             m->cores == 1 ? "" : "s", load, m->kernel, m->libc, m->clock, m->compiler, m->parker);
}

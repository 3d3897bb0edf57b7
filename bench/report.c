/* SPDX-License-Identifier: MIT */
/* report.c - see report.h. */
#include "report.h"

#include "machine.h"

#include <fairsem.h>
#include <math.h>
#include <stdio.h>

static void quoted(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        if ((unsigned char)*s >= ' ')
            putchar(*s);
    }
    putchar('"');
}

void report_begin(bool quick)
{
    struct machine machine;
    char line[512];

    machine_look(&machine);
    machine_line(&machine, line, sizeof(line));
    printf("{\"fairsem\":\"%s\",\"quick\":%s,\"machine\":", FAIRSEM_VERSION_STRING,
           quick ? "true" : "false");
    quoted(line);
    printf("}\n");
}

static void names(const char *workload, const char *setting, const char *peer)
{
    printf("{\"workload\":");
    quoted(workload);
    printf(",\"setting\":");
    quoted(setting);
    printf(",\"peer\":");
    quoted(peer);
}

void report_figures(const char *workload, const char *setting, const char *peer,
                    const struct figure *figures)
{
    names(workload, setting, peer);
    for (; figures->name; figures++) {
        if (isfinite(figures->value))
            printf(",\"%s\":%.6g", figures->name, figures->value);
    }
    printf("}\n");
}

void report_list(const char *workload, const char *setting, const char *peer, const char *name,
                 const double *values, size_t count)
{
    names(workload, setting, peer);
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.6g", i ? "," : "", values[i]);
    printf("]}\n");
}

void report_note(const char *text)
{
    fprintf(stderr, "fairsem-bench: %s\n", text);
}

/* SPDX-License-Identifier: MIT */
/* metrics.c - see metrics.h. */
#define _GNU_SOURCE
#include "metrics.h"

#include "run/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum metric { LIMIT_IS, FREE, RUNNING, WAITING, OLDEST, WAITED, TIMEOUTS, LOST, FAILED, METRICS };

static const struct { const char *name, *type, *help; } metrics[METRICS] = {
    [LIMIT_IS] = { "units", "gauge", "The limit." },
    [FREE] = { "free_units", "gauge", "Free units; below 0 after a smaller limit." },
    [RUNNING] = { "running", "gauge", "Commands that run." },
    [WAITING] = { "waiting", "gauge", "Commands in line." },
    [OLDEST] = { "oldest_wait_seconds", "gauge", "For how long the oldest command in line has waited." },
    [WAITED] = { "wait_seconds", "histogram", "How long commands that had to wait have waited." },
    [TIMEOUTS] = { "timeouts_total", "counter", "Commands that waited too long." },
    [LOST] = { "lost_total", "counter", "Commands that were killed in line." },
    [FAILED] = { "status_failed", "gauge", "1: a name could not be read, and stderr says why." },
};

/* A file in memory.  Each line begins with the number of its metric.  Child processes append lines, too. */
static FILE *samples;

int metrics_begin(void)
{
    int fd = memfd_create("metrics", MFD_CLOEXEC);

    samples = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (samples == NULL || fcntl(fd, F_SETFL, O_APPEND) != 0)
        return errno;
    setvbuf(samples, NULL, _IOLBF, BUFSIZ);
    return 0;
}

static void print_label(const char *text)
{
    while (*text != '\0') {
        size_t bytes = character_length((const unsigned char *)text);

        if (bytes == 0)
            fputs("\xef\xbf\xbd", samples);        /* U+FFFD for invalid UTF-8 */
        else if (*text == '\n')
            fputs("\\n", samples);
        else if (*text == '"' || *text == '\\')
            fprintf(samples, "\\%c", *text);
        else
            fwrite(text, 1, bytes, samples);
        text += bytes != 0 ? bytes : 1;
    }
}

/* Write a line up to its value.  `le` is the upper bound of a bucket, or NULL for any other sample. */
static void begin_sample(const struct shown_name *name, enum metric metric, const char *suffix, const char *le)
{
    fprintf(samples, "%d fairsem_limit_%s%s{name=\"", metric, metrics[metric].name, suffix);
    print_label(name->name);
    fprintf(samples, "\",scope=\"%s\"", name->cluster ? "cluster" : name->global ? "global" : "user");
    if (le != NULL)
        fprintf(samples, ",le=\"%s\"", le);
    fputs("} ", samples);
}

static void add_number(const struct shown_name *name, enum metric metric, const char *suffix, int64_t value)
{
    begin_sample(name, metric, suffix, NULL);
    fprintf(samples, "%" PRId64 "\n", value);
}

static void add_seconds(const struct shown_name *name, enum metric metric, const char *suffix, int64_t ns)
{
    begin_sample(name, metric, suffix, NULL);
    fprintf(samples, "%.9f\n", (double)ns / 1e9);
}

/* Buckets are cumulative: each counts all waits up to its bound. */
static void add_histogram(const struct shown_name *name)
{
    uint64_t sum = 0;
    char le[30] = "";

    for (int i = 0; i < FAIRSEM_WAIT_BUCKETS; i++) {
        sum += name->counts[i];
        if (i < FAIRSEM_WAIT_BUCKETS - 1)
            snprintf(le, sizeof le, "%.6f", (double)(INT64_C(1) << i) / 1e6);
        begin_sample(name, WAITED, "_bucket", i < FAIRSEM_WAIT_BUCKETS - 1 ? le : "+Inf");
        fprintf(samples, "%" PRIu64 "\n", sum);
    }
    add_seconds(name, WAITED, "_sum", name->stat->wait_ns_total);
    add_number(name, WAITED, "_count", (int64_t)sum);
}

void metrics_add(const struct shown_name *name)
{
    add_number(name, LIMIT_IS, "", name->limit);
    add_number(name, FREE, "", name->free);
    add_number(name, RUNNING, "", name->running);
    add_number(name, WAITING, "", name->waiting);
    if (name->stat == NULL)
        return;
    add_seconds(name, OLDEST, "", name->stat->oldest_wait_ns);
    add_histogram(name);
    add_number(name, TIMEOUTS, "", name->stat->timeouts);
    add_number(name, LOST, "", name->stat->lost);
}

static void print_metric(enum metric metric)
{
    bool begun = false;
    char *line = NULL, *end;
    size_t size = 0;

    rewind(samples);
    while (getline(&line, &size, samples) > 0) {
        if (strtol(line, &end, 10) != (long)metric)
            continue;
        if (!begun)
            printf("# HELP fairsem_limit_%s %s\n# TYPE fairsem_limit_%s %s\n", metrics[metric].name,
                   metrics[metric].help, metrics[metric].name, metrics[metric].type);
        begun = true;
        fputs(end + 1, stdout);
    }
    free(line);
}

int metrics_print(bool failed)
{
    int error;

    fprintf(samples, "%d fairsem_limit_%s %d\n", FAILED, metrics[FAILED].name, failed);
    error = fflush(samples) != 0 || ferror(samples) ? EIO : 0;
    for (enum metric metric = LIMIT_IS; metric < METRICS; metric++)
        print_metric(metric);
    fclose(samples);
    return error;
}

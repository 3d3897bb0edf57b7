/* SPDX-License-Identifier: MIT */
/*
 * foreign.c - semaphores of other languages, each in a process of its own.
 *
 * The process lives as long as the workload, so its repetitions take turns with those of the
 * others and its compiler has warmed up.  It reads a line for each repetition from its standard
 * input and answers with a line of numbers: see foreign/README.md.
 */
#define _POSIX_C_SOURCE 200809L

#include "foreign.h"

#include "die.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct foreign {
    const char *name, *word; /* for people; for foreign.sh */
    bool threads;
    pid_t pid;
    FILE *to, *from; /* NULL: it does not run */
} peers[FOREIGN_PEERS] = {
    { .name = "Java fair", .word = "java", .threads = true },
    { .name = "Go Weighted", .word = "go" },
    { .name = "tokio", .word = "tokio" },
};

const char *foreign_name(int which)
{
    return peers[which].name;
}

bool foreign_has_threads(int which)
{
    return peers[which].threads;
}

static noreturn void become(const char *script, const char *word, int in, int out)
{
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execl("/bin/sh", "sh", script, word, (char *)NULL);
    _exit(127);
}

/* Our end must not stay open in a child: a peer ends when its input ends. */
static void keep(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void start(struct foreign *f, const char *script)
{
    int to[2], from[2];

    if (pipe(to) != 0 || pipe(from) != 0)
        die("pipe", errno);
    keep(to[1]);
    keep(from[0]);
    fflush(stdout);
    f->pid = fork();
    if (f->pid < 0)
        die("fork", errno);
    if (f->pid == 0)
        become(script, f->word, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    f->to = fdopen(to[1], "w");
    f->from = fdopen(from[0], "r");
    if (!f->to || !f->from)
        die("fdopen", errno);
}

static void end(struct foreign *f)
{
    if (!f->from)
        return;
    fclose(f->to);
    fclose(f->from);
    f->to = f->from = NULL;
    waitpid(f->pid, NULL, 0);
}

/* Read "ready", or the reason why it is not. */
static void await_ready(struct foreign *f)
{
    char line[200] = "", note[256];

    if (fgets(line, sizeof(line), f->from) && strcmp(line, "ready\n") == 0)
        return;
    line[strcspn(line, "\n")] = '\0';
    snprintf(note, sizeof(note), "%s skipped: %s", f->name, *line ? line : "it did not start");
    report_note(note);
    end(f);
}

void foreign_start(void)
{
    const char *directory = getenv("FAIRSEM_BENCH_FOREIGN");
    char script[4096];

    snprintf(script, sizeof(script), "%s/foreign.sh", directory ? directory : FOREIGN_DIRECTORY);
    if (access(script, R_OK) != 0) {
        report_note("semaphores of other languages skipped: no foreign.sh");
        return;
    }
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < FOREIGN_PEERS; i++) {
        start(&peers[i], script);
        await_ready(&peers[i]);
    }
}

/* holds longest-ns median-ns p99-ns least-share passed cpu-ns duration-ns */
static bool parse(const char *line, const struct arena_plan *plan, struct arena_result *r)
{
    double holds, cpu, duration;

    memset(r, 0, sizeof(*r));
    if (sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf", &holds, &r->longest_ns, &r->median_ns,
               &r->p99_ns, &r->least_share, &r->passed, &cpu, &duration) != 8)
        return false;
    r->per_second = holds * 1e9 / duration;
    r->cpu_ns = holds > 0 ? cpu / holds : NAN;
    if (plan->units != 1)
        r->passed = NAN;
    return true;
}

bool foreign_run(int which, const struct arena_plan *plan, struct arena_result *result)
{
    struct foreign *f = &peers[which];
    char line[300];

    if (!f->from)
        return false;
    fprintf(f->to, "%" PRId64 " %d %" PRId64 " %" PRId64 " %" PRId64 "\n", plan->hold_ns,
            plan->threads, plan->units, plan->warm_up_ns, plan->duration_ns);
    if (fflush(f->to) == 0 && fgets(line, sizeof(line), f->from) && parse(line, plan, result))
        return true;
    snprintf(line, sizeof(line), "%s: no answer, left out from here on", f->name);
    report_note(line);
    end(f);
    return false;
}

void foreign_end(void)
{
    for (int i = 0; i < FOREIGN_PEERS; i++)
        end(&peers[i]);
}

/* SPDX-License-Identifier: MIT */
/* trace.c - prints a run: thread, operation, object and function of each step. */
#include "explorer.h"

#include "ticket.h"

#include <string.h>

/* ---- Objects ---- */

static const struct { size_t offset; const char *name; } sem_member[] = {
    { offsetof(struct fs_sem, word), "word" },
    { offsetof(struct fs_sem, limit), "limit" },
    { offsetof(struct fs_sem, mutex), "mutex" },
    { offsetof(struct fs_sem, queue), "queue" },
    { offsetof(struct fs_sem, waiters), "waiters" },
    { offsetof(struct fs_sem, in_section), "in_section" },
    { offsetof(struct fs_sem, far), "far" },
    { offsetof(struct fs_sem, closed), "closed" },
    { offsetof(struct fs_sem, waiting_low), "counters" },
    { offsetof(struct fs_sem, generation), "generation" },
    { offsetof(struct fs_sem, max_waiters), "settings" },
};

static const char *member_at(size_t offset)
{
    const char *name = "";

    for (size_t i = 0; i < sizeof sem_member / sizeof sem_member[0]; i++) {
        if (sem_member[i].offset <= offset)
            name = sem_member[i].name;
    }
    return name;
}

static bool within(const void *at, const void *array, size_t size, size_t *offset)
{
    *offset = (size_t)((const char *)at - (const char *)array);
    return *offset < size;
}

/* A result stays valid for the next three calls, so that one message can use several results. */
const char *object_words(const void *object)
{
    static char buffer[4][80];
    static int next;
    char *text = buffer[next++ % 4];
    size_t offset;

    if (object == NULL)
        return "";
    if (within(object, sems, sizeof sems, &offset))
        snprintf(text, 80, "sem%d.%s", (int)(offset / sizeof sems[0]),
                 member_at(offset % sizeof sems[0]));
    else if (within(object, &the_token, sizeof the_token, &offset))
        snprintf(text, 80, "token%s", offset == 0 ? ".mutex" : "");
    else if (within(object, tickets, sizeof tickets, &offset))
        snprintf(text, 80, "ticket%d%s", (int)(offset / sizeof tickets[0]),
                 offset % sizeof tickets[0] == offsetof(struct fs_ticket, callback.waiter.state) ? ".state" : "");
    else if (within(object, shares, sizeof shares, &offset))
        snprintf(text, 80, "share%d", (int)(offset / sizeof shares[0]) + 1);
    else if (stack_owner(object) >= 0)
        snprintf(text, 80, "T%d's waiter", stack_owner(object));
    else if (heap_offset(object) >= 0)
        snprintf(text, 80, "parker at %d", heap_offset(object));
    else
        snprintf(text, 80, "a static at %p", object);
    return text;
}

/* ---- Places in the source, from addr2line ---- */

const char *place_words(const void *pc)
{
    static char text[300];
    char command[200], function[100] = "", file[160] = "";
    const char *name;
    FILE *pipe;

    snprintf(command, sizeof command, "addr2line -f -s -e /proc/%ld/exe %p 2> /dev/null",
             (long)getpid(), (const void *)((const char *)pc - 1));
    pipe = popen(command, "r");
    if (pipe == NULL)
        return "";
    if (fgets(function, sizeof function, pipe) == NULL || fgets(file, sizeof file, pipe) == NULL)
        function[0] = file[0] = '\0';
    pclose(pipe);
    function[strcspn(function, "\n")] = '\0';
    file[strcspn(file, " \n")] = '\0';
    name = strrchr(file, '/');
    snprintf(text, sizeof text, "%s (%s)", function, name != NULL ? name + 1 : file);
    return text;
}

void trace_step(const struct thread *t, enum reason reason)
{
    static const char *const why[] = {
        [BY_TURN] = "", [TIME_OUT] = ": it times out", [NO_REASON] = ": wakes for no reason",
        [SIGNAL] = ": a signal", [PTHREAD_CANCEL] = ": pthread_cancel",
    };
    bool slept = t->at == SLEEPS_ON_COND || t->at == SLEEPS_ON_WORD || t->at == POLLS
                 || t->at == PAUSES;

    printf("T%d %s%s %s%s", id_of(t), slept ? "no longer " : "", t->doing,
           object_words(t->object), why[reason]);
    if (t->pc != NULL)
        printf("%*s in %s", 4, "", place_words(t->pc));
    printf("\n");
}

/* SPDX-License-Identifier: MIT */
/*
 * dropin.c - the cost of sem_wait and sem_post as this program gets them, compared with libc's own.  Under
 * fairsem-run, the program gets those of fairsem.  Both pairs are called through pointers: dlsym() finds the
 * program's by name, as the dynamic linker does, and libc's own in libc itself.
 */
#define _GNU_SOURCE

#include "clock.h"
#include "die.h"
#include "loops.h"
#include "report.h"
#include "workloads.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>

enum { BATCH = 4096, KINDS = 2 };

struct calls {
    const char *name;
    int (*init)(sem_t *, int, unsigned);
    int (*wait)(sem_t *);
    int (*post)(sem_t *);
    sem_t sem;
};

static void find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    if (!found)
        die(name, 0);
    memcpy(function, &found, sizeof(found));
}

static void find_all(struct calls *c, void *handle, const char *name)
{
    c->name = name;
    find(handle, "sem_init", &c->init);
    find(handle, "sem_wait", &c->wait);
    find(handle, "sem_post", &c->post);
}

static int pairs(void *calls)
{
    struct calls *c = calls;
    int failed = 0;

    for (int i = 0; i < BATCH; i++)
        failed |= c->wait(&c->sem) | c->post(&c->sem);
    return failed;
}

static void *libc_itself(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);

    if (!libc)
        die("libc.so.6 cannot be loaded", 0);
    return libc;
}

bool dropin_is_used(void)
{
    int (*ours)(sem_t *), (*libcs)(sem_t *);

    find(RTLD_DEFAULT, "sem_wait", &ours);
    find(libc_itself(), "sem_wait", &libcs);
    return ours != libcs;
}

void dropin_run(bool quick)
{
    static struct calls calls[KINDS];
    struct loop_peer both[KINDS + 1] = { { NULL, NULL, NULL } };

    find_all(&calls[0], RTLD_DEFAULT, "the program's");
    find_all(&calls[1], libc_itself(), "libc's own");
    for (int k = 0; k < KINDS; k++) {
        calls[k].init(&calls[k].sem, 0, 10);
        both[k] = (struct loop_peer){ calls[k].name, pairs, &calls[k] };
    }
    if (!dropin_is_used())
        report_note("both are libc's: run  fairsem-run fairsem-bench dropin");
    loop_alone(&(struct loop_alone){ "dropin", "wait and post", both, BATCH, quick });
}

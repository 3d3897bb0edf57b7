/* SPDX-License-Identifier: MIT */
/* preload.c - see preload.h. */
#define _GNU_SOURCE
#include "preload.h"

#include "command.h"
#include "preload/cells.h"

#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULE_ENV "FAIRSEM_MODULE"     /* names a module to use instead of the installed one */

const char *preload_module(void)
{
    const char *path = getenv(MODULE_ENV);
    void *module, *libc, *found;

    if (path == NULL || *path == '\0')
        path = FAIRSEM_MODULE_PATH;
    /* The loader splits LD_PRELOAD at spaces and colons. */
    if (strpbrk(path, " :") != NULL) {
        warnx("%s: a path with a space or a colon cannot be preloaded", path);
        return NULL;
    }
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        warnx("the interposer cannot be loaded: %s", dlerror());
        return NULL;
    }
    /* dlsym also searches the dependencies of a module, so in a wrong module it may find libc's sem_wait. */
    libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    found = dlsym(module, "sem_wait");
    if (found == NULL || (libc != NULL && found == dlsym(libc, "sem_wait"))) {
        warnx("%s is not the interposer", path);
        return NULL;
    }
    return path;
}

bool preload_set(const char *first, const char *module)
{
    const char *others = getenv("LD_PRELOAD");
    char *list;
    bool done;

    if (first == NULL)
        first = "";
    if (others == NULL)
        others = "";
    if (asprintf(&list, "%s%s%s%s%s", first, *first != '\0' ? ":" : "", others,
                 *others != '\0' ? ":" : "", module) < 0)
        return false;
    done = setenv("LD_PRELOAD", list, 1) == 0;
    free(list);
    return done;
}

/* Runs in a process that was started with the module: does sem_init reach the module? */
int preload_is_active(void)
{
    sem_t sem;
    int value = -1;
    uint64_t word;

    memset(&sem, 0, sizeof sem);
    if (sem_init(&sem, 0, 3) != 0 || sem_wait(&sem) != 0 || sem_getvalue(&sem, &value) != 0
        || value != 2)
        return 1;
    memcpy(&word, &sem, sizeof word);
    return fs_is_plain(word) ? 0 : 1;
}

int preload_check(const char *module)
{
    int status;
    pid_t child;

    signal(SIGCHLD, SIG_DFL);       /* if SIGCHLD is ignored, waitpid fails */
    child = fork();
    if (child == 0) {
        if (preload_set(NULL, module))
            execl("/proc/self/exe", "fairsem-run", PRELOAD_IS_ACTIVE, (char *)NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        warn(NULL);
        return OWN_FAILURE;
    }
    if (status != 0) {
        warnx("%s was preloaded, but is not active", module);
        return OWN_FAILURE;
    }
    printf("fairsem-run: active: %s\n", module);
    return fflush(stdout) == 0 ? 0 : OWN_FAILURE;
}

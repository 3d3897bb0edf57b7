/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - the library loaded at run time, its functions looked up by name.  A program that
 * includes this file is not linked to the library, and defines _DEFAULT_SOURCE (for RTLD_NOLOAD).
 */
#ifndef LOADED_H
#define LOADED_H

#include "suite.h"

#include <dlfcn.h>
#include <fairsem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int     (*acquire)(fairsem_t *sem, int64_t n);
static int     (*release)(fairsem_t *sem, int64_t n);
static int64_t (*waiters)(const fairsem_t *sem);
static int64_t (*available)(const fairsem_t *sem);

/* The path of a file in the build directory. */
static inline const char *built(const char *file)
{
    static char path[4096];
    const char *build = getenv("top_builddir");

    snprintf(path, sizeof path, "%s/%s", build != NULL ? build : ".", file);
    return path;
}

static inline void look_up(void *object, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(object, name);

    ck_assert_ptr_nonnull(symbol);
    memcpy(function, &symbol, size);        /* ISO C has no cast to a function pointer */
}

static inline void *load(const char *file)
{
    void *object = dlopen(built(file), RTLD_NOW | RTLD_LOCAL);

    ck_assert_msg(object != NULL, "%s", dlerror());
    look_up(object, "fairsem_acquire", &acquire, sizeof acquire);
    look_up(object, "fairsem_release", &release, sizeof release);
    look_up(object, "fairsem_waiters", &waiters, sizeof waiters);
    look_up(object, "fairsem_available", &available, sizeof available);
    return object;
}

static inline bool is_mapped(const char *file)
{
    return dlopen(built(file), RTLD_NOW | RTLD_NOLOAD) != NULL;
}

#endif

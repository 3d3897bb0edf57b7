/* SPDX-License-Identifier: MIT */
/* next.h - find the functions of the C library that this module replaces. */
#ifndef FS_NEXT_H
#define FS_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Marks a function of this module that replaces one of libc; interpose.map lists these functions. */
#define EXPORT __attribute__((visibility("default")))

/*
 * Store the next function with this name, or NULL, in the function pointer at `function`.  ISO C does not
 * convert the result of dlsym to a function pointer, so the bytes are copied.
 */
static inline void fs_find_next(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof found);
}

/*
 * Call `find`, unless an earlier call of `find` has returned.  Two threads may call `find` at once, and write
 * the same values.  pthread_once() is not used: a sanitizer that is loaded before this module calls our
 * functions before its own pthread_once() works.  Release order: a thread that finds *found_all true must see
 * the values.
 */
static inline void fs_find_once(_Atomic bool *found_all, void (*find)(void))
{
    if (atomic_load_explicit(found_all, memory_order_acquire))
        return;
    find();
    atomic_store_explicit(found_all, true, memory_order_release);
}

#endif

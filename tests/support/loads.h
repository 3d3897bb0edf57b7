/* SPDX-License-Identifier: MIT */
/*
 * loads.h - a place to step in at every atomic load of library code that a test includes.
 *
 * Define `static void loaded(const volatile void *object)` before, which is called after each
 * load; include the library's file behind.
 */
#ifndef LOADS_H
#define LOADS_H

#include <stdatomic.h>

#if defined(__clang__)
#define LOAD __c11_atomic_load
#else
#define LOAD __atomic_load_n
#endif

#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                            \
    __extension__({                                                                    \
        __auto_type loaded_value = LOAD(object, order);                                \
        loaded(object);                                                                \
        loaded_value;                                                                  \
    })

#endif

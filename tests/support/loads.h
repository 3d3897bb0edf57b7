/* SPDX-License-Identifier: MIT */
/*
 * loads.h - calls a function of the test after each atomic load in library code.
 *
 * Define `static void loaded(const volatile void *object)` before you include this file, and
 * include the library's source file after it.
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

/* SPDX-License-Identifier: MIT */
/* annotate.c - finds the tool that watches this program, if any; see annotate.h. */
#include "tools/annotate.h"

#if defined(FS_WEAK) && !defined(FS_INSTRUMENTED)

bool fs_instrumented;

/* Functions of ThreadSanitizer; NULL unless the program was compiled with it. */
void __tsan_acquire(const void *object) FS_WEAK;
void __tsan_release(const void *object) FS_WEAK;

/* Defined in a Go program compiled with -race, whose race detector does not know C threads. */
void __tsan_go_start(void) FS_WEAK;

/* Priority 101: before constructors that use semaphores. */
__attribute__((constructor(101))) static void detect(void)
{
    fs_under_valgrind = fs_valgrind_watches();
    fs_instrumented = fs_under_valgrind
        || (__tsan_acquire != NULL && __tsan_release != NULL && __tsan_go_start == NULL);
}

void fs_happens_before(const void *object)
{
    if (fs_under_valgrind)
        fs_valgrind_before(object);
    else
        __tsan_release(object);
}

void fs_happens_after(const void *object)
{
    if (fs_under_valgrind)
        fs_valgrind_after(object);
    else
        __tsan_acquire(object);
}

#else
typedef int translation_unit_not_empty;
#endif

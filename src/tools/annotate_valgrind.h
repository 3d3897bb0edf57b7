/* SPDX-License-Identifier: MIT */
/* annotate_valgrind.h - annotations for helgrind and DRD; annotate.h says why. */
#ifndef FS_ANNOTATE_VALGRIND_H
#define FS_ANNOTATE_VALGRIND_H

#include "tools/compiler.h"

#include <stdbool.h>
#include <stddef.h>

#if !defined(FS_HAS_VALGRIND)
#define FS_HAS_VALGRIND 0       /* valgrind's headers; configure looks for them */
#endif

#if defined(__SANITIZE_THREAD__)
#define FS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FS_INSTRUMENTED 1
#endif
#endif

#if defined(FS_WEAK) && !defined(FS_INSTRUMENTED)
/* helgrind or DRD runs.  Written when the library is loaded, r/o after. */
extern FS_HIDDEN bool fs_under_valgrind;
#else
enum { fs_under_valgrind = 0 };
#endif

/*
 * What one thread hides from the tools.  DRD does not check a thread inside a public function, except
 * in a callback, because callbacks are the user's code.  So fs_heed_all() saves this struct before a
 * callback, and fs_ignore_again() restores it afterwards.
 */
struct fs_ignored {
    unsigned    depth;      /* how many public functions are nested */
    const void *wait;       /* the thread's wait, or NULL */
    size_t      size;
};

#if FS_HAS_VALGRIND && !defined(FS_INSTRUMENTED)
bool fs_valgrind_watches(void);
void fs_valgrind_before(const void *object);
void fs_valgrind_after(const void *object);

/* Hide this thread's wait, a struct on its stack that other threads access, too. */
void fs_ignore_wait(const void *wait, size_t size);
void fs_ignore_word(const void *word);
void fs_ignore_share(const void *share);
void fs_heed_all(struct fs_ignored *ignored);
void fs_ignore_again(const struct fs_ignored *ignored);
void fs_ignored_is_canceled(void);
#else
static inline bool fs_valgrind_watches(void)
{
    return false;
}

static inline void fs_valgrind_before(const void *object)
{
    (void)object;
}

static inline void fs_valgrind_after(const void *object)
{
    (void)object;
}

static inline void fs_ignore_wait(const void *wait, size_t size)
{
    (void)wait;
    (void)size;
}

static inline void fs_ignore_word(const void *word)
{
    (void)word;
}

static inline void fs_ignore_share(const void *share)
{
    (void)share;
}

static inline void fs_heed_all(struct fs_ignored *ignored)
{
    (void)ignored;
}

static inline void fs_ignore_again(const struct fs_ignored *ignored)
{
    (void)ignored;
}

static inline void fs_ignored_is_canceled(void)
{
}
#endif

#endif

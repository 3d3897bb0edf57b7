/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - what tools that look for races must be told: ThreadSanitizer, helgrind, DRD.
 *
 * They see the mutexes of a library that was not made for them, and not its atomics.  So a
 * pair of acquire and release on the fast path orders nothing for them, and they blame the
 * program for a race on what the semaphore protects.
 *
 * No program is to pay for that which is not watched.  Therefore nothing is added to the
 * fast path: where a tool watches, SLOW is set in every semaphore and stays (I3), so that
 * every call goes through the mutex, which all tools understand.  (FS_OPEN, another way past
 * the mutex, stays clear.)  What is left to tell is the grant that a waiter sees without the
 * mutex.  Nothing is suppressed, and of the program only the objects themselves are hidden.
 *
 * SLOW is set by fairsem_init, and by FAIRSEM_INITIALIZER where the program is compiled with
 * -fsanitize=thread.  Under valgrind, which runs ordinary programs, it is set in a static
 * semaphore by the wrappers of the public functions, which only valgrind calls:
 * annotate_valgrind.c.
 *
 * Not here: a library that is itself compiled with -fsanitize=thread has nothing to tell.
 */
#ifndef FS_ANNOTATE_H
#define FS_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>

#if !defined(FS_HAS_VALGRIND)
#define FS_HAS_VALGRIND 0       /* its headers; configure looks for them */
#endif

#if defined(__SANITIZE_THREAD__)
#define FS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FS_INSTRUMENTED 1
#endif
#endif

#if defined(__GNUC__) && !defined(FS_INSTRUMENTED)

/* Written when the library is loaded, r/o after.  Hidden: one instruction less for each look. */
extern bool fs_watched __attribute__((visibility("hidden")));           /* by any of them */
extern bool fs_under_valgrind __attribute__((visibility("hidden")));    /* by helgrind or DRD */

/* What comes before the one is seen by whoever comes after the other, of the same object. */
void fs_tell_before(const void *object);
void fs_tell_after(const void *object);

#else
enum { fs_watched = 0, fs_under_valgrind = 0 };

static inline void fs_tell_before(const void *object)
{
    (void)object;
}

static inline void fs_tell_after(const void *object)
{
    (void)object;
}
#endif

/*
 * annotate_valgrind.c.  From the call of a public function to its return the tool looks away,
 * but not in a callback, which is the user's code: *hidden is what was hidden around it.
 */
struct fs_hidden {
    unsigned    depth;      /* public functions that call each other */
    const void *wait;       /* of this thread; NULL: none */
    size_t      size;
};

#if FS_HAS_VALGRIND && !defined(FS_INSTRUMENTED)
bool fs_valgrind_watches(void);
void fs_valgrind_before(const void *object);
void fs_valgrind_after(const void *object);

/* A wait on this thread's stack, into which others look. */
void fs_hide_wait(const void *wait, size_t size);
void fs_hide_word(const void *word);
void fs_unhide_all(struct fs_hidden *hidden);
void fs_hide_again(const struct fs_hidden *hidden);
void fs_hidden_is_canceled(void);
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

static inline void fs_hide_wait(const void *wait, size_t size)
{
    (void)wait;
    (void)size;
}

static inline void fs_hide_word(const void *word)
{
    (void)word;
}

static inline void fs_unhide_all(struct fs_hidden *hidden)
{
    (void)hidden;
}

static inline void fs_hide_again(const struct fs_hidden *hidden)
{
    (void)hidden;
}

static inline void fs_hidden_is_canceled(void)
{
}
#endif

#endif

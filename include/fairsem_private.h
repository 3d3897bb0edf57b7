/* SPDX-License-Identifier: MIT */
/*
 * fairsem_private.h - private: compiler-specific parts of the declarations in fairsem.h.  Include
 * fairsem.h instead, and use none of these names: any version may change them.
 */
#ifndef FAIRSEM_PRIVATE_H
#define FAIRSEM_PRIVATE_H

#if defined(__cplusplus) && __cplusplus < 201103L
#error "fairsem.h needs C++11: compile with -std=c++11 or later"
#endif
#if defined(_WIN32) && !defined(__CYGWIN__)
#error "fairsem.h needs a POSIX system: there is no port to Windows"
#endif

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* The library exports the functions that are declared with FAIRSEM_API, and nothing else. */
#if defined(__GNUC__) && __GNUC__ >= 4
#define FAIRSEM_API __attribute__((__visibility__("default")))
#else
#define FAIRSEM_API
#endif

/*
 * Let the compiler warn about an unused result, and about a NULL argument that a function cannot take;
 * FAIRSEM_NONNULL_ has the numbers of these arguments.
 *
 * A result must be used if it says whether the caller has units, an initialized object or an answer.  A
 * release or a close fails only in an incorrect program, so its result may be ignored.
 */
#if (defined(__cplusplus) && __cplusplus >= 201703L) \
    || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define FAIRSEM_MUST_CHECK_ [[nodiscard]]
#elif defined(__GNUC__)
#define FAIRSEM_MUST_CHECK_ __attribute__((__warn_unused_result__))
#else
#define FAIRSEM_MUST_CHECK_
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvariadic-macros"      /* in C90, where gcc and clang accept them, too */
#define FAIRSEM_NONNULL_(...) __attribute__((__nonnull__(__VA_ARGS__)))
#pragma GCC diagnostic pop
#else
#define FAIRSEM_NONNULL_(...)
#endif

/*
 * The structs have the layout of the platform's ABI.  Each header that declares structs checks the
 * layout: otherwise the library could read the wrong members.  With #pragma pack, -fpack-struct, or
 * -malign-double on i386, the size of the array below is negative.  With reversed byte order (-fsso-struct),
 * the member n has no address.
 */
#if defined(__i386__)
#define FAIRSEM_INT64_OFFSET_ 4     /* in a struct; an int64_t outside a struct is aligned to 8 */
#elif defined(__GNUC__)
#define FAIRSEM_INT64_OFFSET_ __alignof__(int64_t)
#else
#define FAIRSEM_INT64_OFFSET_ (sizeof(void *) == 8 ? 8 : 4)
#endif
#define FAIRSEM_CHECK_LAYOUT_(header) \
    extern struct header##_layout_ { char c; FAIRSEM_ALIGNED_ char a; int64_t n; } header##_laid_out_; \
    typedef char header##_is_not_for_packed_structs_ \
        [offsetof(struct header##_layout_, n) == 16 + FAIRSEM_INT64_OFFSET_ \
         && sizeof &header##_laid_out_.n != 0 ? 1 : -1]

/* The size of fairsem_t.  A mutex of macOS has 64 bytes, a mutex of other systems 48 at most. */
#define FAIRSEM_BYTES_ (sizeof(pthread_mutex_t) > 48 ? 288 : 256)

/*
 * FAIRSEM_WATCHED_ is 1 in a program that is compiled for ThreadSanitizer, and keeps semaphores with a
 * static initializer off the fast path: ThreadSanitizer must see every acquire and release.  (Define it as
 * 0 if the library itself is compiled for ThreadSanitizer.)
 */
#if defined(FAIRSEM_WATCHED_)
#elif defined(__SANITIZE_THREAD__)
#define FAIRSEM_WATCHED_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRSEM_WATCHED_ 1
#endif
#endif
#ifndef FAIRSEM_WATCHED_
#define FAIRSEM_WATCHED_ 0
#endif

/*
 * glibc on 32-bit machines has two kinds of time_t, and a struct timespec for each;
 * -D_TIME_BITS=64 chooses the wide kind.  With the wide kind, a function that takes a deadline has another
 * name in the library.  So a program does not link with a library of the other kind, which would misread the
 * program's deadlines.
 */
#if defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32 && defined(__GNUC__)
#define FAIRSEM_TIME64_(name) FAIRSEM_ASM_TIME64_(name)     /* a name that is a macro, expanded */
#define FAIRSEM_ASM_TIME64_(name) __asm__(#name "_time64")
#else
#define FAIRSEM_TIME64_(name)
#endif

/*
 * C and C++ need different spellings to compile without warnings.  (In C++ the name `fairsem` is a
 * namespace: see fairsem.hpp.)
 */
#ifdef __cplusplus
#define FAIRSEM_TAG_          fairsem_t
#define FAIRSEM_ALIGNED_      alignas(16)
#define FAIRSEM_INT64_(units) fairsem_int64_(units)
#define FAIRSEM_MUTEX_        fairsem_mutex_()
#else
#define FAIRSEM_TAG_          fairsem
#define FAIRSEM_INT64_(units) ((int64_t)(units))
#define FAIRSEM_MUTEX_        PTHREAD_MUTEX_INITIALIZER
#if defined(__GNUC__)
#define FAIRSEM_ALIGNED_      __attribute__((__aligned__(16)))      /* in C90, too */
#else
#define FAIRSEM_ALIGNED_      _Alignas(16)
#endif
#endif

#ifdef __cplusplus
extern "C++" {

/* A template, because compilers would warn of a useless cast if `units` were an int64_t already. */
template <class Number> constexpr int64_t fairsem_int64_(Number units)
{
    return static_cast<int64_t>(units);
}

/* PTHREAD_MUTEX_INITIALIZER contains 0 as a null pointer: a program may have enabled a warning for that. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif
inline constexpr pthread_mutex_t fairsem_mutex_() { return PTHREAD_MUTEX_INITIALIZER; }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

} /* extern "C++" */
#endif

#endif /* FAIRSEM_PRIVATE_H */

/* SPDX-License-Identifier: MIT */
/*
 * suite.h - what every test program shares: one suite, run by Check.
 *
 * A test is named after the behavior that it tests.  Only the test's own thread asserts: Check
 * writes a message per assertion under a lock, which orders the threads and hides races.  Other
 * threads record their results, and the test asserts when they have ended.
 */
#ifndef SUITE_H
#define SUITE_H

#include "hang.h"
#include "moment.h"
#include "tried.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Check multiplies it by CK_TIMEOUT_MULTIPLIER. */
#define TEST_TIMEOUT_S HANG_S

static inline int run_case(const char *name, TCase *tcase)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    bool passed;

    tcase_set_timeout(tcase, TEST_TIMEOUT_S);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    /* CK_RUN_CASE may name no case. */
    passed = srunner_ntests_run(runner) > 0 && srunner_ntests_failed(runner) == 0;
    srunner_free(runner);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline int run_suite(const char *name, const TTest *const tests[], int count)
{
    TCase *tcase = tcase_create(name);

    for (int i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    return run_case(name, tcase);
}

/* RUN_SUITE("name", test, test, ...) is the body of main. */
#define RUN_SUITE(name, ...)                                                     \
    do {                                                                         \
        const TTest *const tests_[] = { __VA_ARGS__ };                           \
        return run_suite(name, tests_, (int)(sizeof tests_ / sizeof tests_[0])); \
    } while (0)

/*
 * Skip the test, and say why: tried.h has the difference of the two, and target.sh counts both.  Only
 * in the test function itself, because they return.
 */
#define SKIP_TEST(why)                              \
    do {                                            \
        if (must_try_all())                         \
            ck_abort_msg("not tried: %s", why);     \
        printf("skipped: %s: %s\n", __func__, why); \
        return;                                     \
    } while (0)

#define NOT_HERE(why)                                \
    do {                                             \
        printf("not here: %s: %s\n", __func__, why); \
        return;                                      \
    } while (0)

/* True for a ticket that waits in the queue, and for one that was granted at once. */
static inline bool was_taken(int result)
{
    return result == 0 || result == EINPROGRESS;
}

/* Which sanitizer the program is built with: gcc defines macros, clang has features. */
#if defined(__has_feature)
#define HAS_SANITIZER(feature) __has_feature(feature)
#else
#define HAS_SANITIZER(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_SANITIZER(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_SANITIZER(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

/* A tool of valgrind brings a library of its own: the tests do not ask fs_under_valgrind, which they test. */
static inline bool is_preloaded(const char *library)
{
    const char *all = getenv("LD_PRELOAD");

    return all != NULL && strstr(all, library) != NULL;
}
#define UNDER_RACE_DETECTOR (is_preloaded("/vgpreload_helgrind") || is_preloaded("/vgpreload_drd"))

#endif

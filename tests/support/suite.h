/* SPDX-License-Identifier: MIT */
/*
 * suite.h - the frame of a test program: one suite, run by Check.
 *
 * A test is named after the behavior that it tests.  Only the test's own thread asserts: Check writes a message
 * for each assertion under a lock, which orders the threads and hides races.  Other threads record their
 * results, and the test asserts them after they have ended.
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

/* Check multiplies the timeout by CK_TIMEOUT_MULTIPLIER. */
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
    /* A mistyped CK_RUN_CASE runs no test: a failure. */
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
 * Skip the test and print the reason.  tried.h explains the difference between the two macros, and target.sh
 * counts their lines.  Both macros return, so use them only in the test function itself.
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

/* Did fairsem_ticket_take() succeed?  The ticket was granted at once, or waits in the queue. */
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

/* Each tool of valgrind preloads a library.  (The tests cannot use fs_under_valgrind, because they test it.) */
static inline bool is_preloaded(const char *library)
{
    const char *all = getenv("LD_PRELOAD");

    return all != NULL && strstr(all, library) != NULL;
}
#define UNDER_RACE_DETECTOR (is_preloaded("/vgpreload_helgrind") || is_preloaded("/vgpreload_drd"))

#endif

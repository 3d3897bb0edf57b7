/* SPDX-License-Identifier: MIT */
/*
 * check.h - the part of Check that the tests use, for a C library that has no Check (musl).
 *
 * Each test runs in a process of its own, with a timeout.  A failing assertion prints
 * its place and its text, and ends the process.  The differences from Check:
 *
 * - An assertion in a thread that is not the test's own is an error, even if it holds.
 *   Check accepts such an assertion, but Check's lock orders the threads and hides races.
 * - With CK_FORK=no a failing assertion ends the program, because threads of the failed
 *   test would go on using its stack.  With CK_FORK=no there are no timeouts.
 *
 * Include it in one file of a program.
 */
#ifndef PLAIN_CHECK_H
#define PLAIN_CHECK_H

#include "../hang.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct TTest {
    const char *name;
    void      (*fn)(int);
    const char *file;
    int         line;
} TTest;

typedef struct check_one {
    const TTest *test;
    int          i;     /* the index in a loop test; otherwise 0 */
} check_one;

typedef struct TCase {
    double        timeout_s;
    int           count;
    check_one    *tests;
    struct TCase *next;
} TCase;

typedef struct Suite {
    const char *name;
    TCase      *cases;
} Suite;

typedef struct SRunner {
    Suite *suite;
    int    run;
    int    failures; /* an assertion did not hold */
    int    errors;   /* the test crashed or was too slow */
} SRunner;

enum print_output { CK_NORMAL };

#define CHECK_FAILED_EXIT 1 /* status of a test process whose assertion failed */

/* ---------------------------------------------------------------- assertions */

static const TTest *check_running;
static pthread_t    check_thread; /* the test's own */

__attribute__((noreturn, format(printf, 4, 5)))
static inline void check_failed(const char *file, int line, const char *what,
                                const char *format, ...)
{
    va_list args;

    printf("%s:%d:%s: %s", file, line, check_running->name, what);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    _exit(CHECK_FAILED_EXIT);
}

static inline void check_is_own_thread(const char *file, int line)
{
    if (!pthread_equal(pthread_self(), check_thread))
        check_failed(file, line, "assertion in a thread that is not the test's own", "%s", "");
}

#define CHECK_THAT(holds, what, ...)                             \
    do {                                                         \
        check_is_own_thread(__FILE__, __LINE__);                 \
        if (!(holds))                                            \
            check_failed(__FILE__, __LINE__, what, __VA_ARGS__); \
    } while (0)

#define CHECK_INT(x, op, y)                                                                 \
    do {                                                                                    \
        intmax_t check_x = (x), check_y = (y);                                              \
        CHECK_THAT(check_x op check_y, "Assertion '" #x " " #op " " #y "' failed: ",        \
                   "%s == %jd, %s == %jd", #x, check_x, #y, check_y);                       \
    } while (0)

#define CHECK_UINT(x, op, y)                                                                \
    do {                                                                                    \
        uintmax_t check_x = (x), check_y = (y);                                             \
        CHECK_THAT(check_x op check_y, "Assertion '" #x " " #op " " #y "' failed: ",        \
                   "%s == %ju, %s == %ju", #x, check_x, #y, check_y);                       \
    } while (0)

#define CHECK_DOUBLE(x, op, y)                                                              \
    do {                                                                                    \
        double check_x = (x), check_y = (y);                                                \
        CHECK_THAT(check_x op check_y, "Assertion '" #x " " #op " " #y "' failed: ",        \
                   "%s == %g, %s == %g", #x, check_x, #y, check_y);                         \
    } while (0)

#define CHECK_PTR(x, op, y)                                                                 \
    do {                                                                                    \
        const void *check_x = (x), *check_y = (y);                                          \
        CHECK_THAT(check_x op check_y, "Assertion '" #x " " #op " " #y "' failed: ",        \
                   "%p, %p", (void *)(uintptr_t)check_x, (void *)(uintptr_t)check_y);       \
    } while (0)

#define ck_assert(x)          CHECK_THAT(x, "Assertion '" #x "' failed", "%s", "")
#define ck_assert_msg(x, ...) CHECK_THAT(x, "", __VA_ARGS__)
#define ck_abort_msg(...)     CHECK_THAT(0, "", __VA_ARGS__)

#define ck_assert_int_eq(x, y) CHECK_INT(x, ==, y)
#define ck_assert_int_ne(x, y) CHECK_INT(x, !=, y)
#define ck_assert_int_lt(x, y) CHECK_INT(x, <, y)
#define ck_assert_int_le(x, y) CHECK_INT(x, <=, y)
#define ck_assert_int_gt(x, y) CHECK_INT(x, >, y)
#define ck_assert_int_ge(x, y) CHECK_INT(x, >=, y)

#define ck_assert_uint_eq(x, y) CHECK_UINT(x, ==, y)
#define ck_assert_uint_ne(x, y) CHECK_UINT(x, !=, y)
#define ck_assert_uint_lt(x, y) CHECK_UINT(x, <, y)
#define ck_assert_uint_le(x, y) CHECK_UINT(x, <=, y)
#define ck_assert_uint_gt(x, y) CHECK_UINT(x, >, y)
#define ck_assert_uint_ge(x, y) CHECK_UINT(x, >=, y)

#define ck_assert_double_eq(x, y) CHECK_DOUBLE(x, ==, y)

#define ck_assert_ptr_eq(x, y)   CHECK_PTR(x, ==, y)
#define ck_assert_ptr_ne(x, y)   CHECK_PTR(x, !=, y)
#define ck_assert_ptr_null(x)    CHECK_PTR(x, ==, NULL)
#define ck_assert_ptr_nonnull(x) CHECK_PTR(x, !=, NULL)

#define ck_assert_mem_eq(x, y, size) \
    CHECK_THAT(memcmp((x), (y), (size)) == 0, "", "%s and %s differ", #x, #y)
#define ck_assert_str_eq(x, y) \
    CHECK_THAT(strcmp((x), (y)) == 0, "", "%s is \"%s\", %s is \"%s\"", #x, (x), #y, (y))

/* ---------------------------------------------------------------- tests and suites */

#define START_TEST(name)                                                        \
    static void name##_fn(int _i);                                              \
    static const TTest name##_ttest = { #name, name##_fn, __FILE__, __LINE__ }; \
    static const TTest *name = &name##_ttest;                                   \
    static void name##_fn(int _i __attribute__((unused)))
#define END_TEST

static inline void *check_allocated(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

static inline Suite *suite_create(const char *name)
{
    Suite *suite = check_allocated(calloc(1, sizeof *suite));

    suite->name = name;
    return suite;
}

static inline TCase *tcase_create(const char *name)
{
    TCase *tcase = check_allocated(calloc(1, sizeof *tcase));

    (void)name;
    tcase->timeout_s = HANG_S;
    return tcase;
}

static inline void tcase_set_timeout(TCase *tcase, double seconds)
{
    tcase->timeout_s = seconds;
}

static inline void tcase_add_loop_test(TCase *tcase, const TTest *test, int start, int end)
{
    size_t size = (size_t)(tcase->count + end - start) * sizeof *tcase->tests;

    tcase->tests = check_allocated(realloc(tcase->tests, size));
    for (int i = start; i < end; i++)
        tcase->tests[tcase->count++] = (check_one){ test, i };
}

static inline void tcase_add_test(TCase *tcase, const TTest *test)
{
    tcase_add_loop_test(tcase, test, 0, 1);
}

static inline void suite_add_tcase(Suite *suite, TCase *tcase)
{
    TCase **end = &suite->cases;

    while (*end != NULL)
        end = &(*end)->next;
    *end = tcase;
}

/* ---------------------------------------------------------------- running */

static volatile sig_atomic_t check_child;

/*
 * Kill the process group of the test, at its timeout (SIGALRM) or if a signal ends this program: the signal
 * would not end the test.
 */
static inline void check_stop_child(int signal_number)
{
    if (check_child > 0)
        kill((pid_t)-check_child, SIGKILL);
    if (signal_number != SIGALRM)
        _exit(128 + signal_number);
}

static inline void check_run_body(const check_one *one)
{
    check_running = one->test;
    check_thread = pthread_self();
    one->test->fn(one->i);
}

static inline int check_run_forked(const check_one *one, double timeout_s)
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        check_run_body(one);
        exit(EXIT_SUCCESS);
    }
    if (child < 0) {
        fprintf(stderr, "cannot fork\n");
        exit(99);
    }
    setpgid(child, child); /* both processes do it: either may be first */
    check_child = (sig_atomic_t)child;
    alarm(timeout_s > 1 ? (unsigned)timeout_s : 1);     /* alarm(0) would set no alarm */
    while (waitpid(child, &status, 0) != child)
        ;
    alarm(0);
    check_child = 0;
    kill(-child, SIGKILL); /* processes that the test may have left */
    return status;
}

static inline void check_run_test(SRunner *runner, const check_one *one, double timeout_s)
{
    const TTest *test = one->test;
    const char *fork_wanted = getenv("CK_FORK");
    int status = 0;

    if (fork_wanted != NULL && strcmp(fork_wanted, "no") == 0)
        check_run_body(one);
    else
        status = check_run_forked(one, timeout_s);

    runner->run++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_FAILED_EXIT) {
        runner->failures++;
        return;
    }
    runner->errors++;
    if (WIFSIGNALED(status))
        printf("%s:%d:%s: ended by signal %d after at most %g s\n", test->file, test->line,
               test->name, WTERMSIG(status), timeout_s);
    else
        printf("%s:%d:%s: early exit with status %d\n", test->file, test->line, test->name,
               WEXITSTATUS(status));
}

static inline SRunner *srunner_create(Suite *suite)
{
    SRunner *runner = check_allocated(calloc(1, sizeof *runner));

    runner->suite = suite;
    return runner;
}

static inline void srunner_run_all(SRunner *runner, enum print_output mode)
{
    const char *factor = getenv("CK_TIMEOUT_MULTIPLIER");
    struct sigaction stop = { .sa_handler = check_stop_child };

    (void)mode;
    sigaction(SIGALRM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    for (const TCase *tcase = runner->suite->cases; tcase != NULL; tcase = tcase->next) {
        for (int i = 0; i < tcase->count; i++)
            check_run_test(runner, &tcase->tests[i],
                           tcase->timeout_s * (factor != NULL ? atof(factor) : 1));
    }
    printf("Running suite(s): %s\n%d%%: Checks: %d, Failures: %d, Errors: %d\n",
           runner->suite->name,
           runner->run > 0 ? 100 * (runner->run - runner->failures - runner->errors) / runner->run
                           : 100,
           runner->run, runner->failures, runner->errors);
}

static inline int srunner_ntests_run(const SRunner *runner)
{
    return runner->run;
}

static inline int srunner_ntests_failed(const SRunner *runner)
{
    return runner->failures + runner->errors;
}

static inline void srunner_free(SRunner *runner)
{
    TCase *tcase = runner->suite->cases;

    while (tcase != NULL) {
        TCase *next = tcase->next;

        free(tcase->tests);
        free(tcase);
        tcase = next;
    }
    free(runner->suite);
    free(runner);
}

#endif

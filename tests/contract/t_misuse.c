/* SPDX-License-Identifier: MIT */
/* t_misuse.c - a bad argument gets its error and changes nothing, not even errno. */
#include "suite.h"
#include "workers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(bad_attributes_are_refused_and_the_memory_is_left_alone)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(7);
    fairsem_attr_t reserved = { .reserved_ = { [4] = 1 } };
    const struct {
        int64_t        units;
        fairsem_attr_t attr;
        int            result;
    } rows[] = {
        { -1, { 0 }, EINVAL },
        { FAIRSEM_MAX_UNITS + 1, { 0 }, EINVAL },
        { 3, { .capacity = 2 }, EINVAL },
        { 0, { .capacity = -1 }, EINVAL },
        { 0, { .capacity = FAIRSEM_MAX_UNITS + 1 }, EINVAL },
        { 0, { .max_waiters = -1 }, EINVAL },
        { 0, { .aging_ns = -1 }, EINVAL },
        { 0, { .flags = ~0u }, EINVAL },
        { 0, { .flags = FAIRSEM_BOUNDED_BYPASS << 1 }, EINVAL },
        { 0, reserved, EINVAL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fairsem_t *created = &sem;

        ck_assert_int_eq(fairsem_new(&created, rows[i].units, &rows[i].attr), rows[i].result);
        ck_assert_ptr_eq(created, &sem);
        ck_assert_int_eq(fairsem_init(&sem, rows[i].units, &rows[i].attr), rows[i].result);
        ck_assert_int_eq(fairsem_available(&sem), 7);
        ck_assert_int_eq(fairsem_capacity(&sem), -1);
    }
}
END_TEST

START_TEST(good_attributes_are_accepted)
{
    const struct {
        int64_t        units;
        fairsem_attr_t attr;
        int64_t        capacity;
    } rows[] = {
        { 0, { 0 }, -1 },
        { FAIRSEM_MAX_UNITS, { 0 }, -1 },
        { 2, { .capacity = 2 }, 2 },
        { 0, { .capacity = 1, .name = "pool", .max_waiters = 1 }, 1 },
        { 5, { .capacity = FAIRSEM_MAX_UNITS, .max_waiters = INT64_MAX }, FAIRSEM_MAX_UNITS },
    };
    fairsem_t sem;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(fairsem_init(&sem, rows[i].units, &rows[i].attr), 0);
        ck_assert_int_eq(fairsem_available(&sem), rows[i].units);
        ck_assert_int_eq(fairsem_capacity(&sem), rows[i].capacity);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
    ck_assert_int_eq(fairsem_init(&sem, 3, NULL), 0);
    ck_assert_int_eq(fairsem_available(&sem), 3);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* ---- Without a semaphore there is no result: the program aborts ---- */

static void use_zeroed(void (*use)(fairsem_t *))
{
    fairsem_t sem;

    memset(&sem, 0, sizeof sem);
    use(&sem);
}

static void use_destroyed(void (*use)(fairsem_t *))
{
    const fairsem_attr_t attr = { .capacity = 4 };
    fairsem_t sem;

    if (fairsem_init(&sem, 4, &attr) != 0 || fairsem_destroy(&sem) != 0)
        _exit(0);
    use(&sem);
}

static void acquire(fairsem_t *sem)
{
    _exit(fairsem_acquire(sem, 1));
}

static void try(fairsem_t *sem)
{
    _exit(fairsem_tryacquire(sem, 1));
}

static void release(fairsem_t *sem)
{
    fairsem_release(sem, 1);
}

static void stat(fairsem_t *sem)
{
    fairsem_stat(sem, &(fairsem_stat_t){ 0 });
}

static void destroy(fairsem_t *sem)
{
    (void)!fairsem_destroy(sem);
}

/* Call in(use) in a child, and store the child's stderr in `text`.  Returns the signal that ends the child. */
static int signal_of(void (*in)(void (*)(fairsem_t *)), void (*use)(fairsem_t *), char *text,
                     size_t size)
{
    int pipe_of[2], status;
    size_t length = 0;
    ssize_t more;
    pid_t child;

    ck_assert_int_eq(pipe(pipe_of), 0);
    child = fork();
    if (child == 0) {
        dup2(pipe_of[1], STDERR_FILENO);
        in(use);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    close(pipe_of[1]);
    while ((more = read(pipe_of[0], text + length, size - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = '\0';
    close(pipe_of[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int address_in(const char *text)
{
    void *address;

    return sscanf(text, "fairsem: %p: ", &address) == 1 && address != NULL;
}

/* Zeroed memory looks like a paused semaphore.  Without the check an acquire would wait for ever, and a release
 * would fail with a result that few programs check. */
START_TEST(use_before_init_or_after_destroy_aborts_with_a_message)
{
    void (*const use[])(fairsem_t *) = { acquire, try, release, stat, destroy };
    char text[4000];

    for (size_t i = 0; i < sizeof use / sizeof use[0]; i++) {
        ck_assert_int_eq(signal_of(use_zeroed, use[i], text, sizeof text), SIGABRT);
        ck_assert_msg(strstr(text, ": a semaphore is used without fairsem_init") != NULL,
                      "zeroed, %zu: %s", i, text);
        ck_assert_int_eq(address_in(text), 1);
        ck_assert_int_eq(signal_of(use_destroyed, use[i], text, sizeof text), SIGABRT);
        ck_assert_int_eq(address_in(text), 1);
        ck_assert_msg(strstr(text, "after fairsem_destroy") != NULL, "destroyed, %zu: %s", i, text);
    }
}
END_TEST

static void new_and_waited_for(void (*use)(fairsem_t *))
{
    fairsem_ticket_t ticket = { 0 };
    fairsem_t *sem;

    if (fairsem_new(&sem, 0, NULL) != 0
        || fairsem_ticket_take(&ticket, sem, 1, 0, NULL, NULL) != EINPROGRESS)
        _exit(0);
    use(sem);
}

/* Without the abort, a waiter would stay queued in memory that has been freed. */
START_TEST(freeing_a_semaphore_that_is_waited_for_aborts_with_a_message)
{
    char text[4000];

    ck_assert_int_eq(signal_of(new_and_waited_for, fairsem_free, text, sizeof text), SIGABRT);
    ck_assert_msg(strstr(text, ": somebody waits") != NULL, "%s", text);
    ck_assert_int_eq(signal_of(use_zeroed, fairsem_free, text, sizeof text), SIGABRT);
    ck_assert_msg(strstr(text, "without fairsem_init") != NULL, "%s", text);
}
END_TEST

int main(void)
{
    RUN_SUITE("misuse", bad_attributes_are_refused_and_the_memory_is_left_alone,
              good_attributes_are_accepted, use_before_init_or_after_destroy_aborts_with_a_message,
              freeing_a_semaphore_that_is_waited_for_aborts_with_a_message);
}

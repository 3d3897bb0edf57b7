/* SPDX-License-Identifier: MIT */
/* t_dump.c - fairsem_dump: a semaphore as text for people. */
#include "askers.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <unistd.h>
#endif

/* The output of fairsem_dump, as lines. */
struct text {
    char *all;
    char *lines[64];
    int   count;
};

static struct text dump_of(fairsem_t *sem)
{
    struct text text = { .count = 0 };
    size_t size;
    FILE *file = open_memstream(&text.all, &size);

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fairsem_dump(sem, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(text.all[size - 1], '\n');
    for (char *at = text.all; *at != '\0' && text.count < 64; at++) {
        text.lines[text.count++] = at;
        at = strchr(at, '\n');
        *at = '\0';
    }
    return text;
}

/* U58 (scylla 7779: why is everybody waiting?).  The numbers occur nowhere else in the text. */
START_TEST(a_dump_names_the_semaphore_and_has_a_line_for_each_waiter_from_the_front)
{
    fairsem_t sem;
    fairsem_attr_t attr = { .name = "pool of connections" };
    struct asker a[3] = { { .how = { .priority = 88 } }, { .how = { .priority = -77 } },
                          { .how = { .priority = 88 } } };
    static const char *const expected[][2] = { { "7654321", "-77" }, { "1234567", "88" },
                                               { "2345678", "88" }, { "3456789", "99" } };
    fairsem_ticket_t ticket = { 0 };
    struct text text;
    int summary;

    ck_assert_int_eq(fairsem_init(&sem, 5, &attr), 0);
    ck_assert_int_eq(fairsem_acquire(&sem, 1), 0);
    text = dump_of(&sem);
    ck_assert_ptr_nonnull(strstr(text.lines[0], "pool of connections"));
    summary = text.count;
    free(text.all);

    asker_queue(&a[0], &sem, 1234567, 1);
    asker_queue(&a[1], &sem, 7654321, 2);
    asker_queue(&a[2], &sem, 2345678, 3);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 3456789, 99, NULL, NULL), EINPROGRESS);
    text = dump_of(&sem);
    ck_assert_int_eq(text.count, summary + 4);
    ck_assert_ptr_nonnull(strstr(text.lines[0], "available 4, 4 waiters for 14691355 units, the first"
                                                " lacks 7654317"));
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_nonnull(strstr(text.lines[summary + i], expected[i][0]));
        ck_assert_ptr_nonnull(strstr(text.lines[summary + i], expected[i][1]));
    }
    free(text.all);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_close(&sem, 0), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(worker_join(&a[i].w), ESHUTDOWN);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

#if defined(__linux__)
/* Returns the number in "thread 4711 (NAME)", or 0 if the line says something else. */
static int thread_in(const char *line, const char *name)
{
    const char *at = strstr(line, ": thread ");
    char rest[40];

    snprintf(rest, sizeof rest, " (%s), units ", name);
    return at != NULL && strstr(line, rest) != NULL ? atoi(at + strlen(": thread ")) : 0;
}

static bool is_of_this_process(int thread)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/task/%d", thread);
    return access(path, F_OK) == 0;
}

/* A new thread inherits its creator's name.  With FAIRSEM_INTERRUPTIBLE, waiters use no parker (parking.h). */
static void check_who_waits(unsigned flags)
{
    const fairsem_attr_t attr = { .flags = flags };
    struct worker one = { 0 }, other = { 0 };
    fairsem_ticket_t ticket = { 0 };
    struct text text;
    fairsem_t sem;
    int of_one, of_other;

    ck_assert_int_eq(fairsem_init(&sem, 0, &attr), 0);
    ck_assert_int_eq(prctl(PR_SET_NAME, "reader\n1"), 0);
    worker_queue(&one, &sem, 1, 1);
    ck_assert_int_eq(prctl(PR_SET_NAME, "writer"), 0);
    worker_queue(&other, &sem, 1, 2);
    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    text = dump_of(&sem);
    of_one = thread_in(text.lines[text.count - 3], "reader?1");
    of_other = thread_in(text.lines[text.count - 2], "writer");
    ck_assert_int_ne(of_one, of_other);
    ck_assert_int_ne(of_one, getpid());
    ck_assert(is_of_this_process(of_one) && is_of_this_process(of_other));
    ck_assert_ptr_nonnull(strstr(text.lines[text.count - 1], ": ticket, units "));
    ck_assert_ptr_null(strstr(text.lines[text.count - 2], "ticket"));
    free(text.all);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_release(&sem, 2), 0);
    ck_assert_int_eq(worker_join(&one), 0);
    ck_assert_int_eq(worker_join(&other), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}

START_TEST(a_dump_says_which_thread_waits)
{
    check_who_waits(0);
    if (can_be_interruptible())
        check_who_waits(FAIRSEM_INTERRUPTIBLE);
}
END_TEST

#define LINUX_ONLY a_dump_says_which_thread_waits,
#else
#define LINUX_ONLY
#endif

/* The longest wait and the sum include unfinished waits.  A dump in the first microsecond shows 0.000000 s. */
START_TEST(a_wait_that_has_not_ended_may_be_the_longest)
{
    fairsem_t sem = FAIRSEM_INITIALIZER_BOUNDED(0, 8);
    fairsem_ticket_t ticket = { 0 };
    bool seen = false;

    ck_assert_int_eq(fairsem_ticket_take(&ticket, &sem, 1, 0, NULL, NULL), EINPROGRESS);
    while (!seen) {
        struct text text = dump_of(&sem);

        ck_assert_ptr_nonnull(strstr(text.lines[0], "available 0 of 8, in use 8, 1 waiter for 1 unit,"
                                                    " the first lacks 1"));
        seen = strstr(text.lines[2], "longest wait 0.000000 s") == NULL
               && strstr(text.lines[2], "all waits 0.000000 s") == NULL;
        free(text.all);
    }
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

/* The line "  ended: 2 up to 0.000016 s, 1 longer" counts all ended waits.  While no wait has ended, the dump
 * has no line "  ended". */
START_TEST(a_dump_has_the_lengths_of_the_waits_if_they_are_counted)
{
    fairsem_ticket_t tickets[3] = { 0 };
    fairsem_counted_t counted;
    struct text text;
    int sum = 0;

    ck_assert_int_eq(fairsem_counted_init(&counted, 0, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &counted.sem, 1, 0, NULL, NULL), EINPROGRESS);
    text = dump_of(&counted.sem);
    ck_assert_int_eq(text.count, 6);
    free(text.all);
    ck_assert_int_eq(fairsem_release(&counted.sem, 3), 0);
    text = dump_of(&counted.sem);
    ck_assert_int_eq(text.count, 4);
    ck_assert_ptr_eq(strstr(text.lines[3], "  ended: "), text.lines[3]);
    for (char *at = text.lines[3] + strlen("  ended: "); at != NULL; at = strstr(at, ", ")) {
        at += strspn(at, ", ");
        sum += atoi(at);
        ck_assert(strstr(at, " up to ") != NULL || strstr(at, " longer") != NULL);
    }
    ck_assert_int_eq(sum, 3);
    free(text.all);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fairsem_ticket_return(&tickets[i]), 0);
    ck_assert_int_eq(fairsem_destroy(&counted.sem), 0);
}
END_TEST

/* A static semaphore has no name, and a queue may be longer than any buffer of a fixed size. */
START_TEST(a_dump_needs_no_name_and_has_room_for_a_long_queue)
{
    enum { MANY = 1000 };
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    static fairsem_ticket_t tickets[MANY];
    FILE *file = tmpfile();
    int lines = 0, c;

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(fairsem_ticket_take(&tickets[i], &sem, 1, 0, NULL, NULL), EINPROGRESS);
    ck_assert_int_eq(fairsem_dump(&sem, file), 0);
    rewind(file);
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    ck_assert_int_gt(lines, MANY);
    ck_assert_int_lt(lines, MANY + 20);
    for (int i = 0; i < MANY; i++)
        fairsem_ticket_return(&tickets[i]);
    ck_assert_int_eq(fairsem_destroy(&sem), 0);
}
END_TEST

START_TEST(a_dump_reports_a_write_error_and_leaves_errno_alone)
{
    fairsem_t sem = FAIRSEM_INITIALIZER(0);
    FILE *readable = fopen("/dev/null", "r"), *full = fopen("/dev/full", "w");

    ck_assert_ptr_nonnull(readable);
    errno = 4711;
    ck_assert_int_eq(fairsem_dump(&sem, readable), EIO);
    ck_assert_int_eq(errno, 4711);
    fclose(readable);
    if (full != NULL) {     /* only some systems have /dev/full */
        setvbuf(full, NULL, _IONBF, 0);
        errno = 4711;
        ck_assert_int_eq(fairsem_dump(&sem, full), EIO);
        ck_assert_int_eq(errno, 4711);
        fclose(full);
    }
    ck_assert_int_eq(fairsem_tryacquire(&sem, 0), 0);
}
END_TEST

int main(void)
{
    RUN_SUITE("dump", LINUX_ONLY a_dump_names_the_semaphore_and_has_a_line_for_each_waiter_from_the_front,
              a_dump_has_the_lengths_of_the_waits_if_they_are_counted,
              a_wait_that_has_not_ended_may_be_the_longest, a_dump_needs_no_name_and_has_room_for_a_long_queue,
              a_dump_reports_a_write_error_and_leaves_errno_alone);
}

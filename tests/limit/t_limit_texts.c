/* SPDX-License-Identifier: MIT */
/*
 * t_limit_texts.c - fairsem-limit prints durations and places in the queue, reads times, and finds processes
 * and their commands; fairsem-run prints percentiles.
 */
#define _GNU_SOURCE
#include "emulated.h"
#include "suite.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

/*
 * Keep this order: process.c includes a header with a parameter that has the name of an object of duration.c.
 */
#include "../../src/limit/process.c"
#include "../../src/run/duration.c"
#include "../../src/limit/options.c"
#include "../../src/limit/output.c"
#include "../../src/limit/metrics.c"
#include "../../src/run/program.c"
#include "../../src/run/records_print.c"

START_TEST(a_duration_has_its_two_largest_units)
{
    static const struct { int64_t seconds; const char *text; } row[] = {
        { 0, "0 s" }, { 59, "59 s" }, { 60, "1 min 0 s" }, { 61, "1 min 1 s" },
        { 3599, "59 min 59 s" }, { 3600, "1 h 0 min" }, { 7384, "2 h 3 min" },
        { 86399, "23 h 59 min" }, { 86400, "1 d 0 h" }, { 100 * 86400 + 90000, "101 d 1 h" },
        { INT64_MAX / 1000000000, "106751 d 23 h" },
    };
    char text[DURATION_SIZE];

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        ck_assert_str_eq(duration_text(row[i].seconds * 1000000000, text), row[i].text);
    ck_assert_str_eq(duration_text(59999999999, text), "59 s");
    ck_assert_str_eq(duration_text(-1, text), "0 s");   /* the clock of another process may be ahead */
}
END_TEST

START_TEST(a_place_has_the_suffix_of_its_number)
{
    static const struct { int n; const char *suffix; } row[] = {
        { 1, "st" }, { 2, "nd" }, { 3, "rd" }, { 4, "th" }, { 10, "th" }, { 11, "th" },
        { 12, "th" }, { 13, "th" }, { 14, "th" }, { 20, "th" }, { 21, "st" }, { 22, "nd" },
        { 23, "rd" }, { 100, "th" }, { 101, "st" }, { 111, "th" }, { 112, "th" }, { 1013, "th" },
        { 1021, "st" },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        ck_assert_str_eq(ordinal_suffix(row[i].n), row[i].suffix);
}
END_TEST

/* Times are as for sleep(1).  All other texts are refused, such as "5min". */
START_TEST(a_time_has_a_fraction_and_a_suffix)
{
    static const struct { const char *text; int64_t ms; } row[] = {
        { "0", 0 }, { "30", 30000 }, { "0.5", 500 }, { "2s", 2000 }, { "5m", 300000 },
        { "1.5h", 5400000 }, { "2d", 172800000 }, { "0m", 0 }, { "infinity", 1000000000000 },
        { "1e30d", 1000000000000 },
    };
    static const char *const wrong[] = {
        "", "m", "5x", "5min", "5 m", "5mm", "5m3s", "-1", "-1m", "nan", "never",
    };
    int64_t ns;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        ck_assert_msg(read_duration(row[i].text, "--wait", &ns), "%s", row[i].text);
        ck_assert_int_eq(ns, row[i].ms * 1000000);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(!read_duration(wrong[i], "--wait", &ns), "%s", wrong[i]);
}
END_TEST

/* An argument may have any bytes.  The text must be JSON without control characters for terminals. */
START_TEST(a_json_string_has_no_byte_that_is_not_allowed)
{
    static const struct { const char *text, *json; } row[] = {
        { "", "" }, { "a b", "a b" }, { "\"\\/", "\\\"\\\\/" }, { "\n\t\033\177", "\\u000a\\u0009\\u001b\\u007f" },
        { "\303\274", "\303\274" }, { "\342\202\254", "\342\202\254" },
        { "\360\237\230\200", "\360\237\230\200" }, { "\302\233", "\\u009b" },
        { "\302\240", "\302\240" },
        { "\377", "\\ufffd" }, { "\303", "\\ufffd" }, { "\303a", "\\ufffda" },
        { "\200", "\\ufffd" }, { "\300\200", "\\ufffd\\ufffd" },                /* overlong */
        { "\340\200\200", "\\ufffd\\ufffd\\ufffd" },
        { "\355\240\200", "\\ufffd\\ufffd\\ufffd" },                           /* a surrogate */
        { "\355\237\277", "\355\237\277" },
        { "\364\220\200\200", "\\ufffd\\ufffd\\ufffd\\ufffd" },                /* above the last code point */
        { "\364\217\277\277", "\364\217\277\277" }, { "\360\237\230", "\\ufffd\\ufffd\\ufffd" },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);

        print_json_string(file, row[i].text);
        fclose(file);
        ck_assert_uint_ge(size, 2);
        ck_assert(text[0] == '"' && text[size - 1] == '"');
        text[size - 1] = '\0';
        ck_assert_str_eq(text + 1, row[i].json);
        free(text);
    }
}
END_TEST

static char *argument;

/* A process can change its arguments, and so erase its command's name. */
START_TEST(a_command_without_a_name_is_shown)
{
    fairsem_shared_user_t user = { .local_pid = getpid() };
    char text[100];

    argument[0] = '\0';
    process_command(&user, text, sizeof text);
    ck_assert_uint_gt(strlen(text), 1);
    if (emulated())
        NOT_HERE("the kernel knows the arguments of an emulator");
    ck_assert_int_eq(text[0], ' ');
    memset(argument, 0, strlen(argument + 1) + 1);
    process_command(&user, text, sizeof text);
    ck_assert_str_eq(text, "");
    user.local_pid = 1;
    process_command(&user, text, sizeof text);
    ck_assert(text[0] != '\0' || access("/proc/1/cmdline", R_OK) != 0);
}
END_TEST

START_TEST(each_descendant_is_found_once)
{
    long list[4];
    pid_t child = fork();

    while (child == 0)
        pause();
    process_prepare();
    ck_assert_uint_eq(process_descendants(list, 4), 1);
    ck_assert_int_eq(list[0], child);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

/* The body of a child in another PID namespace.  Returns 0 if the child ignores the /proc there, or else 1. */
static int in_another_pid_namespace(void)
{
    const fairsem_shared_user_t user = { .local_pid = 1 };
    char text[100];
    long list[4];

    process_command(&user, text, sizeof text);
    return text[0] == '\0' && process_stat(1).started == 0
           && process_stat(getppid()).parent == 0 && process_descendants(list, 4) == 0 ? 0 : 1;
}

START_TEST(the_proc_of_another_pid_namespace_does_not_count)
{
    int status;
    pid_t child;

    process_prepare();
    child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
            _exit(77);
        child = fork();
        if (child == 0)
            _exit(in_another_pid_namespace());
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        _exit(WEXITSTATUS(status));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77)
        NOT_HERE("a PID namespace, which the kernel does not permit");
    ck_assert_int_eq(status, 0);
}
END_TEST

/* Bucket i counts waits of up to 2^i us, the last one all others. */
START_TEST(a_percentile_is_at_most_the_longest_wait_and_that_in_the_last_bucket)
{
    const int last = FAIRSEM_WAIT_BUCKETS - 1;
    struct fs_waited w = { .ns_max = 900000 };

    w.lengths[3] = 60;
    w.lengths[10] = 40;
    ck_assert(waits_within_ms(&w, 50) == 0.008);
    ck_assert(waits_within_ms(&w, 99) == 0.9);      /* the bucket ends at 1.024 ms */
    w.lengths[last] = 200;
    w.ns_max = 500000000000;
    ck_assert(waits_within_ms(&w, 10) == 0.008);
    ck_assert(waits_within_ms(&w, 50) == 500000);
    ck_assert(waits_within_ms(&w, 99) == 500000);
}
END_TEST

int main(int argc, char **argv)
{
    (void)argc;
    argument = argv[0];
    RUN_SUITE("limit texts", a_duration_has_its_two_largest_units,
              a_place_has_the_suffix_of_its_number, a_time_has_a_fraction_and_a_suffix,
              a_json_string_has_no_byte_that_is_not_allowed,
              a_command_without_a_name_is_shown, each_descendant_is_found_once,
              the_proc_of_another_pid_namespace_does_not_count,
              a_percentile_is_at_most_the_longest_wait_and_that_in_the_last_bucket);
}

/* SPDX-License-Identifier: MIT */
/* t_cluster_results.c - arguments, names and keys: tests without an engine. */
#include "suite.h"

#include "clock.h"
#include "etcd_ask.h"
#include "json.h"

#include <fairsem/cluster.h>
#include <string.h>

static const fairsem_cluster_attr_t good = { .endpoints = "http://127.0.0.1:1", .limit = 3 };

static int opens(const char *name, fairsem_cluster_attr_t attr)
{
    fairsem_cluster_t *handle;
    int result;

    errno = 77;
    result = fairsem_cluster_open(&handle, name, &attr);
    ck_assert_int_eq(errno, 77);
    if (result == 0)
        ck_assert_int_eq(fairsem_cluster_close(handle), 0);
    return result;
}

#define OPENS_WITH(...) opens("name", (fairsem_cluster_attr_t){ URL, __VA_ARGS__ })
#define OPENS_AT(urls) opens("name", (fairsem_cluster_attr_t){ .endpoints = urls })
#define URL .endpoints = "http://127.0.0.1:1"

START_TEST(open_checks_its_arguments)
{
    char name[257] = { 0 };

    ck_assert_int_eq(opens("name", good), 0);
    ck_assert_int_eq(opens("", good), EINVAL);
    memset(name, 'n', 256);
    ck_assert_int_eq(opens(name, good), EINVAL);
    ck_assert_int_eq(opens(name + 1, good), 0);

    ck_assert_int_eq(OPENS_AT(NULL), EINVAL);
    ck_assert_int_eq(OPENS_AT(" , "), EINVAL);
    ck_assert_int_eq(OPENS_AT("ftp://host"), EINVAL);
    ck_assert_int_eq(OPENS_AT("http://"), EINVAL);
    ck_assert_int_eq(OPENS_AT("host:2379, https://[::1]:2379/,http://x"), 0);
    ck_assert_int_eq(OPENS_WITH(.limit = -1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.limit = FAIRSEM_MAX_UNITS + 1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.limit = 0), 0);
    ck_assert_int_eq(OPENS_WITH(.flags = 1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.reserved_[7] = 1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.ttl_ns = FAIRSEM_CLUSTER_TTL_MIN - 1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.ttl_ns = FAIRSEM_CLUSTER_TTL_MIN), 0);
    ck_assert_int_eq(OPENS_WITH(.ttl_ns = FAIRSEM_CLUSTER_TTL_MIN + 1), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.ttl_ns = FAIRSEM_CLUSTER_TTL_MAX), 0);
    ck_assert_int_eq(OPENS_WITH(.ttl_ns = FAIRSEM_CLUSTER_TTL_MAX + 1000000000), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.user = "me"), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.password_file = "/dev/null"), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.cert_file = "/dev/null"), EINVAL);
    ck_assert_int_eq(OPENS_WITH(.ca_file = "/no such file"), ENOENT);
    ck_assert_int_eq(OPENS_WITH(.user = "me", .password_file = "/no such file"), ENOENT);
    ck_assert_int_eq(OPENS_WITH(.user = "me", .password_file = "/"), EISDIR);
    ck_assert_int_eq(OPENS_WITH(.user = "me", .password_file = "/dev/null"), 0);
}
END_TEST

/* Port 1 refuses connections, so a call that returns at once has sent nothing. */
START_TEST(acquire_checks_its_arguments)
{
    fairsem_cluster_t *handle;
    fairsem_cluster_hold_t hold = { { 0 } };
    const struct timespec time = { 0, 0 };
    fairsem_wait_t both = { .deadline = &time, .timeout_ns = 1 }, odd = { .share_key = 1 };
    fairsem_wait_t clock = { .clock = CLOCK_PROCESS_CPUTIME_ID, .deadline = &time };
    fairsem_wait_t moment = { .timeout_ns = 20000000 };
    char name[FAIRSEM_CLUSTER_NAME_MAX + 2] = { 0 };

    memset(name, 'n', FAIRSEM_CLUSTER_NAME_MAX + 1);
    ck_assert_int_eq(fairsem_cluster_open(&handle, "name", &good), 0);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 0, NULL, &hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, -1, NULL, &hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, FAIRSEM_MAX_UNITS + 1, NULL, &hold),
                     EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 4, NULL, &hold), E2BIG);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, &both, &hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, &odd, &hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, &clock, &hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, &moment, &hold), ETIMEDOUT);
    ck_assert_int_eq(fairsem_cluster_set_limit(handle, -1), EINVAL);
    ck_assert_int_eq(fairsem_cluster_set_limit(handle, FAIRSEM_MAX_UNITS + 1), EINVAL);
    ck_assert_int_eq(fairsem_cluster_next(handle, name), EINVAL);
    ck_assert_int_eq(fairsem_cluster_release(&hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_lost(&hold), EINVAL);
    ck_assert_int_eq(fairsem_cluster_fence(&hold), 0);
    ck_assert_int_ge(fairsem_cluster_fd(handle), 0);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}
END_TEST

START_TEST(no_name_is_the_beginning_of_another)
{
    struct fs_record record = { .priority = INT32_MAX, .lease = INT64_MAX };
    char name[256];

    ck_assert(fs_key_prefix(record.prefix, "a/b%\n\xff z.-_9"));
    ck_assert_str_eq(record.prefix, "fairsem/a%2Fb%25%0A%FF%20z.-_9/");
    ck_assert(fs_key_name(fs_keys_of(&record).waits, name));
    ck_assert_str_eq(name, "a/b%\n\xff z.-_9");
    memset(name, '/', 255);
    name[255] = '\0';
    ck_assert(fs_key_prefix(record.prefix, name));
    ck_assert(fs_key_name(record.prefix, name));
    ck_assert_int_eq(strlen(name), 255);
    ck_assert_int_eq(strlen(fs_keys_of(&record).waits),
                     strlen(record.prefix) + strlen("q/4294967295/7fffffffffffffff"));
}
END_TEST

START_TEST(keys_are_in_the_order_of_priorities)
{
    static const int order[] = { INT32_MIN, -1000, -1, 0, 1, 99, INT32_MAX };
    struct fs_record record = { .prefix = "fairsem/n/", .lease = 1 };
    char last[FS_KEY_SIZE] = "";

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct fs_keys keys;

        record.priority = order[i];
        keys = fs_keys_of(&record);
        ck_assert_int_lt(strcmp(last, keys.equals), 0);
        ck_assert_int_lt(strcmp(keys.equals, keys.waits), 0);
        ck_assert_int_lt(strcmp(keys.waits, keys.equals_end), 0);
        strcpy(last, keys.equals_end);
    }
    ck_assert_int_lt(strcmp(last, fs_keys_of(&record).waiting_end), 0);
}
END_TEST

static void is_within(const char *key, const char *begin, const char *end)
{
    ck_assert_int_le(strcmp(begin, key), 0);
    ck_assert_int_lt(strcmp(key, end), 0);
}

/* A key outside of its range would not be counted.  A key in two ranges would be counted twice. */
START_TEST(each_range_has_its_keys_and_no_others)
{
    const struct fs_record record = { .prefix = "fairsem/n/", .lease = INT64_MAX };
    const struct fs_keys keys = fs_keys_of(&record);

    is_within(keys.waits, keys.waiting, keys.waiting_end);
    is_within(keys.equals, keys.waiting, keys.waiting_end);
    is_within(keys.runs, keys.running, keys.running_end);
    ck_assert_int_le(strcmp(keys.waiting_end, keys.limit), 0);
    /* The range that begins with the limit contains the keys of running requests, too. */
    ck_assert_int_lt(strcmp(keys.limit, keys.running), 0);
}
END_TEST

START_TEST(damaged_keys_are_refused)
{
    static const char *const bad[] = {
        "", "fairsem/n/", "fairsem/n/r-limit", "fairsem/n/r/", "fairsem/n/r/000000000000000",
        "fairsem/n/r/0000000000000000", "fairsem/n/r/8000000000000000",
        "fairsem/n/r/000000000000000g", "fairsem/n/r/00000000000000011",
        "fairsem/m/r/0000000000000001",
        "fairsem/n/q/2147483648/", "fairsem/n/q/4294967296/0000000000000001",
        "fairsem/n/q/214748364/00000000000000001", "fairsem/n/q/214748364a/0000000000000001",
        "fairsem/n/q/2147483648x0000000000000001", "fairsem/n/q/2147483648/0000000000000001/"
    };
    struct fs_record record = { .prefix = "fairsem/n/", .priority = -5, .lease = 0x123 };
    int priority;
    int64_t lease;
    bool runs;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert(!fs_key_read(bad[i], "fairsem/n/", &runs, &priority, &lease));
    ck_assert(fs_key_read(fs_keys_of(&record).waits, "fairsem/n/", &runs, &priority, &lease));
    ck_assert(!runs && priority == -5 && lease == 0x123);
    record.lease = INT64_MAX;
    ck_assert(fs_key_read(fs_keys_of(&record).runs, "fairsem/n/", &runs, &priority, &lease));
    ck_assert(runs && lease == INT64_MAX);
}
END_TEST

START_TEST(base64_is_read_as_it_is_written)
{
    static const char *const bad[] = { "a", "ab=", "=abc", "ab=c", "a===", "ab\nc", "____" };
    unsigned char bytes[256], back[256];
    char text[FS_BASE64_SIZE(256)];

    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    for (size_t n = 0; n <= 256; n++) {
        fs_base64_write(bytes, n, text);
        ck_assert_int_eq(strlen(text), FS_BASE64_SIZE(n) - 1);
        if (n > 0)
            ck_assert_int_eq(fs_base64_read(text, strlen(text), back, n - 1), -1);
        ck_assert_int_eq(fs_base64_read(text, strlen(text), back, n), (long)n);
        ck_assert_int_eq(memcmp(bytes, back, n), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(fs_base64_read(bad[i], strlen(bad[i]), back, 256), -1);
}
END_TEST

START_TEST(a_request_with_a_short_lease_has_a_shorter_time_limit)
{
    struct fs_options options = { .ttl_ns = 3 * FS_NS_PER_S };

    for (unsigned rounds = 0; rounds < 6; rounds++) {
        long times = rounds < 3 ? 1 << rounds : 8;

        ck_assert_int_eq(fs_etcd_timeout_ms(&options, true, rounds), times * 500);
        ck_assert_int_eq(fs_etcd_timeout_ms(&options, false, rounds), times * 1700);
    }
    options.ttl_ns = 60 * FS_NS_PER_S;
    ck_assert_int_eq(fs_etcd_timeout_ms(&options, true, 0), 1700);
}
END_TEST

int main(void)
{
    RUN_SUITE("cluster results", open_checks_its_arguments, acquire_checks_its_arguments,
              no_name_is_the_beginning_of_another, keys_are_in_the_order_of_priorities,
              each_range_has_its_keys_and_no_others, damaged_keys_are_refused,
              base64_is_read_as_it_is_written, a_request_with_a_short_lease_has_a_shorter_time_limit);
}

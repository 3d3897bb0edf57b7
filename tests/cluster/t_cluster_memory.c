/* SPDX-License-Identifier: MIT */
/* t_cluster_memory.c - an endpoint does not answer, or there is no memory to send a request. */
#include "suite.h"

#include "clock.h"
#include "http.h"

#include <fairsem/cluster.h>
#include <stdatomic.h>

static _Atomic int failures, failed;    /* numbers of requests without memory: planned, and so far */
static _Atomic int64_t jump;            /* added to the time of the clock */
static _Atomic bool hangs;              /* each request lasts until its time limit */
static _Atomic int asked;

int64_t __wrap_fs_boot_now(void);
int64_t __real_fs_boot_now(void);

int64_t __wrap_fs_boot_now(void)
{
    return __real_fs_boot_now() + jump;
}

void __wrap_fs_alarm_set(int alarm, int64_t at);
void __real_fs_alarm_set(int alarm, int64_t at);

/* Instead of waiting for the alarm, let the clock jump to its time. */
void __wrap_fs_alarm_set(int alarm, int64_t at)
{
    int64_t now = __wrap_fs_boot_now();

    if (at != FS_NEVER && at > now)
        jump += at - now;
    __real_fs_alarm_set(alarm, at != FS_NEVER ? 0 : at);
}

int __wrap_fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                         const char *token, char *body, long timeout_ms);
int __real_fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                         const char *token, char *body, long timeout_ms);

int __wrap_fs_http_start(struct fs_http *http, struct fs_exchange *exchange, const char *url,
                         const char *token, char *body, long timeout_ms)
{
    bool fails = failed < failures;

    if (hangs) {
        asked++;
        jump += timeout_ms * FS_NS_PER_MS;
        return __real_fs_http_start(http, exchange, url, token, body, timeout_ms);
    }
    failed += fails;
    if (!fails || failed == 2)
        jump = 6 * FS_NS_PER_S;     /* too late for another attempt */
    if (fails) {
        fs_http_free_question(body);
        return ENOMEM;
    }
    return __real_fs_http_start(http, exchange, url, token, body, timeout_ms);
}

/* Check that an acquire and a list return `expected` if the first `count` requests cannot be sent. */
static void both_end_with(int expected, int count, const fairsem_cluster_attr_t *attr)
{
    fairsem_cluster_hold_t hold = { { 0 } };
    fairsem_cluster_t *handle;
    size_t users;

    failures = count;
    ck_assert_int_eq(fairsem_cluster_open(&handle, "name", attr), 0);
    jump = 0;
    failed = 0;
    ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), expected);
    jump = 0;
    failed = 0;
    ck_assert_int_eq(fairsem_cluster_users(handle, NULL, 0, &users), expected);
    ck_assert_int_eq(fairsem_cluster_close(handle), 0);
}

static const fairsem_cluster_attr_t
    plain = { .endpoints = "http://127.0.0.1:1", .limit = 3 },
    secret = { .endpoints = "http://127.0.0.1:1", .limit = 3, .user = "me",
               .password_file = "/dev/null" };

START_TEST(a_request_that_could_not_be_sent_is_sent_again)
{
    both_end_with(ENETUNREACH, 1, &plain);
    both_end_with(ENETUNREACH, 1, &secret);
}
END_TEST

START_TEST(without_memory_a_call_ends)
{
    both_end_with(ENOMEM, 2, &plain);
    both_end_with(ENOMEM, 2, &secret);
}
END_TEST

START_TEST(all_endpoints_share_one_time_limit)
{
    static const int counts[] = { 1, 2, 3, 8, 20, 32 };

    hangs = true;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char text[32 * 20] = "";
        const fairsem_cluster_attr_t attr = { .endpoints = text, .limit = 3 };
        fairsem_cluster_hold_t hold = { { 0 } };
        fairsem_cluster_t *handle;

        for (int j = 0; j < counts[i]; j++)
            strcat(text, "http://127.0.0.1:1 ");
        ck_assert_int_eq(fairsem_cluster_open(&handle, "name", &attr), 0);
        jump = 0;
        asked = 0;
        ck_assert_int_eq(fairsem_cluster_acquire_with(handle, 1, NULL, &hold), ENETUNREACH);
        ck_assert_int_ge(asked, counts[i]);
        ck_assert_int_le(jump, 5 * FS_NS_PER_S);
        ck_assert_int_eq(fairsem_cluster_close(handle), 0);
    }
    hangs = false;
}
END_TEST

int main(void)
{
    RUN_SUITE("cluster memory", all_endpoints_share_one_time_limit,
              a_request_that_could_not_be_sent_is_sent_again, without_memory_a_call_ends);
}

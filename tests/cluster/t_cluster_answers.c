/* SPDX-License-Identifier: MIT */
/*
 * t_cluster_answers.c - reading the bytes of an answer: answers of a real etcd, and thousands of damaged ones.
 * With AddressSanitizer, the damaged answers find accesses out of bounds.
 */
#include "suite.h"

#include "etcd_answer.h"
#include "stress.h"

#include <string.h>

enum { ANSWERS_MAX = 64, MUTANTS = 3000 };

static struct recorded { char *name, *text; enum fs_step step; long status; } recorded[ANSWERS_MAX];
static int recorded_count;

/* The request that was waiting when the answers were recorded. */
static const struct fs_record waiter = {
    .prefix = "fairsem/n/", .lease = INT64_C(6955246770805509283), .ttl_s = 10, .limit = 3,
    .now = 3, .first = 3, .units = 2, .joined = 4, .seen_revision = 4
};

static void read_recorded(void)
{
    static const char *const steps[] = { "grant", "join", "view", "begin", "renew", "end", "watch",
                                         "confirm", "limit", "remove", "next", "list" };
    static char line[10000], name[64], step[16];
    char path[1000];
    const char *source = getenv("top_srcdir");
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/cluster/answers.txt", source != NULL ? source : ".");
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        struct recorded *row = &recorded[recorded_count];
        int at = 0;

        if (line[0] == '#')
            continue;
        ck_assert_int_lt(recorded_count++, ANSWERS_MAX);
        ck_assert_int_eq(sscanf(line, "%63s %15s %ld %n", name, step, &row->status, &at), 3);
        row->name = strdup(name);
        row->text = strdup(line + at);
        while (strcmp(steps[row->step], step) != 0)
            row->step++;
    }
    fclose(file);
    ck_assert_int_gt(recorded_count, 15);
}

static void forget_recorded(void)
{
    while (recorded_count > 0) {
        free(recorded[--recorded_count].name);
        free(recorded[recorded_count].text);
        recorded[recorded_count].step = 0;
    }
}

/* Read a recorded answer.  answer.error is the result of the reading. */
static struct fs_answer answer_to(const char *name, const struct fs_record *record)
{
    struct fs_answer answer;

    for (int i = 0; i < recorded_count; i++) {
        const struct recorded *found = &recorded[i];
        size_t length = strlen(found->text);

        if (strcmp(found->name, name) != 0)
            continue;
        if (found->step != FS_WATCH) {
            fs_etcd_read_answer(found->step, found->status, found->text, length, "", record, &answer);
        } else {
            memset(&answer, 0, sizeof answer);
            answer.error = fs_etcd_read_event(found->text, length, record);
        }
        return answer;
    }
    ck_abort_msg("there is no answer %s", name);
}

START_TEST(answers_of_etcd_are_understood)
{
    struct fs_record record = waiter;
    struct fs_answer answer;

    read_recorded();
    answer = answer_to("granted", &record);
    ck_assert(answer.error == 0 && answer.ttl_s == 4 && answer.revision == 1);
    answer = answer_to("joined_behind_one", &record);
    ck_assert(answer.error == 0 && answer.done && answer.joined == 4 && answer.began == 0);
    ck_assert(answer.held == 2 && answer.limit == 3 && answer.first == 3 && answer.predecessor[0] == '\0');
    answer = answer_to("viewed", &record);
    ck_assert(answer.error == 0 && answer.joined == 4 && answer.held == 2 && answer.limit == 3);
    record.seen_revision = 2;     /* the begin was recorded earlier, for another request */
    answer = answer_to("begun", &record);
    ck_assert(answer.error == 0 && answer.done && answer.revision == 3);
    answer = answer_to("renewed", &record);
    ck_assert(answer.error == 0 && answer.ttl_s == 4);
    ck_assert_int_eq(answer_to("ended", &record).error, 0);
    ck_assert_int_eq(answer_to("watching", &record).error, EAGAIN);
    ck_assert_int_eq(answer_to("gone", &record).error, 0);
    ck_assert_int_eq(answer_to("limit_set", &record).error, 0);
    ck_assert_int_eq(answer_to("somebody_began", &record).error, EAGAIN);
    answer = answer_to("limit_is_set", &record);
    ck_assert(answer.error == 0 && answer.done);
    answer = answer_to("limit_is_not_set", &record);
    ck_assert(answer.error == 0 && !answer.done);
    answer = answer_to("next_found", &record);
    ck_assert(answer.error == 0);
    ck_assert_str_eq(answer.predecessor, "fairsem/n/r-limit");
    answer = answer_to("listed", &record);
    ck_assert(answer.error == 0 && answer.user_count == 2 && answer.user_total == 2);
    ck_assert(answer.users[0].place == 0 && answer.users[0].units == 2);
    ck_assert_int_eq(answer.users[0].fence, 3);
    ck_assert(answer.users[1].place == 1 && answer.users[1].reserved_[0] == waiter.lease);
    free(answer.users);
    forget_recorded();
}
END_TEST

START_TEST(errors_of_etcd_are_distinguished)
{
    struct fs_answer answer;

    read_recorded();
    ck_assert_int_eq(answer_to("canceled", &waiter).error, ECANCELED);
    ck_assert_int_eq(answer_to("broken_stream", &waiter).error, ENETUNREACH);
    ck_assert_int_eq(answer_to("no_lease", &waiter).error, ESTALE);
    ck_assert_int_eq(answer_to("no_lease_to_join", &waiter).error, ESTALE);
    ck_assert_int_eq(answer_to("no_lease_to_end", &waiter).error, 0);
    answer = answer_to("granted_before", &waiter);
    ck_assert(answer.error == 0 && answer.ttl_s == waiter.ttl_s);
    ck_assert_int_eq(answer_to("no_leader", &waiter).error, ENETUNREACH);
    ck_assert_int_eq(answer_to("no_space", &waiter).error, ENOSPC);
    ck_assert_int_eq(answer_to("denied", &waiter).error, EACCES);
    ck_assert_int_eq(answer_to("old_token", &waiter).error, EKEYEXPIRED);
    ck_assert_int_eq(answer_to("changed_role", &waiter).error, EKEYEXPIRED);
    ck_assert_int_eq(answer_to("changed_role_before", &waiter).error, EKEYEXPIRED);
    ck_assert_int_eq(answer_to("no_token", &waiter).error, EKEYEXPIRED);
    ck_assert_int_eq(answer_to("wrong_password", &waiter).error, EACCES);
    ck_assert_int_eq(answer_to("no_users", &waiter).error, EACCES);
    ck_assert_int_eq(answer_to("no_such_user", &waiter).error, EACCES);
    ck_assert_int_eq(answer_to("no_root", &waiter).error, EACCES);
    ck_assert_int_eq(answer_to("another_gateway", &waiter).error, EPROTO);
    answer = answer_to("another_limit", &waiter);
    ck_assert(answer.error == 0 && !answer.done && answer.joined == 0 && answer.began == 0);
    forget_recorded();
}
END_TEST

/* A member that lags behind, or was restored from a copy, has older data than we have seen. */
START_TEST(an_older_answer_is_refused)
{
    struct fs_record later = waiter;

    read_recorded();
    later.seen_revision = 1000;
    ck_assert_int_eq(answer_to("viewed", &later).error, EPROTO);
    ck_assert_int_eq(answer_to("begun", &later).error, EPROTO);
    ck_assert_int_eq(answer_to("gone", &later).error, EAGAIN);
    forget_recorded();
}
END_TEST

/* In a list of endpoints of two clusters, one does not know the grants of the other one. */
START_TEST(another_cluster_is_refused)
{
    static const char text[] = "{\"result\":{\"header\":{\"cluster_id\":\"18446744073709551615\","
                               "\"revision\":\"9\"},\"TTL\":\"10\"}}";
    struct fs_answer answer;

    ck_assert_int_eq(fs_etcd_read_answer(FS_RENEW, 200, text, strlen(text), "", &waiter, &answer), 0);
    ck_assert_str_eq(answer.cluster, "18446744073709551615");
    ck_assert_int_eq(fs_etcd_read_answer(FS_RENEW, 200, text, strlen(text), "18446744073709551615",
                                         &waiter, &answer), 0);
    ck_assert_int_eq(fs_etcd_read_answer(FS_RENEW, 200, text, strlen(text), "1", &waiter, &answer),
                     EXDEV);
}
END_TEST

/* A proxy between us and etcd has answered, or the server is not etcd. */
START_TEST(an_answer_that_is_not_json_is_reported_by_its_status)
{
    static const struct { long status; int error; } cases[] = {
        { 200, EPROTO }, { 302, EPROTO }, { 400, EPROTO }, { 401, EPERM }, { 403, EPERM },
        { 404, EPROTO }, { 405, EPROTO }, { 407, EPERM }, { 429, ENETUNREACH }, { 501, EPROTO },
        { 502, ENETUNREACH },
    };
    static const char *const texts[] = { "<html>", "{\"message\":\"no\"}", "[]" };
    struct fs_answer answer;
    char *token;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            fs_etcd_read_answer(FS_VIEW, cases[i].status, texts[j], strlen(texts[j]), "", &waiter,
                                &answer);
            ck_assert_int_eq(answer.error, cases[i].error);
            ck_assert_int_eq(fs_etcd_read_token(cases[i].status, texts[j], strlen(texts[j]), &token),
                             cases[i].error);
        }
}
END_TEST

/* Each row replaces a part of a recorded answer by other text. */
START_TEST(damaged_answers_are_refused)
{
    static const struct { const char *answer, *part, *other; } cases[] = {
        { "viewed", "\"MyAz\"", "\"M3g=\"" },             /* the limit "3 3" is "3x" */
        { "viewed", "\"MyAz\"", "\"MyAw\"" },             /* ... "3 0" */
        { "viewed", "\"MyAz\"", "\"LTEgMw==\"" },         /* ... "-1 3" */
        { "viewed", "eyJ1bml0cyI6Miwi", "eyJ1bml0cyI6MCwi" },     /* a holder of 0 units */
        { "viewed", "\"lease\":\"1196723657362933117\"", "\"lease\":\"7\"" },    /* not the lease in the key */
        { "viewed", "\"create_revision\":\"3\"", "\"create_revision\":\"0\"" },
        /* The predecessor in the queue.  A request without a lease would stay for ever. */
        { "another_limit", ",\"lease\":\"6955246770805509283\"", "" },
        { "another_limit", "Y2Ez\"", "Y2E2\"" },
        { "another_limit", "InBpZCI6MTIwNTU", "InBpZCI6MXIwNTU" },
    };
    struct fs_answer answer;
    char text[10000];

    read_recorded();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct recorded *viewed = recorded;
        const char *at;

        while (strcmp(viewed->name, cases[i].answer) != 0)
            viewed++;
        at = strstr(viewed->text, cases[i].part);
        ck_assert_ptr_nonnull(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - viewed->text), viewed->text,
                 cases[i].other, at + strlen(cases[i].part));
        fs_etcd_read_answer(viewed->step, 200, text, strlen(text), "", &waiter, &answer);
        ck_assert_int_eq(answer.error, EBADMSG);
    }
    forget_recorded();
}
END_TEST

static size_t mutate(char *text, size_t length, uint32_t *dice)
{
    static const char odd[] = "{}[]\":,0189-eE.\\un\x80\xff";
    int changes = 1 + (int)(next(dice) % 4);

    for (; changes > 0 && length > 1; changes--) {
        size_t at = next(dice) % length, from = next(dice) % length;
        size_t count = next(dice) % 40;

        switch (next(dice) % 6) {
        case 0:
            text[at] = (char)next(dice);
            break;
        case 1:
            text[at] = odd[next(dice) % (sizeof odd - 1)];
            break;
        case 2:
            length = at + 1;
            break;
        case 3:
            count = from + count > length || at + count > length ? 0 : count;
            memmove(text + at, text + from, count);
            break;
        case 4:
            count = at + count > length ? length - at : count;
            memmove(text + at, text + at + count, length - at - count);
            length -= count;
            break;
        default:
            for (; at < length && (text[at] < '0' || text[at] > '9'); at++)
                continue;
            if (at < length)
                text[at] = (char)('0' + next(dice) % 10);
        }
    }
    return length;
}

static bool is_listed(int error)
{
    static const int listed[] = { 0, ENETUNREACH, EACCES, EPROTO, ENOSPC, ENOMEM, ESTALE,
                                  EKEYEXPIRED, EAGAIN, ECANCELED, EPERM, EBADMSG };

    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
        if (listed[i] == error)
            return true;
    return false;
}

/* Are all numbers of the answer within their bounds?  They must be, whatever the bytes were. */
static bool is_sane(const struct fs_answer *answer)
{
    return is_listed(answer->error) && answer->held >= 0 && answer->held <= FAIRSEM_MAX_UNITS
        && answer->joined >= 0 && answer->began >= 0 && answer->revision >= 0
        && answer->limit >= 0 && answer->ttl_s >= 0
        && memchr(answer->predecessor, '\0', sizeof answer->predecessor) != NULL
        && answer->user_count <= answer->user_total
        && (answer->user_count == 0 || answer->users != NULL);
}

START_TEST(arbitrary_bytes_do_no_harm)
{
    uint32_t dice = 12345;
    int understood = 0, refused = 0;

    read_recorded();
    for (int i = 0; i < recorded_count; i++)
        for (int j = 0; j < MUTANTS; j++) {
            /* `bytes` has exactly this size, so that AddressSanitizer finds a read past the end. */
            size_t length = strlen(recorded[i].text);
            char *copy = strdup(recorded[i].text), *bytes;
            struct fs_answer answer;
            enum fs_step step = j % 8 == 0 ? (enum fs_step)(next(&dice) % (FS_LIST + 1))
                                           : recorded[i].step;
            char *token;

            length = mutate(copy, length, &dice);
            bytes = malloc(length);
            memcpy(bytes, copy, length);
            if (step != FS_WATCH) {
                fs_etcd_read_answer(step, recorded[i].status, bytes, length, "", &waiter,
                                    &answer);
                ck_assert(is_sane(&answer));
                free(answer.users);
                understood += answer.error == 0;
                refused += answer.error == EPROTO || answer.error == EBADMSG;
            } else {
                ck_assert(is_listed(fs_etcd_read_event(bytes, length, &waiter)));
            }
            ck_assert(is_listed(fs_etcd_read_token(recorded[i].status, bytes, length, &token)));
            free(token);
            free(bytes);
            free(copy);
        }
    /* The mutants test nothing if all are refused, or none. */
    ck_assert_int_gt(understood, MUTANTS / 2);
    ck_assert_int_gt(refused, MUTANTS);
    forget_recorded();
}
END_TEST

int main(void)
{
    RUN_SUITE("cluster answers", answers_of_etcd_are_understood, errors_of_etcd_are_distinguished,
              an_older_answer_is_refused, another_cluster_is_refused,
              an_answer_that_is_not_json_is_reported_by_its_status,
              damaged_answers_are_refused, arbitrary_bytes_do_no_harm);
}

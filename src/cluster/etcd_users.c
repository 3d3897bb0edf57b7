/* SPDX-License-Identifier: MIT */
/* etcd_users.c - see etcd_users.h. */
#include "etcd_users.h"

#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUE_SIZE = 2048 };

/* Other requests read the units, and compare the priority with the key; the other members are for people. */
char *fs_user_value(const struct fs_record *record)
{
    return fs_json_text(json_pack("{s:I,s:i,s:s,s:I,s:s,s:I}", "units", (json_int_t)record->units,
                                  "priority", record->priority, "host", record->host, "pid",
                                  (json_int_t)record->pid, "program", record->program, "since",
                                  (json_int_t)time(NULL)));
}

/* Last second of the year 9999.  Some functions that format a date fail for later times. */
#define LAST_SECOND INT64_C(253402300799)

/* Read and check the text of fs_user_value, which another program may have written. */
static bool read_user_value(const char *text, fairsem_cluster_user_t *about)
{
    json_t *json = fs_json_parse(text, strlen(text));
    const char *host, *program;
    bool good = json != NULL && fs_json_int(json, "units", &about->units) && about->units > 0
        && about->units <= FAIRSEM_MAX_UNITS && fs_json_int(json, "priority", &about->priority)
        && about->priority >= INT32_MIN && about->priority <= INT32_MAX
        && fs_json_int(json, "pid", &about->pid) && fs_json_int(json, "since", &about->since)
        && fs_json_string(json, "host", &host) && fs_json_string(json, "program", &program);

    if (good) {
        if (about->since < 0 || about->since > LAST_SECOND)
            about->since = 0;
        fs_copy_printable(about->host, sizeof about->host, host);
        fs_copy_printable(about->program, sizeof about->program, program);
    }
    json_decref(json);
    return good;
}

bool fs_user_read(const json_t *kv, const char *prefix, struct fs_user *user)
{
    char value[VALUE_SIZE];
    int priority;
    int64_t lease, owner;

    memset(user, 0, sizeof *user);
    if (!fs_json_bytes(kv, "key", user->key, sizeof user->key)
        || !fs_json_int(kv, "create_revision", &user->revision) || user->revision <= 0
        || !fs_key_read(user->key, prefix, &user->runs, &priority, &lease)
        || !fs_json_int(kv, "lease", &owner) || owner != lease
        || !fs_json_bytes(kv, "value", value, sizeof value) || !read_user_value(value, &user->about))
        return false;
    if (!user->runs && user->about.priority != priority)
        return false;
    user->about.reserved_[0] = lease;
    return true;
}

/*
 * Fill in the list's entry for a key.  Until the list is sorted, about->fence is the key's create revision, and
 * about->place is 1 for a waiting request, 0 for a running one.
 */
static void list_user(const json_t *kv, bool runs, const char *prefix, fairsem_cluster_user_t *about)
{
    struct fs_user user;
    bool good = fs_user_read(kv, prefix, &user) && user.runs == runs;

    if (good) {
        *about = user.about;
    } else {
        size_t length = strlen(user.key), most = sizeof about->program - 1;

        memset(about, 0, sizeof *about);
        about->units = -1;
        fs_copy_printable(about->program, sizeof about->program,
                          length > most ? user.key + length - most : user.key);
    }
    about->fence = user.revision;
    about->place = !runs;
}

/* Order waiting requests as in the queue, and running ones by their start.  Damaged entries come last. */
static int compare_users(const void *left, const void *right)
{
    const fairsem_cluster_user_t *a = left, *b = right;

    if ((a->units < 0) != (b->units < 0))
        return a->units < 0 ? 1 : -1;
    if (a->place != 0 && a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->fence < b->fence ? -1 : a->fence > b->fence;
}

static int append_users(const json_t *range, bool runs, const char *prefix, struct fs_answer *answer)
{
    fairsem_cluster_user_t *users;
    json_t *keys;
    int64_t total, last = INT64_MAX;
    size_t count;

    if (!fs_json_array(range, "kvs", &keys) || !fs_json_int(range, "count", &total))
        return EPROTO;
    count = json_array_size(keys);
    if (total < 0 || (uint64_t)total < count || (total > 0 && count == 0))
        return EPROTO;
    users = realloc(answer->users, (answer->user_count + count + 1) * sizeof *users);
    if (users == NULL)
        return ENOMEM;
    answer->users = users;
    users += answer->user_count;
    for (size_t i = 0; i < count; i++)
        list_user(json_array_get(keys, i), runs, prefix, &users[i]);
    /*
     * In a truncated answer, requests of the last priority may be missing.  Keys of one priority sort by lease,
     * not by age: a missing request may be older than a listed one.  So the positions in the last priority are
     * unknown: leave out that priority.
     */
    if (!runs && (uint64_t)total > count)
        last = users[count - 1].priority;
    qsort(users, count, sizeof *users, compare_users);
    for (size_t i = 0; i < count; i++) {
        if (users[i].units >= 0 && users[i].priority == last)
            continue;
        if (!runs || users[i].units < 0)
            users[i].fence = 0;
        users[i].place = runs ? 0 : (int64_t)i + 1;
        answer->users[answer->user_count++] = users[i];
    }
    answer->user_total += (size_t)total;
    return 0;
}

int fs_users_read(const json_t *parts, const char *prefix, struct fs_answer *answer)
{
    json_t *range;
    int error = 0;

    for (size_t i = 0; i < 2 && error == 0; i++)
        error = fs_json_object(json_array_get(parts, i), "response_range", &range)
            ? append_users(range, i == 0, prefix, answer) : EPROTO;
    return error;
}

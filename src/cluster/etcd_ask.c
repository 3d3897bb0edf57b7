/* SPDX-License-Identifier: MIT */
/*
 * etcd_ask.c - see etcd_ask.h.
 *
 * Each step is one transaction, and its conditions are all that keeps the promise.  They are about
 * the range of those that run and the range of those that wait before this request, never about who
 * joins behind it; so nobody who joins later can make them fail.
 *
 *     FS_JOIN   mine is nowhere, and the limit is the same: put mine in the queue.
 *               Else: mine is nowhere, and nobody waits or runs, or there is no limit: put both.
 *     FS_BEGIN  mine is in the queue, as of when it joined;
 *               nobody of a better priority waits, and nobody of mine that joined before;
 *               nobody began since the view, whose sum was small enough, and the limit is its limit:
 *               move mine to those that run.  Who ended since the view only made room.
 *
 * A comparison of etcd over an empty range compares with revision 0.
 */
#include "etcd_ask.h"

#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *fs_etcd_path(enum fs_step step)
{
    static const char *const path[] = {
        [FS_GRANT] = "/v3/lease/grant", [FS_JOIN] = "/v3/kv/txn", [FS_VIEW] = "/v3/kv/txn",
        [FS_BEGIN] = "/v3/kv/txn", [FS_RENEW] = "/v3/lease/keepalive",
        [FS_END] = "/v3/lease/revoke", [FS_WATCH] = "/v3/watch", [FS_LIST] = "/v3/kv/txn"
    };

    return path[step];
}

/* Where a NULL comes in, the whole text becomes NULL: json_pack with "o" and json_array_append_new. */
static json_t *list(json_t *const items[], size_t count)
{
    json_t *array = json_array();
    bool whole = array != NULL;

    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(array, items[i]) != 0)
            whole = false;
    if (!whole) {
        json_decref(array);
        return NULL;
    }
    return array;
}

#define LIST(...) \
    list((json_t *[]){ __VA_ARGS__ }, sizeof (json_t *[]){ __VA_ARGS__ } / sizeof(json_t *))

/* ======================================================================== *
 *  The parts of a transaction
 * ======================================================================== */

/* A range; an end of "" is that of the single key.  At most `most` keys, all for 0. */
struct range {
    char key[FS_KEY_SIZE], end[FS_KEY_SIZE];
    bool bare;              /* without values */
    const char *target;     /* in order of what; NULL: any */
    int64_t most;
    int64_t joined_before;  /* 0: any time */
};

static json_t *read_range(const struct range *range)
{
    json_t *body = json_pack("{s:o}", "key", fs_json_base64(range->key));
    bool whole = body != NULL;

#define ADD(name, value) (whole = json_object_set_new(body, name, value) == 0 && whole)
    if (range->end[0] != '\0')
        ADD("range_end", fs_json_base64(range->end));
    if (range->bare)
        ADD("keys_only", json_true());
    if (range->target != NULL) {
        ADD("sort_target", json_string(range->target));
        ADD("sort_order", json_string("DESCEND"));
    }
    if (range->most != 0)
        ADD("limit", fs_json_number(range->most));
    if (range->joined_before != 0)
        ADD("max_create_revision", fs_json_number(range->joined_before - 1));
#undef ADD
    if (!whole) {
        json_decref(body);
        return NULL;
    }
    return json_pack("{s:o}", "request_range", body);
}

static json_t *compare(const char *key, const char *end, const char *target, const char *result,
                       const char *member, int64_t revision)
{
    if (end == NULL)
        return json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(key), "target", target,
                         "result", result, member, fs_json_number(revision));
    return json_pack("{s:o,s:o,s:s,s:s,s:o}", "key", fs_json_base64(key), "range_end",
                     fs_json_base64(end), "target", target, "result", result, member,
                     fs_json_number(revision));
}

/* All keys of a range, or one with an end of NULL, were created before a revision; or there is none. */
static json_t *created_before(const char *key, const char *end, int64_t revision)
{
    return compare(key, end, "CREATE", "LESS", "create_revision", revision);
}

static json_t *is_absent(const char *key, const char *end)
{
    return created_before(key, end, 1);
}

static json_t *put(const char *key, const char *value, int64_t lease)
{
    return value == NULL ? NULL : json_pack("{s:{s:o,s:o,s:o}}", "request_put",
        "key", fs_json_base64(key), "value", fs_json_base64(value), "lease", fs_json_number(lease));
}

static json_t *transaction(json_t *when, json_t *then, json_t *otherwise)
{
    return json_pack("{s:o,s:o,s:o}", "compare", when, "success", then, "failure", otherwise);
}

/* ======================================================================== *
 *  The steps
 * ======================================================================== */

/* The keys of one request. */
struct keys {
    char waits[FS_KEY_SIZE], runs[FS_KEY_SIZE], limit[FS_KEY_SIZE];
    char waiting[FS_KEY_SIZE], waiting_end[FS_KEY_SIZE];
    char running[FS_KEY_SIZE], running_end[FS_KEY_SIZE];
    char equals[FS_KEY_SIZE], equals_end[FS_KEY_SIZE];
};

static struct keys keys_of(const struct fs_place *place)
{
    struct keys keys;

    fs_key_waits(keys.waits, place->prefix, place->priority, place->lease);
    fs_key_runs(keys.runs, place->prefix, place->lease);
    fs_key_limit(keys.limit, place->prefix);
    fs_key_waiting(keys.waiting, place->prefix, false);
    fs_key_waiting(keys.waiting_end, place->prefix, true);
    fs_key_running(keys.running, place->prefix, false);
    fs_key_running(keys.running_end, place->prefix, true);
    fs_key_equals(keys.equals, place->prefix, place->priority, false);
    fs_key_equals(keys.equals_end, place->prefix, place->priority, true);
    return keys;
}

static struct range range(const char *key, const char *end, bool bare, const char *target,
                          int64_t most)
{
    struct range made = { .bare = bare, .target = target, .most = most };

    strcpy(made.key, key);
    strcpy(made.end, end);
    return made;
}

/* What a request has to know: FS_SAW_RUNNING and so on, and one more operation, or NULL. */
static json_t *view(const struct fs_place *place, const struct keys *keys, json_t *more)
{
    struct range running = range(keys->running, keys->running_end, false, NULL, 0);
    struct range mine = range(keys->waits, "", true, NULL, 0);
    struct range better = range(keys->waiting, keys->equals, true, "KEY", 1);
    struct range equal = range(keys->equals, keys->equals_end, true, "CREATE", 1);
    struct range limit = range(keys->limit, "", false, NULL, 0);
    json_t *all;

    equal.joined_before = place->joined;
    all = LIST(read_range(&running), read_range(&mine), read_range(&better), read_range(&equal),
               read_range(&limit));
    if (more != NULL && json_array_append_new(all, more) != 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

/* Put mine at a key.  Its value says units for those who sum up, and the rest for people. */
static json_t *put_mine(const struct fs_place *place, const char *key)
{
    json_t *about = json_pack("{s:I,s:i,s:s,s:I,s:s,s:I}", "units", (json_int_t)place->units,
                              "priority", place->priority, "host", place->host, "pid",
                              (json_int_t)place->pid, "program", place->program, "since",
                              (json_int_t)time(NULL));
    char *text = about != NULL ? json_dumps(about, JSON_COMPACT) : NULL;
    json_t *op = put(key, text, place->lease);

    free(text);
    json_decref(about);
    return op;
}

/* An operation of another transaction: put the limit and mine, on one more condition. */
static json_t *put_both(const struct fs_place *place, const struct keys *keys, json_t *when,
                        json_t *otherwise)
{
    char limit[24];

    snprintf(limit, sizeof limit, "%" PRId64, place->limit);
    return json_pack("{s:o}", "request_txn", transaction(when,
        LIST(put(keys->limit, limit, 0), put_mine(place, keys->waits)), otherwise));
}

static json_t *join(const struct fs_place *place, const struct keys *keys)
{
    char limit[24];
    json_t *same, *set;

    snprintf(limit, sizeof limit, "%" PRId64, place->limit);
    same = json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(keys->limit), "target", "VALUE",
                     "result", "EQUAL", "value", fs_json_base64(limit));
    set = put_both(place, keys,
        LIST(is_absent(keys->waiting, keys->waiting_end),
             is_absent(keys->running, keys->running_end)),
        LIST(put_both(place, keys,
            LIST(is_absent(keys->limit, NULL), is_absent(keys->waits, NULL),
                 is_absent(keys->runs, NULL)), json_array())));
    return transaction(LIST(same, is_absent(keys->waits, NULL), is_absent(keys->runs, NULL)),
                       view(place, keys, put_mine(place, keys->waits)), view(place, keys, set));
}

static json_t *begin(const struct fs_place *place, const struct keys *keys)
{
    json_t *when = LIST(
        compare(keys->waits, NULL, "CREATE", "EQUAL", "create_revision", place->joined),
        is_absent(keys->waiting, keys->equals),
        compare(keys->equals, keys->equals_end, "CREATE", "GREATER", "create_revision",
                place->joined - 1),
        created_before(keys->running, keys->running_end, place->seen + 1),
        compare(keys->limit, NULL, "MOD", "LESS", "mod_revision", place->seen + 1));
    json_t *then = LIST(
        json_pack("{s:{s:o}}", "request_delete_range", "key", fs_json_base64(keys->waits)),
        put_mine(place, keys->runs));

    return transaction(when, then, view(place, keys, NULL));
}

static json_t *watch(const struct fs_place *place, const struct keys *keys)
{
    const char *key = place->ahead[0] != '\0' ? place->ahead : keys->running;
    json_t *body = json_pack("{s:o,s:o,s:[s]}", "key", fs_json_base64(key), "start_revision",
                             fs_json_number(place->seen + 1), "filters", "NOPUT");

    if (place->ahead[0] == '\0'
        && json_object_set_new(body, "range_end", fs_json_base64(keys->running_end)) != 0) {
        json_decref(body);
        body = NULL;
    }
    return json_pack("{s:o}", "create_request", body);
}

static json_t *read_all(const struct keys *keys)
{
    struct range running = range(keys->running, keys->running_end, false, NULL, FS_LIST_MAX);
    struct range waiting = range(keys->waiting, keys->waiting_end, false, NULL, FS_LIST_MAX);

    return transaction(json_array(), LIST(read_range(&running), read_range(&waiting)),
                       json_array());
}

static json_t *ask(enum fs_step step, const struct fs_place *place)
{
    struct keys keys = keys_of(place);

    switch (step) {
    case FS_GRANT:
        return json_pack("{s:o,s:o}", "TTL", fs_json_number(place->ttl_s), "ID",
                         fs_json_number(place->lease));
    case FS_RENEW:
    case FS_END:
        return json_pack("{s:o}", "ID", fs_json_number(place->lease));
    case FS_JOIN:
        return join(place, &keys);
    case FS_VIEW:
        return transaction(json_array(), view(place, &keys, NULL), json_array());
    case FS_BEGIN:
        return begin(place, &keys);
    case FS_WATCH:
        return watch(place, &keys);
    case FS_LIST:
        return read_all(&keys);
    }
    return NULL;
}

static char *text_of(json_t *json)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    return text;
}

char *fs_etcd_ask(enum fs_step step, const struct fs_place *place)
{
    return text_of(ask(step, place));
}

char *fs_etcd_ask_token(const struct fs_options *options)
{
    return text_of(json_pack("{s:s,s:s}", "name", options->user, "password", options->password));
}

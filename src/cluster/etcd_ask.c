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
 *               nobody began since the view, whose sum left room, and the limit is as it was:
 *               move mine to those that run.  Who ended since the view only made room.
 *
 * A comparison of etcd over an empty range compares with revision 0.
 */
#include "etcd_ask.h"

#include "etcd_txn.h"
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
        [FS_END] = "/v3/lease/revoke", [FS_WATCH] = "/v3/watch", [FS_CONFIRM] = "/v3/kv/txn",
        [FS_REMOVE] = "/v3/kv/txn", [FS_LIST] = "/v3/kv/txn"
    };

    return path[step];
}

/* ======================================================================== *
 *  The steps
 * ======================================================================== */

static struct fs_range range(const char *key, const char *end, bool bare, const char *last_by,
                             int64_t most)
{
    struct fs_range made = { .bare = bare, .last_by = last_by, .most = most };

    strcpy(made.key, key);
    strcpy(made.end, end);
    return made;
}

/* What a request has to know: FS_SAW_RUNNING and so on. */
static json_t *view(const struct fs_place *place, const struct fs_keys *keys)
{
    struct fs_range running = range(keys->running, keys->running_end, false, NULL, 0);
    struct fs_range mine = range(keys->waits, "", true, NULL, 0);
    struct fs_range better = range(keys->waiting, keys->equals, false, "KEY", 1);
    struct fs_range equal = range(keys->equals, keys->equals_end, false, "CREATE", 1);
    struct fs_range limit = range(keys->limit, "", false, NULL, 0);

    equal.joined_before = place->joined;
    return FS_ITEMS(fs_txn_read(&running), fs_txn_read(&mine), fs_txn_read(&better),
                    fs_txn_read(&equal), fs_txn_read(&limit));
}

/* A view, and one more operation behind it. */
static json_t *view_and(const struct fs_place *place, const struct fs_keys *keys, json_t *more)
{
    json_t *all = view(place, keys);

    if (json_array_append_new(all, more) != 0) {
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
    json_t *op = fs_txn_put(key, text, place->lease);

    free(text);
    json_decref(about);
    return op;
}

/* An operation of another transaction: put the limit and mine, on one more condition. */
static json_t *put_both(const struct fs_place *place, const struct fs_keys *keys, json_t *when,
                        json_t *otherwise)
{
    char limit[24];

    snprintf(limit, sizeof limit, "%" PRId64, place->limit);
    return json_pack("{s:o}", "request_txn", fs_txn(when,
        FS_ITEMS(fs_txn_put(keys->limit, limit, 0), put_mine(place, keys->waits)), otherwise));
}

static json_t *join(const struct fs_place *place, const struct fs_keys *keys)
{
    char limit[24];
    json_t *same, *set;

    snprintf(limit, sizeof limit, "%" PRId64, place->limit);
    same = json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(keys->limit), "target", "VALUE",
                     "result", "EQUAL", "value", fs_json_base64(limit));
    set = put_both(place, keys,
                   FS_ITEMS(fs_txn_is_absent(keys->limit, NULL),
                            fs_txn_is_absent(keys->waits, NULL),
                            fs_txn_is_absent(keys->runs, NULL)), json_array());
    set = put_both(place, keys,
                   FS_ITEMS(fs_txn_is_absent(keys->waiting, keys->waiting_end),
                            fs_txn_is_absent(keys->running, keys->running_end)), FS_ITEMS(set));
    return fs_txn(FS_ITEMS(same, fs_txn_is_absent(keys->waits, NULL),
                           fs_txn_is_absent(keys->runs, NULL)),
                  view_and(place, keys, put_mine(place, keys->waits)), view_and(place, keys, set));
}

static json_t *begin(const struct fs_place *place, const struct fs_keys *keys)
{
    json_t *when = FS_ITEMS(
        fs_txn_compare(keys->waits, NULL, "CREATE", "EQUAL", "create_revision", place->joined),
        fs_txn_is_absent(keys->waiting, keys->equals),
        fs_txn_compare(keys->equals, keys->equals_end, "CREATE", "GREATER", "create_revision",
                       place->joined - 1),
        fs_txn_created_before(keys->running, keys->running_end, place->seen + 1),
        fs_txn_compare(keys->limit, NULL, "MOD", "LESS", "mod_revision", place->seen + 1));
    json_t *then = FS_ITEMS(
        fs_txn_delete(keys->waits),
        put_mine(place, keys->runs));

    return fs_txn(when, then, view(place, keys));
}

static json_t *watch(const struct fs_place *place, const struct fs_keys *keys)
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

static json_t *read_all(const struct fs_keys *keys)
{
    struct fs_range running = range(keys->running, keys->running_end, false, NULL, FS_LIST_MAX);
    struct fs_range waiting = range(keys->waiting, keys->waiting_end, false, NULL, FS_LIST_MAX);

    return fs_txn(json_array(), FS_ITEMS(fs_txn_read(&running), fs_txn_read(&waiting)),
                       json_array());
}

/* A read that a majority answers: what the request waits for; else any. */
static json_t *confirm(const struct fs_place *place, const struct fs_keys *keys)
{
    struct fs_range seen = range(keys->limit, "", true, NULL, 0);

    if (place->awaits != 0 && place->ahead[0] != '\0') {
        seen = range(place->ahead, "", true, NULL, 0);
    } else if (place->awaits != 0) {
        seen = range(keys->running, keys->running_end, true, NULL, 0);
        seen.joined_before = place->seen + 1;
    }
    return fs_txn(json_array(), FS_ITEMS(fs_txn_read(&seen)), json_array());
}

static json_t *forget(const struct fs_keys *keys)
{
    struct fs_range limit = range(keys->limit, "", false, NULL, 0);

    return fs_txn(FS_ITEMS(fs_txn_is_absent(keys->waiting, keys->waiting_end),
                           fs_txn_is_absent(keys->running, keys->running_end)),
                  FS_ITEMS(fs_txn_read(&limit), fs_txn_delete(keys->limit)),
                  FS_ITEMS(fs_txn_read(&limit)));
}

static json_t *ask(enum fs_step step, const struct fs_place *place)
{
    struct fs_keys keys = fs_keys_of(place);

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
        return fs_txn(json_array(), view(place, &keys), json_array());
    case FS_BEGIN:
        return begin(place, &keys);
    case FS_WATCH:
        return watch(place, &keys);
    case FS_CONFIRM:
        return confirm(place, &keys);
    case FS_REMOVE:
        return forget(&keys);
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

/* Write a string of JSON to where `to` points, and return its end. */
static char *quoted(char *to, const char *text)
{
    *to++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            to += sprintf(to, "\\u%04x", (unsigned)*text);
        else
            *to++ = *text;
    }
    *to++ = '"';
    *to = '\0';
    return to;
}

/* jansson is not used: it would leave copies of the password in memory that is free. */
char *fs_etcd_ask_token(const struct fs_options *options)
{
    static const char name[] = "{\"name\":", password[] = ",\"password\":";
    char *text = malloc(sizeof name + sizeof password + 6 * strlen(options->user)
                        + 6 * strlen(options->password) + 8);

    if (text != NULL) {
        char *to = quoted(strcpy(text, name) + strlen(name), options->user);

        to = quoted(strcpy(to, password) + strlen(password), options->password);
        strcpy(to, "}");
    }
    return text;
}

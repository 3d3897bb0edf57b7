/* SPDX-License-Identifier: MIT */
/*
 * etcd_ask.c - see etcd_ask.h.
 *
 * The conditions of the transactions alone guarantee the limit and the order.  The conditions of FS_BEGIN test
 * the running requests and the requests that wait before this one, but not the requests behind this one.  So a
 * request that joins later cannot make FS_BEGIN fail.
 *
 *     FS_JOIN   Conditions: the limit is the expected one, and this request has no key.
 *               Effect: put the request's key in the queue.
 *               A request that is to change the limit has other conditions: the limit is the expected one,
 *               and no request waits or runs.  Effect: put the new limit and the key.
 *               If the conditions fail, a nested transaction is tried.  Conditions: there is no limit, and
 *               this request has no key.  Effect: put the limit and the key.
 *     FS_BEGIN  Sent if the running requests of the last view leave enough units.
 *               Conditions: this request's key is in the queue, with the revision at which it joined;
 *               no request of a better priority waits, nor an earlier request of the same priority;
 *               since the view, no request has begun, and the limit was not set.
 *               Effect: delete this key, and put a running key.  (A request that has ended since the view
 *               has only freed units.)
 *     FS_LIMIT  Conditions: there is a limit, and it was not set since the view.  Effect: set the limit.
 *     FS_REMOVE Conditions: no request waits or runs, and the limit was not set since the view.
 *               Effect: delete the limit.
 *
 * A name has a current limit, and a first limit, with which the name was made.  A new request expects its
 * own limit for both.  If either differs, the answer to FS_JOIN has both limits, and FS_JOIN is repeated with
 * these limits.
 *
 * The limit can be set at any time.  Only the front of the queue can begin, so only the front must learn of a
 * new limit: the front watches and confirms the limit together with the running requests.  An FS_LIMIT that
 * arrives late, or again after a lost answer, fails because the limit was set after its view.
 */
#include "etcd_ask.h"

#include "clock.h"
#include "etcd_users.h"
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum time-out of a question in the first round of endpoints, in milliseconds. */
#define ANSWER_MS 1700L

/* The time-out doubles after each of the first ROUNDS_MAX rounds: fs_etcd_timeout_ms(). */
enum { ROUNDS_MAX = 3 };

/* ---- The parts of a transaction ---- */

/*
 * Each function takes ownership of its JSON arguments, and returns NULL if an argument is NULL or memory runs
 * out.  So the caller checks only the final result.
 */

/* A range of keys, or a single key if `end` is NULL. */
struct range {
    const char *key, *end;
    bool bare;              /* read no values */
    const char *last_by;    /* sort key, descending: "KEY", "CREATE", or NULL for any order */
    int64_t most;           /* maximum number of keys, or 0 for all */
    int64_t joined_before;  /* only keys created before a revision, or 0 for all */
    int64_t set_before;     /* only keys last changed before a revision, or 0 for all */
    int64_t watched_from;   /* first revision of a watch */
};

static json_t *with_member(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *with_item(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

#define ITEMS(...) \
    txn_list((json_t *[]){ __VA_ARGS__ }, sizeof (json_t *[]){ __VA_ARGS__ } / sizeof(json_t *))

static json_t *txn_list(json_t *const items[], size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++)
        array = with_item(array, items[i]);
    return array;
}

/* TXN_READ(.key = ..., ...) is the operation that reads a range. */
#define TXN_READ(...) ask_range("request_range", &(struct range){ __VA_ARGS__ })

static json_t *ask_range(const char *how, const struct range *range)
{
    json_t *body = json_pack("{s:o}", "key", fs_json_base64(range->key));

    if (range->end != NULL)
        body = with_member(body, "range_end", fs_json_base64(range->end));
    if (range->bare)
        body = with_member(body, "keys_only", json_true());
    if (range->last_by != NULL) {
        body = with_member(body, "sort_target", json_string(range->last_by));
        body = with_member(body, "sort_order", json_string("DESCEND"));
    }
    if (range->most != 0)
        body = with_member(body, "limit", fs_json_number(range->most));
    if (range->joined_before != 0)
        body = with_member(body, "max_create_revision", fs_json_number(range->joined_before - 1));
    if (range->set_before != 0)
        body = with_member(body, "max_mod_revision", fs_json_number(range->set_before - 1));
    if (range->watched_from != 0)
        body = with_member(body, "start_revision", fs_json_number(range->watched_from));
    return json_pack("{s:o}", how, body);
}

static json_t *txn_put(const char *key, json_t *value, int64_t lease)
{
    return json_pack("{s:{s:o,s:o,s:o}}", "request_put", "key", fs_json_base64(key), "value", value,
                     "lease", fs_json_number(lease));
}

static json_t *txn_delete(const char *key)
{
    return json_pack("{s:{s:o}}", "request_delete_range", "key", fs_json_base64(key));
}

/*
 * A condition on a range, or on one key if `end` is NULL.  An empty range counts as revision 0, which fulfills
 * only "LESS".
 */
static json_t *txn_compare(const char *key, const char *end, const char *target, const char *result,
                           const char *member, int64_t revision)
{
    json_t *condition = json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(key), "target", target,
                                  "result", result, member, fs_json_number(revision));

    return end == NULL ? condition : with_member(condition, "range_end", fs_json_base64(end));
}

static json_t *txn_set_before(const char *key, const char *end, int64_t revision)
{
    return txn_compare(key, end, "MOD", "LESS", "mod_revision", revision);
}

static json_t *txn_is_absent(const char *key, const char *end)
{
    return txn_compare(key, end, "CREATE", "LESS", "create_revision", 1);
}

static json_t *txn(json_t *when, json_t *then, json_t *otherwise)
{
    return json_pack("{s:o,s:o,s:o}", "compare", when, "success", then, "failure", otherwise);
}

/* ---- The steps ---- */

/* The parts of a view, in the order of FS_SAW_RUNNING and so on. */
static json_t *view_parts(const struct fs_record *record, const struct fs_keys *keys)
{
    return ITEMS(
        TXN_READ(.key = keys->limit, .end = keys->running_end),
        TXN_READ(.key = keys->waits, .bare = true),
        TXN_READ(.key = keys->waiting, .end = keys->equals, .last_by = "KEY", .most = 1),
        TXN_READ(.key = keys->equals, .end = keys->equals_end, .last_by = "CREATE", .most = 1,
                 .joined_before = record->joined));
}

static json_t *put_own_key(const struct fs_record *record, const char *key)
{
    char *value = fs_user_value(record);
    json_t *op = txn_put(key, fs_json_base64(value), record->lease);

    free(value);
    return op;
}

static json_t *limit_value(int64_t now, int64_t first)
{
    char text[48];

    snprintf(text, sizeof text, "%" PRId64 " %" PRId64, now, first);
    return fs_json_base64(text);
}

/* Returns a nested transaction that puts the limit and the request's key, on the conditions `when`. */
static json_t *put_with_limit(const struct fs_record *record, const struct fs_keys *keys, json_t *when)
{
    json_t *both = ITEMS(txn_put(keys->limit, limit_value(record->limit, record->limit), 0),
                         put_own_key(record, keys->waits));

    return json_pack("{s:o}", "request_txn", txn(when, both, json_array()));
}

static json_t *join_txn(const struct fs_record *record, const struct fs_keys *keys)
{
    json_t *same = json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(keys->limit), "target", "VALUE",
                             "result", "EQUAL", "value", limit_value(record->now, record->first));
    json_t *put, *set;

    if (fs_record_accepts_limit(record)) {
        same = ITEMS(same, txn_is_absent(keys->waits, NULL), txn_is_absent(keys->runs, NULL));
        put = put_own_key(record, keys->waits);
    } else {
        same = ITEMS(same, txn_is_absent(keys->waiting, keys->waiting_end),
                     txn_is_absent(keys->running, keys->running_end));
        put = put_with_limit(record, keys, json_array());
    }
    set = put_with_limit(record, keys, ITEMS(txn_is_absent(keys->limit, NULL),
                                            txn_is_absent(keys->waits, NULL),
                                            txn_is_absent(keys->runs, NULL)));
    return txn(same, with_item(view_parts(record, keys), put), with_item(view_parts(record, keys), set));
}

static json_t *begin_txn(const struct fs_record *record, const struct fs_keys *keys)
{
    json_t *when = ITEMS(
        txn_compare(keys->waits, NULL, "CREATE", "EQUAL", "create_revision", record->joined),
        txn_is_absent(keys->waiting, keys->equals),
        txn_compare(keys->equals, keys->equals_end, "CREATE", "GREATER", "create_revision",
                    record->joined - 1),
        txn_set_before(keys->limit, keys->running_end, record->seen_revision + 1));
    json_t *then = ITEMS(
        txn_delete(keys->waits),
        put_own_key(record, keys->runs));

    return txn(when, then, view_parts(record, keys));
}

/* The front has no predecessor: it watches the limit and the running keys. */
static struct range watched_range(const struct fs_record *record, const struct fs_keys *keys)
{
    if (record->predecessor[0] != '\0')
        return (struct range){ .key = record->predecessor };
    return (struct range){ .key = keys->limit, .end = keys->running_end };
}

static json_t *watch_question(const struct fs_record *record, const struct fs_keys *keys)
{
    struct range watched = watched_range(record, keys);

    watched.watched_from = record->seen_revision + 1;
    return ask_range("create_request", &watched);
}

static json_t *read_txn(json_t *parts)
{
    return txn(json_array(), parts, json_array());
}

static json_t *list_txn(const struct fs_keys *keys)
{
    return read_txn(ITEMS(
        TXN_READ(.key = keys->running, .end = keys->running_end, .most = FS_LIST_MAX),
        TXN_READ(.key = keys->waiting, .end = keys->waiting_end, .most = FS_LIST_MAX)));
}

/*
 * A linearizable read of the watched keys.  At the front, the read omits keys that have changed since the view,
 * so that read_transaction() counts too few keys, and thereby detects the change.
 */
static json_t *confirm_txn(const struct fs_record *record, const struct fs_keys *keys)
{
    struct range watched = watched_range(record, keys);

    watched.bare = true;
    if (watched.end != NULL)
        watched.set_before = record->seen_revision + 1;
    return read_txn(ITEMS(ask_range("request_range", &watched)));
}

static json_t *limit_txn(const struct fs_record *record, const struct fs_keys *keys)
{
    return txn(ITEMS(txn_compare(keys->limit, NULL, "CREATE", "GREATER", "create_revision", 0),
                     txn_set_before(keys->limit, NULL, record->seen_revision + 1)),
               ITEMS(txn_put(keys->limit, limit_value(record->limit, record->first), 0)),
               json_array());
}

static json_t *remove_txn(const struct fs_record *record, const struct fs_keys *keys)
{
    return txn(ITEMS(txn_is_absent(keys->waiting, keys->waiting_end),
                     txn_is_absent(keys->running, keys->running_end),
                     txn_set_before(keys->limit, NULL, record->seen_revision + 1)),
               ITEMS(txn_delete(keys->limit)), json_array());
}

char *fs_etcd_question(enum fs_step step, const struct fs_record *record, const char **path)
{
    struct fs_keys keys = fs_keys_of(record);

    *path = "/v3/kv/txn";
    switch (step) {
    case FS_GRANT:
        *path = "/v3/lease/grant";
        return fs_json_text(json_pack("{s:o,s:o}", "TTL", fs_json_number(record->ttl_s), "ID",
                                      fs_json_number(record->lease)));
    case FS_RENEW:
    case FS_END:
        *path = step == FS_RENEW ? "/v3/lease/keepalive" : "/v3/lease/revoke";
        return fs_json_text(json_pack("{s:o}", "ID", fs_json_number(record->lease)));
    case FS_WATCH:
        *path = "/v3/watch";
        return fs_json_text(watch_question(record, &keys));
    case FS_JOIN:
        return fs_json_text(join_txn(record, &keys));
    case FS_VIEW:
        return fs_json_text(read_txn(view_parts(record, &keys)));
    case FS_BEGIN:
        return fs_json_text(begin_txn(record, &keys));
    case FS_CONFIRM:
        return fs_json_text(confirm_txn(record, &keys));
    case FS_REMOVE:
        return fs_json_text(remove_txn(record, &keys));
    case FS_LIMIT:
        return fs_json_text(limit_txn(record, &keys));
    case FS_NEXT:
        return fs_json_text(read_txn(ITEMS(TXN_READ(.key = record->predecessor, .end = "fairsem0", .bare = true,
                                                    .most = 1))));
    case FS_LIST:
        return fs_json_text(list_txn(&keys));
    }
    return NULL;
}

/*
 * The first round, an attempt at each endpoint, must fit into FS_RETRY_BUDGET.  With a lease, the round must
 * also fit into 5/12 of the lease: a renewal starts after a third of the lease, and must be answered before
 * three quarters have passed.
 *
 * The time-out doubles in each round, because an overloaded etcd also processes questions that have timed out:
 * retries at a constant rate would keep etcd overloaded.
 */
long fs_etcd_timeout_ms(const struct fs_options *options, bool has_lease, unsigned rounds)
{
    int64_t count = options->endpoint_count, all = FS_RETRY_BUDGET / FS_NS_PER_MS, first;

    if (has_lease)
        all = fs_earlier(all, options->ttl_ns / FS_NS_PER_MS * 5 / 12);
    first = fs_earlier(ANSWER_MS, count <= 2 ? all * 2 / 5 : all / count);
    return (long)first << (rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
}

/* Returns the end of the written JSON string. */
static char *write_quoted(char *to, const char *text)
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

/* Does not use jansson, which would leave copies of the password in freed memory. */
char *fs_etcd_token_question(const struct fs_options *options)
{
    static const char name[] = "{\"name\":", password[] = ",\"password\":";
    char *text = malloc(sizeof name + sizeof password + 6 * strlen(options->user)
                        + 6 * strlen(options->files->password) + 8);

    if (text != NULL) {
        char *to = write_quoted(strcpy(text, name) + strlen(name), options->user);

        to = write_quoted(strcpy(to, password) + strlen(password), options->files->password);
        strcpy(to, "}");
    }
    return text;
}

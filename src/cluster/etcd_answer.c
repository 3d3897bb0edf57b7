/* SPDX-License-Identifier: MIT */
/* etcd_answer.c - see etcd_answer.h. */
#include "etcd_answer.h"

#include "etcd_ask.h"
#include "etcd_users.h"
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

/* gRPC status codes. */
enum {
    ANY = -1, INVALID = 3, NOT_FOUND = 5, DENIED = 7, EXHAUSTED = 8, PRECONDITION = 9,
    OUT_OF_RANGE = 11, UNIMPLEMENTED = 12, UNAUTHENTICATED = 16
};

/*
 * Meanings of etcd's errors.  The first match decides.  An error without a match becomes ENETUNREACH: another
 * endpoint may succeed.
 */
static const struct { int code; const char *words; int error; } meanings[] = {
    /* The token has expired, is older than a change of a role or user (code 2 in etcd 3.4), or is missing. */
    { UNAUTHENTICATED, "", EKEYEXPIRED },
    { ANY, "revision of auth store is old", EKEYEXPIRED },
    { ANY, "revision in header is old", EKEYEXPIRED },
    { INVALID, "user name is empty", EKEYEXPIRED },
    /* The user lacks the permission, does not exist or has another password; or etcd has no authentication. */
    { DENIED, "", EACCES },
    { INVALID, "authentication failed", EACCES },
    { ANY, "authentication is not enabled", EACCES },
    { PRECONDITION, "user name not found", EACCES },
    { PRECONDITION, "root user", EACCES },

    { NOT_FOUND, "lease not found", ESTALE },
    { PRECONDITION, "lease already exists", EEXIST },
    { EXHAUSTED, "space exceeded", ENOSPC },
    { INVALID, "", EPROTO },
    { OUT_OF_RANGE, "", EPROTO },
    /* The server is not etcd: its gRPC gateway does not know our paths. */
    { NOT_FOUND, "", EPROTO },
    { UNIMPLEMENTED, "", EPROTO },
};

static int error_of_code(int64_t code, const char *message)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if ((meanings[i].code == ANY || meanings[i].code == code)
            && strstr(message, meanings[i].words) != NULL)
            return meanings[i].error;
    }
    return ENETUNREACH;
}

/* Returns the error for an answer from a proxy, or from a server that is not etcd. */
static int error_of_status(long status)
{
    switch (status) {
    case 401: case 403: case 407:
        return EPERM;
    case 400: case 404: case 405: case 501:
        return EPROTO;
    default:
        return status >= 400 ? ENETUNREACH : EPROTO;
    }
}

/*
 * Parse an answer.  Returns 0, or the error that the HTTP status, the answer or its member "error" reports.
 * EEXIST means that the lease exists already.
 */
static int parse_answer(long status, const char *bytes, size_t n, json_t **out)
{
    const json_t *json = *out = fs_json_parse(bytes, n), *inner = json_object_get(json, "error");
    const char *message, *name = "code";
    int64_t code;

    if (json == NULL)
        return error_of_status(status);
    if (inner == NULL && status == 200)
        return 0;
    if (json_is_object(inner)) {
        json = inner;
        if (json_object_get(json, "code") == NULL)
            name = "grpc_code";
    }
    if (!fs_json_int(json, name, &code) || !fs_json_string(json, "message", &message))
        return EPROTO;
    if (code == 0)
        return error_of_status(status);
    return error_of_code(code, message);
}

/* ---- A transaction ---- */

static bool keys_in_part(const json_t *parts, size_t i, json_t **keys)
{
    json_t *range;

    return fs_json_object(json_array_get(parts, i), "response_range", &range)
        && fs_json_array(range, "kvs", keys);
}

/* Read the value of the limit's key: the current limit, a space, and the first limit of the name. */
static bool read_limit(const json_t *kv, struct fs_answer *answer)
{
    char text[48], *first;

    if (!fs_json_bytes(kv, "value", text, sizeof text) || (first = strchr(text, ' ')) == NULL)
        return false;
    *first++ = '\0';
    return fs_json_read_number(text, &answer->limit) && answer->limit >= 0
        && fs_json_read_number(first, &answer->first) && answer->first > 0;
}

/*
 * Read the limit, add up the units of the running requests, and find the caller's request among them.  If the
 * record has no lease, the caller needs only the limit, and damaged keys of requests are ignored.
 */
static bool read_running(const json_t *parts, const struct fs_record *record,
                         struct fs_answer *answer)
{
    const struct fs_keys names = fs_keys_of(record);
    json_t *keys;

    if (!keys_in_part(parts, FS_SAW_RUNNING, &keys))
        return false;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *kv = json_array_get(keys, i);
        struct fs_user user;
        bool is_user = fs_user_read(kv, record->prefix, &user) && user.runs;

        if (strcmp(user.key, names.limit) == 0 ? !read_limit(kv, answer) : !is_user && record->lease != 0)
            return false;
        if (!is_user)
            continue;
        if (user.about.reserved_[0] == record->lease)
            answer->began = user.revision;
        answer->runs++;
        answer->held += user.about.units;
        if (answer->held > FAIRSEM_MAX_UNITS)
            answer->held = FAIRSEM_MAX_UNITS;
    }
    return true;
}

/* Read the first key of a range and its create revision, or "" and 0 if the range is empty. */
static bool read_one_key(const json_t *parts, size_t i, char key[FS_KEY_SIZE], int64_t *revision)
{
    json_t *keys;

    key[0] = '\0';
    *revision = 0;
    if (!keys_in_part(parts, i, &keys))
        return false;
    if (json_array_size(keys) == 0)
        return true;
    return fs_json_bytes(json_array_get(keys, 0), "key", key, FS_KEY_SIZE)
        && fs_json_int(json_array_get(keys, 0), "create_revision", revision) && *revision > 0;
}

/* Set `key` to the predecessor in a range.  Leaves `key` unchanged if the range has none. */
static bool read_predecessor(const json_t *parts, size_t i, const struct fs_record *record,
                       char key[FS_KEY_SIZE])
{
    struct fs_user user;
    json_t *keys;

    if (!keys_in_part(parts, i, &keys))
        return false;
    if (json_array_size(keys) == 0)
        return true;
    /*
     * Fail on a damaged key, and on a key without a lease: such a key may never be deleted, and this request
     * would wait for the deletion forever.
     */
    if (!fs_user_read(json_array_get(keys, 0), record->prefix, &user) || user.runs)
        return false;
    if (user.about.reserved_[0] != record->lease)
        strcpy(key, user.key);
    return true;
}

static bool read_view(const json_t *parts, const struct fs_record *record, struct fs_answer *answer)
{
    char mine[FS_KEY_SIZE];

    if (!read_running(parts, record, answer)
        || !read_one_key(parts, FS_SAW_MINE, mine, &answer->joined)
        /* The second call overrides the first: predecessors of equal priority are nearer. */
        || !read_predecessor(parts, FS_SAW_BETTER, record, answer->predecessor)
        || !read_predecessor(parts, FS_SAW_EQUAL, record, answer->predecessor))
        return false;
    return mine[0] == '\0' || strcmp(mine, fs_keys_of(record).waits) == 0;
}

static int read_transaction(enum fs_step step, const json_t *json, const struct fs_record *record,
                            struct fs_answer *answer)
{
    json_t *parts, *inner;

    if (!fs_json_bool(json, "succeeded", &answer->done)
        || !fs_json_array(json, "responses", &parts))
        return EPROTO;
    if (answer->revision < record->seen_revision)
        return EPROTO;      /* the answer is from a member that lags, or from an older copy of the data */
    if (step == FS_CONFIRM) {
        if (!keys_in_part(parts, 0, &inner))
            return EPROTO;
        answer->done = (int64_t)json_array_size(inner) >= record->watched;
        return 0;
    }
    if (step == FS_LIST)
        return fs_users_read(parts, record->prefix, answer);
    if (step == FS_NEXT)
        return read_one_key(parts, 0, answer->predecessor, &answer->joined) ? 0 : EPROTO;
    if (step == FS_VIEW && record->lease == 0)
        return read_running(parts, record, answer) ? 0 : EBADMSG;
    if (step == FS_LIMIT || step == FS_REMOVE || (step == FS_BEGIN && answer->done))
        return 0;
    if (!read_view(parts, record, answer))
        return EBADMSG;
    if (step == FS_VIEW)
        answer->done = false;
    /* FS_JOIN is also done if its nested transaction has put the request's key. */
    if (step == FS_JOIN && !answer->done
        && (!fs_json_object(json_array_get(parts, FS_SAW_COUNT), "response_txn", &inner)
            || !fs_json_bool(inner, "succeeded", &answer->done)))
        return EPROTO;
    if (step == FS_JOIN && answer->done) {
        answer->joined = answer->revision;
        if (record->limit != answer->limit && record->limit != answer->first)
            answer->limit = answer->first = record->limit;
    }
    return 0;
}

/* ---- All answers ---- */

static bool read_header(const json_t *json, struct fs_answer *answer)
{
    const char *cluster;
    json_t *header;

    if (!fs_json_object(json, "header", &header)
        || !fs_json_int(header, "revision", &answer->revision) || answer->revision <= 0
        || !fs_json_int(header, "raft_term", &answer->term)
        || !fs_json_string(header, "cluster_id", &cluster)
        || strlen(cluster) >= sizeof answer->cluster)
        return false;
    strcpy(answer->cluster, cluster);
    return true;
}

static int read_answer(enum fs_step step, json_t *json, const char *cluster,
                       const struct fs_record *record, struct fs_answer *answer)
{
    /* The answer to a renewal is a stream of a single line, which has the member "result". */
    if (step == FS_RENEW && !fs_json_object(json, "result", &json))
        return EPROTO;
    if (!read_header(json, answer))
        return EPROTO;
    if (cluster[0] != '\0' && strcmp(cluster, answer->cluster) != 0)
        return EXDEV;
    if (step == FS_GRANT || step == FS_RENEW) {
        if (!fs_json_int(json, "TTL", &answer->ttl_s) || answer->ttl_s < 0)
            return EPROTO;
        return answer->ttl_s == 0 ? step == FS_RENEW ? ESTALE : EPROTO : 0;
    }
    return step == FS_END ? 0 : read_transaction(step, json, record, answer);
}

int fs_etcd_read_answer(enum fs_step step, long status, const char *bytes, size_t n,
                        const char *cluster, const struct fs_record *record, struct fs_answer *answer)
{
    json_t *json;
    int error = parse_answer(status, bytes, n, &json);

    memset(answer, 0, sizeof *answer);
    /* The lease exists already, or is gone already: the step has succeeded. */
    if ((step == FS_GRANT && error == EEXIST) || (step == FS_END && error == ESTALE)) {
        answer->ttl_s = record->ttl_s;
        error = 0;
    } else if (error == 0) {
        error = read_answer(step, json, cluster, record, answer);
    }
    if (error != 0) {
        free(answer->users);
        memset(answer, 0, sizeof *answer);
    }
    answer->error = error == EEXIST ? EPROTO : error;
    json_decref(json);
    return answer->error;
}

static int read_events(const json_t *events, const struct fs_record *record)
{
    const struct fs_keys keys = fs_keys_of(record);

    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        char key[FS_KEY_SIZE];
        const char *type;
        int64_t revision;
        json_t *kv;

        if (!fs_json_string(event, "type", &type) || !fs_json_object(event, "kv", &kv)
            || !fs_json_bytes(kv, "key", key, sizeof key) || !fs_json_int(kv, "mod_revision", &revision))
            return EPROTO;
        /* Ignore a new running key: a request that begins frees no units. */
        if (revision > record->seen_revision && (strcmp(type, "DELETE") == 0 || strcmp(key, keys.limit) == 0))
            return 0;
    }
    return EAGAIN;
}

int fs_etcd_read_event(const char *bytes, size_t n, const struct fs_record *record)
{
    json_t *json, *result, *events;
    bool canceled;
    int error = parse_answer(200, bytes, n, &json);

    if (error == EEXIST
        || (error == 0 && (!fs_json_object(json, "result", &result)
                           || !fs_json_bool(result, "canceled", &canceled)
                           || !fs_json_array(result, "events", &events))))
        error = EPROTO;
    else if (error == 0)
        error = canceled ? ECANCELED : read_events(events, record);
    json_decref(json);
    return error;
}

int fs_etcd_read_token(long status, const char *bytes, size_t n, char **header)
{
    static const char name[] = "Authorization: ";
    const char *text;
    json_t *json;
    int error = parse_answer(status, bytes, n, &json);

    *header = NULL;
    if (error == EKEYEXPIRED || error == ESTALE)
        error = EACCES;
    else if (error == EEXIST || (error == 0 && (!fs_json_string(json, "token", &text) || text[0] == '\0'
                                                || strpbrk(text, "\r\n") != NULL)))
        error = EPROTO;
    else if (error == 0 && (*header = malloc(sizeof name + strlen(text))) == NULL)
        error = ENOMEM;
    else if (error == 0)
        strcat(strcpy(*header, name), text);
    json_decref(json);
    return error;
}

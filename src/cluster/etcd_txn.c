/* SPDX-License-Identifier: MIT */
/* etcd_txn.c - see etcd_txn.h. */
#include "etcd_txn.h"

#include "json.h"

/* json_pack with "o", and json_array_append_new, fail if they are given NULL. */
json_t *fs_txn_list(json_t *const items[], size_t count)
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

json_t *fs_txn_read(const struct fs_range *range)
{
    json_t *body = json_pack("{s:o}", "key", fs_json_base64(range->key));
    bool whole = body != NULL;

#define ADD(name, value) (whole = (json_object_set_new(body, name, value) == 0) && whole)
    if (range->end[0] != '\0')
        ADD("range_end", fs_json_base64(range->end));
    if (range->bare)
        ADD("keys_only", json_true());
    if (range->last_by != NULL) {
        ADD("sort_target", json_string(range->last_by));
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

json_t *fs_txn_compare(const char *key, const char *end, const char *target, const char *result,
                       const char *member, int64_t revision)
{
    if (end == NULL)
        return json_pack("{s:o,s:s,s:s,s:o}", "key", fs_json_base64(key), "target", target,
                         "result", result, member, fs_json_number(revision));
    return json_pack("{s:o,s:o,s:s,s:s,s:o}", "key", fs_json_base64(key), "range_end",
                     fs_json_base64(end), "target", target, "result", result, member,
                     fs_json_number(revision));
}

json_t *fs_txn_created_before(const char *key, const char *end, int64_t revision)
{
    return fs_txn_compare(key, end, "CREATE", "LESS", "create_revision", revision);
}

json_t *fs_txn_is_absent(const char *key, const char *end)
{
    return fs_txn_created_before(key, end, 1);
}

json_t *fs_txn_put(const char *key, const char *value, int64_t lease)
{
    return value == NULL ? NULL : json_pack("{s:{s:o,s:o,s:o}}", "request_put",
        "key", fs_json_base64(key), "value", fs_json_base64(value), "lease", fs_json_number(lease));
}

json_t *fs_txn(json_t *when, json_t *then, json_t *otherwise)
{
    return json_pack("{s:o,s:o,s:o}", "compare", when, "success", then, "failure", otherwise);
}

json_t *fs_txn_delete(const char *key)
{
    return json_pack("{s:{s:o}}", "request_delete_range", "key", fs_json_base64(key));
}

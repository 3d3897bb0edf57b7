/* SPDX-License-Identifier: MIT */
/* etcd_error.c - see etcd_error.h. */
#include "etcd_error.h"

#include "json.h"

#include <errno.h>
#include <string.h>

/* Codes of gRPC, of which only some say more than that it did not work. */
enum {
    INVALID = 3, TOO_LATE = 4, NOT_FOUND = 5, DENIED = 7, EXHAUSTED = 8, PRECONDITION = 9,
    OUT_OF_RANGE = 11, UNAUTHENTICATED = 16
};

static int error_of(int64_t code, const char *message)
{
    switch (code) {
    case NOT_FOUND:
        return ESTALE;
    case DENIED:
        return EACCES;
    case UNAUTHENTICATED:
        return EKEYEXPIRED;
    case EXHAUSTED:
        return strstr(message, "space exceeded") != NULL ? ENOSPC : ENETUNREACH;
    case PRECONDITION:
        return strstr(message, "lease already exists") != NULL ? EEXIST : ENETUNREACH;
    case INVALID:
        if (strstr(message, "user name is empty") != NULL
            || strstr(message, "revision in header is old") != NULL)
            return EKEYEXPIRED;
        return strstr(message, "authentication failed") != NULL
            || strstr(message, "authentication is not enabled") != NULL ? EACCES : EPROTO;
    case OUT_OF_RANGE:
        return EPROTO;
    default:
        return ENETUNREACH;
    }
}

int fs_etcd_error(const json_t *json, long status)
{
    const json_t *inner = json_object_get(json, "error");
    const char *message, *name = "code";
    int64_t code;

    if (inner == NULL && status == 200)
        return 0;
    if (json_is_object(inner)) {
        json = inner;
        if (json_object_get(json, "code") == NULL)
            name = "grpc_code";
    }
    if (!fs_json_int(json, name, &code) || !fs_json_string(json, "message", &message))
        return EPROTO;
    if (code == 0)  /* from something between, such as a proxy */
        return status == 401 || status == 403 ? EACCES : status >= 500 ? ENETUNREACH : EPROTO;
    return error_of(code, message);
}

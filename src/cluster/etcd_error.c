/* SPDX-License-Identifier: MIT */
/* etcd_error.c - see etcd_error.h. */
#include "etcd_error.h"

#include "json.h"

#include <errno.h>
#include <string.h>

/* Codes of gRPC. */
enum {
    ANY = -1, INVALID = 3, NOT_FOUND = 5, DENIED = 7, EXHAUSTED = 8, PRECONDITION = 9, OUT_OF_RANGE = 11,
    UNAUTHENTICATED = 16
};

/* The first that fits counts.  Of all others only that it did not work, now or here. */
static const struct { int code; const char *words; int error; } meanings[] = {
    /* A token that has ended; one from before a change of a role or a user (3.4: code 2); none. */
    { UNAUTHENTICATED, "", EKEYEXPIRED },
    { ANY, "revision of auth store is old", EKEYEXPIRED },
    { ANY, "revision in header is old", EKEYEXPIRED },
    { INVALID, "user name is empty", EKEYEXPIRED },
    /* A user who may not, is none, or has another password; a user where there are none. */
    { DENIED, "", EACCES },
    { INVALID, "authentication failed", EACCES },
    { ANY, "authentication is not enabled", EACCES },
    { PRECONDITION, "user name not found", EACCES },
    { PRECONDITION, "root user", EACCES },

    { NOT_FOUND, "", ESTALE },
    { PRECONDITION, "lease already exists", EEXIST },
    { EXHAUSTED, "space exceeded", ENOSPC },
    { INVALID, "", EPROTO },
    { OUT_OF_RANGE, "", EPROTO },
};

static int error_of(int64_t code, const char *message)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if ((meanings[i].code == ANY || meanings[i].code == code)
            && strstr(message, meanings[i].words) != NULL)
            return meanings[i].error;
    }
    return ENETUNREACH;
}

int fs_etcd_no_error(long status)
{
    return status == 401 || status == 403 || status == 407 ? EACCES
        : status >= 400 ? ENETUNREACH : EPROTO;
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
    if (code == 0)
        return fs_etcd_no_error(status);
    return error_of(code, message);
}

/* SPDX-License-Identifier: MIT */
/* login.h - the token that etcd gives for a user and a password. */
#ifndef CLUSTER_LOGIN_H
#define CLUSTER_LOGIN_H

#include "endpoints.h"

struct fs_login {
    /* It has come; or why not: EACCES, ENETUNREACH, EPROTO, ENOMEM. */
    void (*came)(struct fs_login *login, int error);
    void *owner;
    struct fs_endpoints *at;

    char    *text;          /* NULL: there is none */
    unsigned number;        /* of the text, from 1 */
    bool     is_asked;
    struct fs_exchange exchange;
};

/* Ask for a new one, unless that is under way. */
void fs_login_ask(struct fs_login *login);

/* One of this number was refused: forget it, if it is not another by now. */
void fs_login_refused(struct fs_login *login, unsigned number);

/* The end. */
void fs_login_close(struct fs_login *login);

#endif

/* SPDX-License-Identifier: MIT */
/* login.c - see login.h. */
#include "login.h"

#include "etcd_answer.h"
#include "etcd_ask.h"

#include <errno.h>
#include <stdlib.h>

static void ended(struct fs_exchange *exchange, int error)
{
    struct fs_login *login = exchange->owner;

    login->is_asked = false;
    if (error == 0)
        error = fs_etcd_token(exchange->status, exchange->bytes, exchange->used, &login->text);
    if (error == 0)
        login->number++;
    /* It may have been changed meanwhile, in etcd and in its file. */
    if (error == EACCES && exchange->status != 0 && fs_options_password_has_changed(login->at->options))
        fs_login_ask(login);
    if (!login->is_asked)
        login->came(login, error);
}

void fs_login_ask(struct fs_login *login)
{
    unsigned few;

    if (login->is_asked)
        return;
    /* To compare a password takes etcd longer. */
    few = login->at->options->endpoint_count <= 2;
    login->exchange.ended = ended;
    login->exchange.line = NULL;
    login->exchange.owner = login;
    login->is_asked = fs_endpoints_post(login->at, &login->exchange, "/v3/auth/authenticate", NULL,
                                        fs_etcd_ask_token(login->at->options),
                                        fs_endpoints_patience(login->at, false, few)) == 0;
}

void fs_login_refused(struct fs_login *login, unsigned number)
{
    if (number != login->number)
        return;
    free(login->text);
    login->text = NULL;
}

void fs_login_close(struct fs_login *login)
{
    fs_http_stop(&login->exchange);
    free(login->text);
}

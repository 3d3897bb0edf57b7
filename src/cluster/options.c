/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. */
#include "options.h"

#include "clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for a password, which is the first line of its file. */
enum { PASSWORD_SIZE = 4096 };

/* A copy of the first `length` bytes of an endpoint, with a scheme.  NULL with errno. */
static char *copy_endpoint(const char *text, size_t length)
{
    const char *scheme = memchr(text, ':', length) != NULL && strstr(text, "://") != NULL
        && strstr(text, "://") < text + length ? "" : "http://";
    char *url = malloc(strlen(scheme) + length + 1);
    CURLU *parsed;
    CURLUcode result;
    char *part = NULL;

    if (url == NULL)
        return NULL;
    strcpy(url, scheme);
    strncat(url, text, length);
    while (url[0] != '\0' && url[strlen(url) - 1] == '/')
        url[strlen(url) - 1] = '\0';
    parsed = curl_url();
    result = parsed != NULL ? curl_url_set(parsed, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
    if (result == CURLUE_OK)
        result = curl_url_get(parsed, CURLUPART_SCHEME, &part, 0);
    if (result != CURLUE_OK || (strcmp(part, "http") != 0 && strcmp(part, "https") != 0)) {
        errno = result == CURLUE_OUT_OF_MEMORY ? ENOMEM : EINVAL;
        free(url);
        url = NULL;
    }
    curl_free(part);
    curl_url_cleanup(parsed);
    return url;
}

/* The endpoints, between commas and spaces. */
static int read_endpoints(struct fs_options *options, const char *list)
{
    static const char between[] = ", \t\n";

    for (list += strspn(list, between); *list != '\0'; list += strspn(list, between)) {
        size_t length = strcspn(list, between);

        if (options->endpoint_count == FS_ENDPOINTS_MAX)
            return EINVAL;
        options->endpoints[options->endpoint_count] = copy_endpoint(list, length);
        if (options->endpoints[options->endpoint_count] == NULL)
            return errno;
        options->endpoint_count++;
        list += length;
    }
    return options->endpoint_count > 0 ? 0 : EINVAL;
}

/* Read the password into `secret`, which is all zero.  0, or an errno value. */
static int read_password(const char *path, char secret[PASSWORD_SIZE])
{
    int file = open(path, O_RDONLY | O_CLOEXEC), error = 0;

    if (file < 0)
        return errno;
    if (read(file, secret, PASSWORD_SIZE - 1) < 0)
        error = errno;
    secret[strcspn(secret, "\r\n")] = '\0';
    close(file);
    return error;
}

void fs_wipe(volatile char *secret, size_t size)
{
    for (size_t i = 0; secret != NULL && i < size; i++)
        secret[i] = 0;
}

/* One that cannot be read, or is empty, as while it is written, is no other. */
bool fs_options_password_has_changed(struct fs_options *options)
{
    char secret[PASSWORD_SIZE] = "";
    bool changed = options->password_file != NULL && read_password(options->password_file, secret) == 0
                   && secret[0] != '\0' && strcmp(secret, options->password) != 0;

    if (changed)
        memcpy(options->password, secret, PASSWORD_SIZE);
    fs_wipe(secret, PASSWORD_SIZE);
    return changed;
}

/* Copy a string that may be NULL. */
static int copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from != NULL && *to == NULL ? ENOMEM : 0;
}

/* A file that is named must be readable now: curl would only say so later, and less clearly. */
static int copy_path(char **to, const char *path)
{
    int error = copy_text(to, path);

    return error != 0 || path == NULL || access(path, R_OK) == 0 ? error : errno;
}

static int check_attr(const fairsem_cluster_attr_t *attr)
{
    if (attr->endpoints == NULL || attr->flags != 0 || attr->limit < 0
        || attr->limit > FAIRSEM_MAX_UNITS)
        return EINVAL;
    if ((attr->user == NULL) != (attr->password_file == NULL)
        || (attr->cert_file == NULL) != (attr->key_file == NULL))
        return EINVAL;
    if (attr->ttl_ns != 0 && (attr->ttl_ns < FAIRSEM_CLUSTER_TTL_MIN
            || attr->ttl_ns > FAIRSEM_CLUSTER_TTL_MAX || attr->ttl_ns % FS_NS_PER_S != 0))
        return EINVAL;
    for (size_t i = 0; i < sizeof attr->reserved_ / sizeof attr->reserved_[0]; i++)
        if (attr->reserved_[i] != 0)
            return EINVAL;
    return 0;
}

int fs_options_read(struct fs_options *options, const fairsem_cluster_attr_t *attr)
{
    int error = check_attr(attr);

    memset(options, 0, sizeof *options);
    if (error == 0)
        error = read_endpoints(options, attr->endpoints);
    if (error == 0)
        error = copy_text(&options->user, attr->user);
    if (error == 0)
        error = copy_text(&options->password_file, attr->password_file);
    if (error == 0 && attr->password_file != NULL) {
        options->password = calloc(1, PASSWORD_SIZE);
        error = options->password == NULL ? ENOMEM
            : read_password(attr->password_file, options->password);
    }
    if (error == 0)
        error = copy_path(&options->ca_file, attr->ca_file);
    if (error == 0)
        error = copy_path(&options->cert_file, attr->cert_file);
    if (error == 0)
        error = copy_path(&options->key_file, attr->key_file);
    if (error == 0)
        error = copy_text(&options->program, attr->program);
    options->limit = attr->limit;
    options->ttl_ns = attr->ttl_ns != 0 ? attr->ttl_ns : FAIRSEM_CLUSTER_TTL;
    if (error != 0)
        fs_options_free(options);
    return error;
}

void fs_options_free(struct fs_options *options)
{
    fs_wipe(options->password, PASSWORD_SIZE);
    for (unsigned i = 0; i < options->endpoint_count; i++)
        free(options->endpoints[i]);
    free(options->user);
    free(options->password);
    free(options->password_file);
    free(options->ca_file);
    free(options->cert_file);
    free(options->key_file);
    free(options->program);
    memset(options, 0, sizeof *options);
}

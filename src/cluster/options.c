/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. */
#define _GNU_SOURCE             /* asprintf, explicit_bzero, memfd_create, memmem */
#include "options.h"

#include "clock.h"
#include "srv.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* Size limit of a file: some files have no end, and certificates are much smaller. */
enum { FILE_MAX = 16 << 20 };

/* Add a copy of an endpoint.  The default scheme is "http://". */
static int add_endpoint(struct fs_options *options, const char *text, size_t length)
{
    const char *scheme = memmem(text, length, "://", 3) != NULL ? "" : "http://";
    char **url = &options->endpoints[options->endpoint_count];
    CURLU *parsed;
    CURLUcode result;

    if (options->endpoint_count == FS_ENDPOINTS_MAX)
        return EINVAL;
    while (length > 0 && text[length - 1] == '/')
        length--;
    if (asprintf(url, "%s%.*s", scheme, (int)length, text) < 0)
        return ENOMEM;
    options->endpoint_count++;
    if (strncasecmp(*url, "http://", 7) != 0 && strncasecmp(*url, "https://", 8) != 0)
        return EINVAL;
    parsed = curl_url();
    result = parsed != NULL ? curl_url_set(parsed, CURLUPART_URL, *url, 0) : CURLUE_OUT_OF_MEMORY;
    curl_url_cleanup(parsed);
    return result == CURLUE_OK ? 0 : result == CURLUE_OUT_OF_MEMORY ? ENOMEM : EINVAL;
}

/* Callback: add an endpoint found in DNS.  Ignores endpoints above FS_ENDPOINTS_MAX. */
static int add_found(void *options, const char *url, size_t length)
{
    return ((struct fs_options *)options)->endpoint_count == FS_ENDPOINTS_MAX ? 0
           : add_endpoint(options, url, length);
}

static int find_endpoints(struct fs_options *options, const char *text, size_t length)
{
    char *domain = strndup(text, length);
    int error = domain != NULL ? fs_srv_find(domain, add_found, options) : ENOMEM;

    free(domain);
    return error;
}

static int read_endpoints(struct fs_options *options, const char *list)
{
    static const char between[] = ", \t\n", srv[] = "srv://";
    int error = EINVAL;

    for (list += strspn(list, between); *list != '\0'; list += strspn(list, between)) {
        size_t length = strcspn(list, between);

        if (strncasecmp(list, srv, sizeof srv - 1) == 0)
            error = find_endpoints(options, list + sizeof srv - 1, length - (sizeof srv - 1));
        else
            error = add_endpoint(options, list, length);
        if (error != 0)
            return error;
        list += length;
    }
    return error;
}

/* Copy a string that may be NULL.  Returns false if memory runs out. */
static bool copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static int copy_file(const char *path, int *copy)
{
    char bytes[FS_PASSWORD_SIZE];
    int file = open(path, O_RDONLY | O_CLOEXEC), error = 0;
    size_t total = 0;
    ssize_t n;

    if (file < 0)
        return errno;
    *copy = memfd_create("fairsem", MFD_CLOEXEC);
    while (error == 0 && (n = *copy < 0 ? -1 : read(file, bytes, sizeof bytes)) != 0) {
        if (n < 0 || write(*copy, bytes, (size_t)n) != n)
            error = errno;
        else if ((total += (size_t)n) > FILE_MAX)
            error = EFBIG;
    }
    explicit_bzero(bytes, sizeof bytes);
    close(file);
    return error;
}

/* Read all files, and drop one reference to them.  Also the start function of the thread for fs_files_again. */
static void *read_files(void *arg)
{
    struct fs_files *files = arg;
    int error = 0;

    for (int i = 0; i < FS_FILES && error == 0; i++)
        if (files->paths[i] != NULL)
            error = copy_file(files->paths[i], &files->copies[i]);
    if (error == 0 && files->copies[FS_PASSWORD] >= 0
        && pread(files->copies[FS_PASSWORD], files->password, FS_PASSWORD_SIZE - 1, 0) < 0)
        error = errno;
    files->password[strcspn(files->password, "\r\n")] = '\0';
    atomic_store(&files->error, error);
    fs_files_drop(files);
    return NULL;
}

void fs_files_drop(struct fs_files *files)
{
    if (files == NULL || atomic_fetch_sub(&files->owners, 1) != 1)
        return;
    explicit_bzero(files->password, FS_PASSWORD_SIZE);
    for (int i = 0; i < FS_FILES; i++) {
        free(files->paths[i]);
        if (files->copies[i] >= 0)
            close(files->copies[i]);
    }
    free(files);
}

/* Returns unread files with two references, one of them for read_files; or NULL if memory runs out. */
static struct fs_files *new_files(const char *const paths[FS_FILES])
{
    struct fs_files *files = calloc(1, sizeof *files);
    bool whole = true;

    if (files == NULL)
        return NULL;
    for (int i = 0; i < FS_FILES; i++) {
        files->copies[i] = -1;
        whole = copy_text(&files->paths[i], paths[i]) && whole;
    }
    files->owners = whole ? 2 : 1;
    files->error = EINPROGRESS;
    if (whole)
        return files;
    fs_files_drop(files);
    return NULL;
}

/* The thread is detached, because it may hang in a file system forever. */
struct fs_files *fs_files_again(const struct fs_files *files)
{
    struct fs_files *again = new_files((const char *const *)files->paths);
    pthread_t thread;

    if (again != NULL && pthread_create(&thread, NULL, read_files, again) == 0) {
        pthread_detach(thread);
    } else if (again != NULL) {
        again->error = EAGAIN;
        fs_files_drop(again);
    }
    return again;
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
    const char *const paths[FS_FILES] = {
        [FS_PASSWORD] = attr->password_file, [FS_CA] = attr->ca_file,
        [FS_CERT] = attr->cert_file, [FS_KEY] = attr->key_file,
    };
    int error = check_attr(attr);

    options->limit = attr->limit;
    options->ttl_ns = attr->ttl_ns != 0 ? attr->ttl_ns : FAIRSEM_CLUSTER_TTL;
    if (error == 0)
        error = read_endpoints(options, attr->endpoints);
    if (error == 0 && (!copy_text(&options->user, attr->user) || !copy_text(&options->program, attr->program)
                       || (options->files = new_files(paths)) == NULL))
        error = ENOMEM;
    if (error == 0) {
        read_files(options->files);
        error = options->files->error;
    }
    if (error != 0)
        fs_options_free(options);
    return error;
}

void fs_options_free(struct fs_options *options)
{
    for (unsigned i = 0; i < options->endpoint_count; i++)
        free(options->endpoints[i]);
    free(options->user);
    fs_files_drop(options->files);
    free(options->program);
}

/* SPDX-License-Identifier: MIT */
/* cluster_open.c - endpoints and credentials of etcd; see cluster_name.h. */
#include "cluster_name.h"

#include "run/printable.h"
#include "output.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "FAIRSEM_LIMIT_CLUSTER"

const char *cluster_error(int error)
{
    switch (error) {
    case ENETUNREACH: return "etcd does not answer";
    case EACCES:      return "etcd has refused the user, password or certificate, or has no users; or its "
                             "certificate was refused";
    case EPROTO:      return "etcd's answer is invalid";
    case ENOSPC:      return "etcd's disk is full";
    case ESTALE:      return "etcd has ended the lease";
    case EBUSY:       return "commands run or wait under this name";
    case ENOENT:      return "there is no such name";
    default:          return strerror(error);
    }
}

int cluster_result(const struct cluster_name *name, int error)
{
    char why[200] = "";

    if (error == 0)
        return 0;
    if (error == ENETUNREACH || error == EACCES || error == EPROTO)
        fairsem_cluster_why(name->handle, why, sizeof why);
    return output_failure("%s: %s%s%s", name->name, cluster_error(error), why[0] != '\0' ? ": " : "", why);
}

/* Returns the value of an environment variable, or NULL if it is unset or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' ? value : NULL;
}

/* Read a variable that names a file.  Returns false after a message if the file cannot be read. */
static bool read_file_name(const char *name, const char **path)
{
    struct stat st;

    *path = variable(name);
    if (*path == NULL)
        return true;
    if (access(*path, R_OK) == 0 && stat(*path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return true;
        errno = EISDIR;
    }
    warn("%s: %s", name, *path);
    return false;
}

/* Are both variables set, or both unset?  If not, prints a message. */
static bool are_both(const char *one, const char *other)
{
    if ((variable(one) == NULL) == (variable(other) == NULL))
        return true;
    warnx("%s needs %s", variable(one) != NULL ? one : other, variable(one) != NULL ? other : one);
    return false;
}

static bool read_credentials(fairsem_cluster_attr_t *attr)
{
    attr->user = variable(VARIABLE "_USER");
    return read_file_name(VARIABLE "_PASSWORD_FILE", &attr->password_file)
           && read_file_name(VARIABLE "_CA_FILE", &attr->ca_file)
           && read_file_name(VARIABLE "_CERT_FILE", &attr->cert_file)
           && read_file_name(VARIABLE "_KEY_FILE", &attr->key_file)
           && are_both(VARIABLE "_USER", VARIABLE "_PASSWORD_FILE")
           && are_both(VARIABLE "_CERT_FILE", VARIABLE "_KEY_FILE");
}

/* Returns an error message about the name, or NULL. */
static const char *wrong_name(const char *name)
{
    if (*name == '\0')
        return "a name is not empty";
    if (strlen(name) > FAIRSEM_CLUSTER_NAME_MAX)
        return "a name has at most 255 bytes";
    for (; *name != '\0'; name++) {
        if (control_length(name) != 0)
            return "a name has no control characters";
    }
    return NULL;
}

int cluster_open(struct cluster_name *name, const struct request *request)
{
    fairsem_cluster_attr_t attr = { .endpoints = request->cluster.endpoints,
                                    .limit = request->what == RUN ? request->limit : 0,
                                    .ttl_ns = request->cluster.ttl_ns };
    const char *wrong = request->name != NULL ? wrong_name(request->name) : NULL;
    const char *last;
    int error;

    name->request = request;
    name->name = request->name != NULL ? request->name : "all names";
    if (wrong != NULL)
        return output_failure("%s: %s", name->name, wrong);
    if (request->what == RUN) {
        last = strrchr(request->command[0], '/');
        attr.program = last != NULL ? last + 1 : request->command[0];
    }
    if (strchr(attr.endpoints, '@') != NULL)
        return output_failure("--cluster: a URL must have no user, because everybody can read it: "
                              "set FAIRSEM_LIMIT_CLUSTER_USER");
    if (!read_credentials(&attr))
        return OWN_FAILURE;
    error = fairsem_cluster_open(&name->handle, name->name, &attr);
    if (error == EINVAL)
        return output_failure("--cluster: '%s' is not a list of URLs such as http://10.0.0.1:2379", attr.endpoints);
    if (error == ENODATA)
        return output_failure("--cluster: DNS has no etcd for '%s'", attr.endpoints);
    if (error == ENETUNREACH)
        return output_failure("--cluster: no name server answers for '%s'", attr.endpoints);
    return error != 0 ? output_failure("%s: %s", name->name, strerror(error)) : 0;
}

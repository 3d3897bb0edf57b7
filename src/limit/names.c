/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#define _GNU_SOURCE             /* O_TMPFILE */
#include "names.h"

#include "run/printable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"
#define COMMON_PREFIX "fairsem-limit."
#define GATE_SUFFIX " rate"     /* no name ends like this, because a name contains no space */

enum { PREFIX_SIZE = 40 };

static const char *directory = SHARED_MEMORY;
static char        private[PATH_MAX];       /* directory for own names, or "" if `directory` is for all names */

/* Control characters are refused in names, because a terminal would obey them when a name is printed. */
static bool has_space_or_control(const char *text)
{
    while (*text != '\0' && *text != ' ' && control_length(text) == 0)
        text++;
    return *text != '\0';
}

/* ---- Directories ---- */

/*
 * Does the path have this type, belong to this user, and have none of the permissions `others`?  A file that
 * passes also passes the checks of FAIRSEM_SHARED_OWN.
 */
static bool belongs_to_us(const char *path, mode_t type, mode_t others)
{
    struct stat st;

    return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid()
           && (type == S_IFDIR || st.st_nlink == 1) && (st.st_mode & others) == 0;
}

/*
 * Use a directory below `parent` for own names, if only this user may change the parent, and its file system
 * supports segments.  A file system that is full, or read-only in a container, is accepted: the next command
 * may find room in it, or run outside the container.  If this command used another directory than the next
 * command, the name would have two segments.
 */
static bool use_private(const char *parent)
{
    bool good = false;

    if (parent != NULL && *parent == '/' && !has_space_or_control(parent)
        && belongs_to_us(parent, S_IFDIR, S_IWGRP | S_IWOTH)
        && snprintf(private, sizeof private, "%s/fairsem-limit", parent) < (int)sizeof private) {
        mkdir(private, 0700);
        good = belongs_to_us(private, S_IFDIR, S_IRWXG | S_IRWXO);
    }
    if (good) {
        int file = open(private, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        good = file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR);
        if (file >= 0)
            close(file);
    }
    if (!good)
        private[0] = '\0';
    return good;
}

static void choose_private(void)
{
    char of_session[40];

    snprintf(of_session, sizeof of_session, "/run/user/%lu", (unsigned long)geteuid());
    if (geteuid() == 0)
        use_private("/run");
    else if (!use_private(getenv("XDG_RUNTIME_DIR")))
        use_private(of_session);
}

const char *names_set_directory(const char *path)
{
    static char shorter[PATH_MAX];
    size_t length;

    if (path == NULL) {
        choose_private();
        return NULL;
    }
    if (*path != '/')
        return "the path of a directory begins with a slash";
    if (has_space_or_control(path))
        return "the path of a directory has no space and no control character here";
    length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length >= sizeof shorter)
        return strerror(ENAMETOOLONG);
    memcpy(shorter, path, length);      /* a NUL follows, because `shorter` is static */
    directory = shorter;
    return NULL;
}

const char *names_directory(bool global)
{
    return global || private[0] == '\0' ? directory : private;
}

/* ---- Names ---- */

static void write_prefix(bool global, char prefix[PREFIX_SIZE])
{
    if (global)
        snprintf(prefix, PREFIX_SIZE, "%s", COMMON_PREFIX);
    else
        snprintf(prefix, PREFIX_SIZE, "fairsem-limit-%lu.", (unsigned long)geteuid());
}

/* Returns false if the path is too long. */
static bool write_path(const char *where, const char *prefix, const char *name, char segment[SEGMENT_NAME_SIZE])
{
    return snprintf(segment, SEGMENT_NAME_SIZE, "%s/%s%s", where, prefix, name) < SEGMENT_NAME_SIZE;
}

const char *name_find(const char *name, bool global, char segment[SEGMENT_NAME_SIZE])
{
    const char *where = names_directory(global);
    char prefix[PREFIX_SIZE];

    if (*name == '\0')
        return "the name is empty";
    if (strchr(name, '/') != NULL)
        return "a name has no slash";
    if (has_space_or_control(name))
        return "a name has no space and no control character";
    write_prefix(global, prefix);
    if (strlen(prefix) + strlen(name) > NAME_MAX)
        return "the name is too long";
    if (where != directory && write_path(directory, prefix, name, segment)
        && belongs_to_us(segment, S_IFREG, S_IWGRP | S_IWOTH))
        return NULL;
    return write_path(where, prefix, name, segment) ? NULL : "the name is too long";
}

bool name_of_gate(const char *name, bool global, char segment[SEGMENT_NAME_SIZE])
{
    char prefix[PREFIX_SIZE];

    write_prefix(global, prefix);
    return snprintf(segment, SEGMENT_NAME_SIZE, "%s/%s%s" GATE_SUFFIX, names_directory(global), prefix, name)
           < SEGMENT_NAME_SIZE;
}

bool name_can_be_made(const char *segment, bool global)
{
    const char *where = names_directory(global);

    return strncmp(segment, where, strlen(where)) == 0;
}

const char *name_owner(const char *segment)
{
    static char owner[100];
    const struct passwd *user;
    struct stat st;

    if (lstat(segment, &st) != 0 || st.st_uid == geteuid())
        return NULL;
    user = getpwuid(st.st_uid);
    if (user != NULL)
        snprintf(owner, sizeof owner, "user %s", user->pw_name);
    else
        snprintf(owner, sizeof owner, "user %lu", (unsigned long)st.st_uid);
    return owner;
}

/* O_NONBLOCK: the path of a global name may be a FIFO of another user, and open() of a FIFO may block. */
void name_spare(const char *segment, bool also_in_command)
{
    int file = open(segment, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (also_in_command ? 0 : O_CLOEXEC));

    if (file >= 0)
        flock(file, LOCK_SH | LOCK_NB);
}

/* ---- All names ---- */

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order == 0)
        order = x->global - y->global;
    return order != 0 ? order : x->gate - y->gate;
}

/* Returns false if there is no memory. */
static bool add_name(struct listed **list, size_t *count, const char *file, bool global)
{
    char prefix[PREFIX_SIZE], segment[SEGMENT_NAME_SIZE];
    struct listed found = { .global = global }, *longer;
    size_t length, suffix = strlen(GATE_SUFFIX);

    write_prefix(global, prefix);
    length = strlen(prefix);
    if (strncmp(file, prefix, length) != 0)
        return true;
    strcpy(found.name, file + length);
    length = strlen(found.name);
    found.gate = length > suffix && strcmp(found.name + length - suffix, GATE_SUFFIX) == 0;
    if (found.gate)
        found.name[length - suffix] = '\0';
    if (name_find(found.name, global, segment) != NULL)
        return true;
    longer = realloc(*list, (*count + 2) * sizeof **list);
    if (longer == NULL)
        return false;
    *list = longer;
    longer[(*count)++] = found;
    longer[*count] = (struct listed){ .name = "" };
    return true;
}

/* Returns 0 or an errno value. */
static int add_names(struct listed **list, size_t *count, const char *where)
{
    DIR *files = opendir(where);
    struct dirent *entry;
    bool good = true;

    if (files == NULL)
        return errno;
    while (good && (entry = readdir(files)) != NULL)
        good = add_name(list, count, entry->d_name, false)
               && (where != directory || add_name(list, count, entry->d_name, true));
    closedir(files);
    return good ? 0 : ENOMEM;
}

struct listed *names_list(void)
{
    struct listed *list = calloc(1, sizeof *list);
    size_t count = 0;
    int error = list != NULL ? add_names(&list, &count, directory) : ENOMEM;

    if (error == 0 && private[0] != '\0')
        error = add_names(&list, &count, private);
    if (error != 0) {
        free(list);
        errno = error;
        return NULL;
    }
    qsort(list, count, sizeof *list, by_name);
    return list;
}

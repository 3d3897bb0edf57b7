/* SPDX-License-Identifier: MIT */
/* file_list.c - the names of all regular files below a directory, for compress-tree. */
#define _POSIX_C_SOURCE 200809L

#include "file_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void complain(const char *path, const char *why)
{
    flockfile(stderr);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr); /* remove the progress line, if there is one */
    fputs("compress-tree: ", stderr);
    for (const char *p = path; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        /* A file name must not be able to move the cursor or to forge a second line. */
        if (c < 0x20 || c == 0x7f)
            fprintf(stderr, "\\%03o", (unsigned)c);
        else
            putc(c, stderr);
    }
    fprintf(stderr, ": %s\n", why);
    funlockfile(stderr);
}

void complain_errno(const char *path, int err)
{
    char why[128];

    if (strerror_r(err, why, sizeof(why)) != 0)
        snprintf(why, sizeof(why), "error %d", err);
    complain(path, why);
}

/* Append a name.  The list owns `path` from now on, even if push() fails. */
static int push(struct file_list *list, char *path)
{
    if (path == NULL)
        return ENOMEM;
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 64 : list->room * 2;
        char **bigger = realloc(list->path, room * sizeof(*bigger));

        if (bigger == NULL) {
            free(path);
            return ENOMEM;
        }
        list->path = bigger;
        list->room = room;
    }
    list->path[list->count++] = path;
    return 0;
}

/* Return dir/name in new memory, or NULL. */
static char *join(const char *dir, const char *name)
{
    size_t length = strlen(dir);
    const char *slash = length > 0 && dir[length - 1] == '/' ? "" : "/";
    size_t room = length + strlen(name) + 2;
    char *path = malloc(room);

    if (path != NULL)
        snprintf(path, room, "%s%s%s", dir, slash, name);
    return path;
}

static DIR *open_dir(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && dir == NULL) {
        int err = errno;

        close(fd);
        errno = err;
    }
    return dir;
}

/* Sort the entries of one directory into files and further directories. */
static int read_dir(DIR *dir, const char *path, struct file_list *files,
                    struct file_list *dirs, int64_t *skipped)
{
    struct dirent *entry;
    struct stat st;
    int err = 0;

    while (err == 0 && (errno = 0, entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        /* fstatat(), not d_type: POSIX does not have d_type, and some file systems do not fill it in. */
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            int why = errno;
            char *full = join(path, name);

            complain_errno(full != NULL ? full : name, why);
            free(full);
            ++*skipped;
        } else if (S_ISREG(st.st_mode)) {
            err = push(files, join(path, name));
        } else if (S_ISDIR(st.st_mode)) {
            err = push(dirs, join(path, name));
        }
    }
    if (err == 0 && errno != 0) { /* readdir failed: keep the entries read so far */
        complain_errno(path, errno);
        ++*skipped;
    }
    return err;
}

/*
 * `dirs` is a stack of the directories that are still to be read.  So there is no recursion, only
 * one directory is open at a time, and a tree may be of any depth.  A name that is longer than the
 * system can open (PATH_MAX) counts as a name that cannot be read.
 */
int file_list_collect(struct file_list *list, const char *top, int64_t *skipped)
{
    struct file_list dirs = { 0 };
    DIR *dir = open_dir(top, 0); /* only `top` itself may be a symbolic link */
    int err = dir == NULL ? errno : read_dir(dir, top, list, &dirs, skipped);

    if (dir != NULL)
        closedir(dir);
    while (err == 0 && dirs.count > 0) {
        char *path = dirs.path[--dirs.count];

        dir = open_dir(path, O_NOFOLLOW);
        if (dir != NULL) {
            err = read_dir(dir, path, list, &dirs, skipped);
            closedir(dir);
        } else if (errno == ENOMEM || errno == EMFILE || errno == ENFILE) {
            err = errno; /* our own failure, not the directory's */
        } else {
            complain_errno(path, errno);
            ++*skipped;
        }
        free(path);
    }
    file_list_free(&dirs);
    return err;
}

void file_list_free(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->path[i]);
    free(list->path);
    *list = (struct file_list){ 0 };
}

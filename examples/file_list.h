/* SPDX-License-Identifier: MIT */
/* file_list.h - the names of all regular files below a directory, for compress-tree. */
#ifndef FILE_LIST_H
#define FILE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct file_list {
    char **path;
    size_t count;
    size_t room;
};

/*
 * Fill *list (all zero at first) with the regular files below `top`.  Symbolic links are not followed,
 * and special files are ignored.  A name below `top` that cannot be read costs one message, and adds
 * one to *skipped.  Returns 0, or an errno value if `top` cannot be read or memory or descriptors
 * are used up.
 */
int file_list_collect(struct file_list *list, const char *top, int64_t *skipped);

void file_list_free(struct file_list *list);

/*
 * Print one line on stderr: the name of the file, with control characters made visible, and what
 * is wrong with the file.  Lines of several threads do not mix.
 */
void complain(const char *path, const char *why);
void complain_errno(const char *path, int err);

#endif /* FILE_LIST_H */

/* SPDX-License-Identifier: MIT */
/*
 * names.h - the names of segments.
 *
 * Each user has names of their own, which no other user can use, because a process that may write
 * to a segment can damage it.  A name is common to all users only on request.  Both kinds have a
 * prefix, so that they do not clash with the names of other programs in the directory.
 */
#ifndef LIMIT_NAMES_H
#define LIMIT_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum { SEGMENT_NAME_SIZE = PATH_MAX, SEGMENT_PATH_SIZE = PATH_MAX + 20 };

/*
 * Where names are; NULL: in /dev/shm.  Returns NULL, or what is wrong with the path.  The string must
 * stay.
 */
const char *names_set_directory(const char *path);

/* The directory. */
const char *names_directory(void);

/* Write the segment's name to `segment`.  Returns NULL, or what is wrong with the user's name. */
const char *name_of_segment(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/* Write the path of the segment's file. */
void name_path(const char *segment, char path[SEGMENT_PATH_SIZE]);

/*
 * While the name is used, a BSD lock keeps systemd-tmpfiles (since version 254) from removing its file.
 * The descriptor stays open until the process ends, or the command if the process becomes it: to close
 * it would drop the record locks of the process, and the units with them.
 */
void name_spare(const char *segment, bool also_in_command);

/*
 * Did this user make the segment?  In a directory where everybody may make files, another user can
 * make one with our name before we do.
 */
bool name_is_own(const char *segment);

/* A list of names that exist, sorted, ending with NULL.  NULL: an error, which is in errno. */
struct listed {
    char *name;
    bool  global;
};
struct listed *names_list(void);
void names_free(struct listed *list);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * names.h - find the file of a name's segment.  fairsem-limit(1) says where the files are, and why.
 *
 * Each user has separate names, because a process with write access to a segment can damage the segment or keep
 * it locked.  Own names and global names have different prefixes in their file names, so that no file clashes
 * with a file of another program.
 */
#ifndef LIMIT_NAMES_H
#define LIMIT_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum { SEGMENT_NAME_SIZE = PATH_MAX };

/* Use the directory of --dir, or the default directories if path is NULL.  Returns NULL or an error message. */
const char *names_set_directory(const char *path);

/* Returns the directory for new names: global names, or own names of this user. */
const char *names_directory(bool global);

/*
 * Write the path of the name's file, which need not exist, to `segment`.  Returns NULL, or an error message.
 */
const char *name_find(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/*
 * Write the path of the name's gate (rate.h) to `segment`.  No name has this path.  Returns false if the path
 * is too long.
 */
bool name_of_gate(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/*
 * Is `segment`, which name_find() has written, a path in the directory for new names?  If not, name_find() has
 * found an existing file in another directory.  If that file is gone, call name_find() again.
 */
bool name_can_be_made(const char *segment, bool global);

/* Returns "user NAME" for messages if another user owns the file, else NULL. */
const char *name_owner(const char *segment);

/*
 * Take a BSD lock on the file of a name in use, because systemd-tmpfiles (since version 254) removes no file
 * with such a lock.  The descriptor stays open until the process ends, even after an exec if also_in_command.
 * Closing the descriptor would drop all record locks of the process on the file, and thus the units.
 */
void name_spare(const char *segment, bool also_in_command);

/* Returns a sorted list of all names and gates, allocated with malloc() and ended by "", or NULL with errno. */
struct listed {
    char name[NAME_MAX + 1];
    bool global, gate;
};
struct listed *names_list(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * names.h - from names to files of segments.  fairsem-limit(1) says where the files are, and why.
 *
 * Each user has separate names, because a process with write access to a segment can damage it or keep it
 * locked.  Own and global names have a prefix, so that they do not clash with files of other programs.
 */
#ifndef LIMIT_NAMES_H
#define LIMIT_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum { SEGMENT_NAME_SIZE = PATH_MAX };

/*
 * Set the directory of --dir, or the default ones if path is NULL.  The string must remain valid.  Returns NULL, or
 * an error message about the path.
 */
const char *names_set_directory(const char *path);

/* Returns the directory where a new name is made. */
const char *names_directory(bool global);

/*
 * Write the path of the name's file to `segment`: where it is now, or where it would be made.  Returns NULL,
 * or an error message about the name.
 */
const char *name_find(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/*
 * Write the path of the name's gate (rate.h) to `segment`: always where it would be made, and different from the
 * path of any name.  Returns false if the path is too long.
 */
bool name_of_gate(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/* May a segment be made at this path?  If not, and the file does not exist, call name_find() again. */
bool name_can_be_made(const char *segment, bool global);

/* Returns "user NAME" for messages if another user owns the file, else NULL. */
const char *name_owner(const char *segment);

/*
 * Take a BSD lock, which keeps systemd-tmpfiles (since version 254) from removing the file of a name in use.
 * The descriptor stays open until the process ends, with also_in_command also in the command that it becomes:
 * closing it would drop the record locks of the process, and the units with them.
 */
void name_spare(const char *segment, bool also_in_command);

/* Returns a sorted list of existing names and gates, for free(), or NULL with errno.  The last name is empty. */
struct listed {
    char name[NAME_MAX + 1];
    bool global, gate;
};
struct listed *names_list(void);

#endif

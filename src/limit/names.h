/* SPDX-License-Identifier: MIT */
/*
 * names.h - find the file of a name's segment.  fairsem-limit(1) says where the files are, and why.
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
 * Use the directory of --dir, or the default ones if path is NULL.  The string must remain valid.  Returns NULL, or
 * an error message about the path.
 */
const char *names_set_directory(const char *path);

/* Returns the directory where a new name is made. */
const char *names_directory(bool global);

/*
 * Write the path of the name's file to `segment`: the existing file, or else the file to be made.  Returns NULL, or
 * an error message about the name.
 */
const char *name_find(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/*
 * Write the path of the name's gate (rate.h) to `segment`: the path for a new gate, which is not the path of any
 * name.  Returns false if the path is too long.
 */
bool name_of_gate(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/* May a segment be made at this path?  If not, and no file is there, the caller must call name_find() again. */
bool name_can_be_made(const char *segment, bool global);

/* Returns "user NAME" for messages if another user owns the file, else NULL. */
const char *name_owner(const char *segment);

/*
 * Take a BSD lock on the file of a name in use, because systemd-tmpfiles (since version 254) removes no locked
 * file.  The descriptor stays open until the process ends, and through an exec if also_in_command: to close it
 * would drop the record locks of the process, and thus its units.
 */
void name_spare(const char *segment, bool also_in_command);

/* Returns a sorted list of existing names and gates, allocated with malloc(), or NULL with errno.  Ends with "". */
struct listed {
    char name[NAME_MAX + 1];
    bool global, gate;
};
struct listed *names_list(void);

#endif

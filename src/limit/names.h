/* SPDX-License-Identifier: MIT */
/*
 * names.h - the names of segments: which file each one is.  fairsem-limit(1) says where they are, and why.
 *
 * Each user has names of their own, because a process that may write to a segment can damage it, and keep
 * it locked.  Both kinds have a prefix, so that they do not clash with the names of other programs in the
 * directory.
 */
#ifndef LIMIT_NAMES_H
#define LIMIT_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum { SEGMENT_NAME_SIZE = PATH_MAX };

/*
 * Set the directory of --dir; NULL means those of the manual.  Returns NULL, or an error message about the path.
 * The string must stay.
 */
const char *names_set_directory(const char *path);

/* The directory where a new name is made. */
const char *names_directory(bool global);

/*
 * Write the path of the name's file to `segment`: where it is now, or where it would be made.  Returns NULL,
 * or what is wrong with the name.
 */
const char *name_find(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/*
 * The same for the gate of the name, which rate.h explains.  It is always where it would be made, and has a name
 * that no other name can have.  Returns false if the path is too long.
 */
bool name_of_gate(const char *name, bool global, char segment[SEGMENT_NAME_SIZE]);

/* May a segment be made there?  If not, and the file is gone, find the name again. */
bool name_can_be_made(const char *segment, bool global);

/* For messages: "user NAME", if another user owns the file; else NULL. */
const char *name_owner(const char *segment);

/*
 * While the name is used, a BSD lock keeps systemd-tmpfiles (since version 254) from removing its file.
 * The descriptor stays open until the process ends, or the command if the process becomes it: to close
 * it would drop the record locks of the process, and the units with them.
 */
void name_spare(const char *segment, bool also_in_command);

/* Returns a sorted list of the names and gates that exist, for free(), whose last name is empty; or NULL with errno. */
struct listed {
    char name[NAME_MAX + 1];
    bool global, gate;
};
struct listed *names_list(void);

#endif

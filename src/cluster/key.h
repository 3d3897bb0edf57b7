/* SPDX-License-Identifier: MIT */
/*
 * key.h - names, requests, and the keys for them.
 *
 *     fairsem/NAME/limit                    the limit
 *     fairsem/NAME/q/PPPPPPPPPP/LEASE       a request in the queue: its priority and its lease
 *     fairsem/NAME/r/LEASE                  one that runs
 *
 * NAME is escaped so that no name is the beginning of another.  PPPPPPPPPP is the priority plus
 * 2^31 in ten digits, and LEASE has 16 hexadecimal digits: so keys are in the order of priorities.
 */
#ifndef CLUSTER_KEY_H
#define CLUSTER_KEY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FS_PREFIX_SIZE = sizeof "fairsem/" + 3 * 255 + 1,
    FS_KEY_SIZE = FS_PREFIX_SIZE + sizeof "q/PPPPPPPPPP/0123456789abcdef"
};

/* "fairsem/NAME/" for a name of 1 to 255 bytes; false: it is none. */
bool fs_key_prefix(char prefix[FS_PREFIX_SIZE], const char *name);

void fs_key_limit(char key[FS_KEY_SIZE], const char *prefix);

/* What all waiting and all running keys begin with.  With `after` the end of that range. */
void fs_key_waiting(char key[FS_KEY_SIZE], const char *prefix, bool after);
void fs_key_running(char key[FS_KEY_SIZE], const char *prefix, bool after);

/* The same for the waiting ones of one priority. */
void fs_key_equals(char key[FS_KEY_SIZE], const char *prefix, int priority, bool after);

/* The keys of one request. */
void fs_key_waits(char key[FS_KEY_SIZE], const char *prefix, int priority, int64_t lease);
void fs_key_runs(char key[FS_KEY_SIZE], const char *prefix, int64_t lease);

/* What a key of a request says.  False: it is damaged, or none of this prefix. */
bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease);

#endif

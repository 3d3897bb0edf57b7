/* SPDX-License-Identifier: MIT */
/*
 * record.h - the request record (fs_record), and the engine's keys for a name.
 *
 *     fairsem/NAME/r-limit                  the current limit, and the one with which the name was made: "5 3"
 *     fairsem/NAME/q/PPPPPPPPPP/LEASE       a request in the queue: its priority and its lease
 *     fairsem/NAME/r/LEASE                  a running request
 *
 * NAME is escaped so that no name is a prefix of another.  PPPPPPPPPP is the priority plus 2^31 in ten
 * digits, and LEASE has 16 hexadecimal digits: so keys sort by priority.  The limit sorts just before
 * the running requests: a single range contains all keys that the front of the queue watches.
 */
#ifndef CLUSTER_RECORD_H
#define CLUSTER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FS_PREFIX_SIZE = sizeof "fairsem/" + 3 * 255 + 1,
    FS_KEY_SIZE = FS_PREFIX_SIZE + sizeof "q/PPPPPPPPPP/0123456789abcdef"
};

/* A request record: all that an engine needs to know of a request. */
struct fs_record {
    char    prefix[FS_PREFIX_SIZE];
    int64_t lease;          /* chosen at random, so that FS_GRANT can be retried */
    int64_t ttl_s;
    int64_t limit, units;
    int64_t now, first;     /* expected: the current limit, and the one with which the name was made */
    int     priority;
    int64_t pid;            /* pid, host and program are for people */
    char    host[64], program[64];

    int64_t joined;         /* revision at which the request joined the queue, or 0 */
    int64_t seen_revision;  /* revision of the last view */
    char    predecessor[FS_KEY_SIZE];   /* key of the predecessor; "" at the front, which watches the
                                           running requests and the limit; FS_NEXT: where to begin */
    int64_t watched;        /* number of watched keys, or 0 if the request does not wait */
};

/* Choose the lease, and fill in pid, host and program.  Returns false if the system has no random numbers. */
bool fs_record_fill(struct fs_record *record, const char *program);

/* A request's own keys, and the ranges of keys that it reads.  The end of a range is exclusive. */
struct fs_keys {
    char limit[FS_KEY_SIZE];                                /* limit to running_end: with all running */
    char waits[FS_KEY_SIZE], runs[FS_KEY_SIZE];             /* its own */
    char waiting[FS_KEY_SIZE], waiting_end[FS_KEY_SIZE];    /* all waiting */
    char running[FS_KEY_SIZE], running_end[FS_KEY_SIZE];    /* all running */
    char equals[FS_KEY_SIZE], equals_end[FS_KEY_SIZE];      /* waiting with its priority */
};

struct fs_keys fs_keys_of(const struct fs_record *record);

/* Write "fairsem/NAME/" for a name.  Returns false unless the name has 1 to 255 bytes. */
bool fs_key_prefix(char prefix[FS_PREFIX_SIZE], const char *name);

/* Read the name to which a key belongs.  Returns false if the key belongs to no name. */
bool fs_key_name(const char *key, char name[256]);

/* Returns true if the request accepts the limit that it expects, and false if it is to set its own limit. */
static inline bool fs_record_accepts_limit(const struct fs_record *record)
{
    return record->limit == record->now || record->limit == record->first;
}

/* Read the parts of a request's key.  Returns false if the key is damaged or has another prefix. */
bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease);

/* Copy a text, truncate it, and replace bytes other than printable ASCII by '?'.  `to` may be `from`. */
void fs_copy_printable(char *to, size_t size, const char *from);

#endif

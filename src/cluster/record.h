/* SPDX-License-Identifier: MIT */
/*
 * record.h - the request record (fs_record), and the engine's keys for a name.
 *
 *     fairsem/NAME/r-limit                  the current limit, and the first limit of the name, such as "5 3"
 *     fairsem/NAME/q/PPPPPPPPPP/LEASE       a request in the queue, by priority and lease
 *     fairsem/NAME/r/LEASE                  a running request
 *
 * NAME is escaped and has no slash, so that a key belongs to one name only.  PPPPPPPPPP is the priority plus
 * 2^31 in ten digits, and LEASE has 16 hexadecimal digits: so keys sort by priority.  The limit sorts just
 * before the running requests: a single range contains all keys that the front of the queue watches.
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

/* All that an engine needs to know of a request. */
struct fs_record {
    char    prefix[FS_PREFIX_SIZE];
    int64_t lease;          /* random, chosen by the client: a repeated FS_GRANT creates no second lease */
    int64_t ttl_s;
    int64_t limit, units;
    int64_t now, first;     /* expected current limit, and expected first limit of the name */
    int     priority;
    int64_t pid;            /* pid, host and program are for people */
    char    host[64], program[64];

    int64_t joined;         /* revision at which the request joined the queue, or 0 */
    int64_t seen_revision;  /* revision of the last view */
    char    predecessor[FS_KEY_SIZE];   /* the watched key.  While waiting: the predecessor's key, or ""
                                           at the front, which watches the limit and the running keys.
                                           While running: the request's own key.  FS_NEXT: the first
                                           key to look at. */
    int64_t watched;        /* number of watched keys, or 0 before the first view */
};

/* Choose the lease, and fill in pid, host and program.  Returns false if the system has no random numbers. */
bool fs_record_fill(struct fs_record *record, const char *program);

/* A request's own keys, and the ranges of keys that it reads.  The end of a range is exclusive. */
struct fs_keys {
    char limit[FS_KEY_SIZE];                                /* also the start of the range for the front */
    char waits[FS_KEY_SIZE], runs[FS_KEY_SIZE];             /* the request's own */
    char waiting[FS_KEY_SIZE], waiting_end[FS_KEY_SIZE];    /* all waiting */
    char running[FS_KEY_SIZE], running_end[FS_KEY_SIZE];    /* all running */
    char equals[FS_KEY_SIZE], equals_end[FS_KEY_SIZE];      /* waiting with the request's priority */
};

struct fs_keys fs_keys_of(const struct fs_record *record);

/* Write "fairsem/NAME/" for a name.  Returns false unless the name has 1 to 255 bytes. */
bool fs_key_prefix(char prefix[FS_PREFIX_SIZE], const char *name);

/* Read the name to which a key belongs.  Returns false if the key belongs to no name. */
bool fs_key_name(const char *key, char name[256]);

/* Returns false if the request must replace the limit of the name by the request's own limit. */
static inline bool fs_record_accepts_limit(const struct fs_record *record)
{
    return record->limit == record->now || record->limit == record->first;
}

/* Read the parts of a request's key.  Returns false if the key is damaged or has another prefix. */
bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease);

/* Copy a text, or as much as fits, with '?' for bytes other than printable ASCII.  `to` may be `from`. */
void fs_copy_printable(char *to, size_t size, const char *from);

#endif

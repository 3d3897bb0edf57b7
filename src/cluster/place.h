/* SPDX-License-Identifier: MIT */
/*
 * place.h - what a request is called at the engine: its place, and the keys of a name.
 *
 *     fairsem/NAME/r-limit                  the limit, and the one with which the name was made: "5 3"
 *     fairsem/NAME/q/PPPPPPPPPP/LEASE       a request in the queue: its priority and its lease
 *     fairsem/NAME/r/LEASE                  one that runs
 *
 * NAME is escaped so that no name is the beginning of another.  PPPPPPPPPP is the priority plus
 * 2^31 in ten digits, and LEASE has 16 hexadecimal digits: so keys are in the order of priorities.
 * The limit is just before those that run: one range has all that the head of the queue waits for.
 */
#ifndef CLUSTER_PLACE_H
#define CLUSTER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FS_PREFIX_SIZE = sizeof "fairsem/" + 3 * 255 + 1,
    FS_KEY_SIZE = FS_PREFIX_SIZE + sizeof "q/PPPPPPPPPP/0123456789abcdef"
};

/* A request, as an engine has to know it. */
struct fs_place {
    char    prefix[FS_PREFIX_SIZE];
    int64_t lease;          /* chosen at random, so that FS_GRANT can be asked again */
    int64_t ttl_s;
    int64_t limit, units;
    int64_t now, first;     /* the limit that it expects, and the one with which the name was made */
    int     priority;
    int64_t pid;            /* these three are for people */
    char    host[64], program[64];

    int64_t joined;         /* the revision at which it joined; 0: it has not */
    int64_t seen;           /* the newest revision of an answer: what it knows is of then */
    char    ahead[FS_KEY_SIZE]; /* the request before it; "": none, it waits for those that run, and
                                   for the limit; FS_NEXT: where to begin */
    int64_t awaits;         /* how many keys it waits for; 0: it does not wait */
};

/* Choose the lease, and fill in pid, host and program.  False: the system has no random numbers. */
bool fs_place_fill(struct fs_place *place, const char *program);

/* The keys of a request, and the ranges of keys that it has to know.  A range ends before its end. */
struct fs_keys {
    char limit[FS_KEY_SIZE];                                /* and up to running_end: also who runs */
    char waits[FS_KEY_SIZE], runs[FS_KEY_SIZE];             /* its own */
    char waiting[FS_KEY_SIZE], waiting_end[FS_KEY_SIZE];    /* all that wait */
    char running[FS_KEY_SIZE], running_end[FS_KEY_SIZE];    /* all that run */
    char equals[FS_KEY_SIZE], equals_end[FS_KEY_SIZE];      /* those that wait with its priority */
};

struct fs_keys fs_keys_of(const struct fs_place *place);

/* "fairsem/NAME/" for a name of 1 to 255 bytes; false: it is none. */
bool fs_key_prefix(char prefix[FS_PREFIX_SIZE], const char *name);

/* The name to which any key belongs.  False: to none. */
bool fs_key_name(const char *key, char name[256]);

/* Does the request follow the limit that it expects?  Else it is to have another one. */
static inline bool fs_place_follows(const struct fs_place *place)
{
    return place->limit == place->now || place->limit == place->first;
}

/* What a key of a request says.  False: it is damaged, or none of this prefix. */
bool fs_key_read(const char *key, const char *prefix, bool *runs, int *priority, int64_t *lease);

/* Copy a text, perhaps onto itself: cut, and with a ? for each byte that ASCII cannot print. */
void fs_copy_printable(char *to, size_t size, const char *from);

#endif

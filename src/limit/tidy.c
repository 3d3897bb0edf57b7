/* SPDX-License-Identifier: MIT */
/* tidy.c - see tidy.h. */
#define _GNU_SOURCE
#include "tidy.h"

#include "names.h"
#include "turn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400, MOST_SECONDS = 10 };

void tidy_touch(const char *segment)
{
    char path[SEGMENT_PATH_SIZE];

    name_path(segment, path);
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

int tidy_keep(const char *segment)
{
    char path[SEGMENT_PATH_SIZE];
    struct stat st;

    name_path(segment, path);
    if (lstat(path, &st) != 0)
        return errno;
    if ((st.st_mode & S_ISVTX) != 0)
        return 0;
    /* It is no link, nor can others make it one; glibc before 2.32 has no AT_SYMLINK_NOFOLLOW. */
    return chmod(path, (st.st_mode & 07777) | S_ISVTX) != 0 ? errno : 0;
}

/* Those of other users are theirs to remove, and nothing is said about a file in the future. */
static bool is_old(const char *segment, int64_t least_s)
{
    char path[SEGMENT_PATH_SIZE];
    struct stat st;

    name_path(segment, path);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
           && (st.st_mode & S_ISVTX) == 0 && time(NULL) - st.st_mtime > least_s;
}

/* Returns the first of the names that is old, or the end of the list. */
static const struct listed *find_old(const struct listed *at, int64_t least_s,
                                     char segment[SEGMENT_NAME_SIZE])
{
    for (; at->name != NULL; at++) {
        if (name_of_segment(at->name, at->global, segment) == NULL && is_old(segment, least_s))
            break;
    }
    return at;
}

/*
 * In a child: whoever may write to a global name can let us die, by truncating its file, or keep us
 * waiting.  It has none of our files, for which others may wait.
 */
static void remove_old(const struct listed *at, int64_t least_s, char segment[SEGMENT_NAME_SIZE])
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;

    for (int i = 0; i < 3; i++)
        dup2(null, i);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(MOST_SECONDS);
    for (; at->name != NULL; at = find_old(at + 1, least_s, segment))
        turn_remove_unused(segment);
}

static void tidy(int64_t least_s, bool wait)
{
    char segment[SEGMENT_NAME_SIZE];
    struct listed *list = names_list();
    const struct listed *old;
    pid_t child;

    if (list == NULL)
        return;
    old = find_old(list, least_s, segment);
    if (old->name != NULL) {
        child = fork();
        if (child == 0) {
            remove_old(old, least_s, segment);
            _exit(0);
        }
        if (child > 0 && wait)
            waitpid(child, NULL, 0);
    }
    names_free(list);
}

void tidy_names(bool wait)
{
    tidy(DAY, wait);
}

void tidy_make_room(void)
{
    tidy(-1, true);
}

/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "names.h"

#include "run/printable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"    /* where names without a second slash are */
#define COMMON_PREFIX "/fairsem-limit."

static const char *directory = SHARED_MEMORY;
static int         directory_length = sizeof SHARED_MEMORY - 1;     /* without slashes at the end */
static bool        elsewhere;                                       /* than in SHARED_MEMORY */

/* A terminal would obey control characters when the name is printed. */
static bool has_space_or_control(const char *text)
{
    while (*text != '\0' && *text != ' ' && control_length(text) == 0)
        text++;
    return *text != '\0';
}

const char *names_set_directory(const char *path)
{
    if (path == NULL)
        return NULL;
    if (*path != '/')
        return "the path of a directory begins with a slash";
    if (has_space_or_control(path))
        return "the path of a directory has no space and no control character here";
    directory = path;
    directory_length = (int)strlen(path);
    while (directory_length > 1 && path[directory_length - 1] == '/')
        directory_length--;
    elsewhere = directory_length != sizeof SHARED_MEMORY - 1
                || strncmp(path, SHARED_MEMORY, sizeof SHARED_MEMORY - 1) != 0;
    return NULL;
}

const char *names_directory(void)
{
    return directory;
}

void name_path(const char *segment, char path[SEGMENT_PATH_SIZE])
{
    snprintf(path, SEGMENT_PATH_SIZE, "%s%s", elsewhere ? "" : SHARED_MEMORY, segment);
}

static void write_prefix(bool global, char prefix[40])
{
    if (global)
        snprintf(prefix, 40, "%s", COMMON_PREFIX);
    else
        snprintf(prefix, 40, "/fairsem-limit-%lu.", (unsigned long)geteuid());
}

const char *name_of_segment(const char *name, bool global, char segment[SEGMENT_NAME_SIZE])
{
    char prefix[40];

    if (*name == '\0')
        return "the name is empty";
    if (strchr(name, '/') != NULL)
        return "a name has no slash";
    if (has_space_or_control(name))
        return "a name has no space and no control character";
    write_prefix(global, prefix);
    if (strlen(prefix) - 1 + strlen(name) > NAME_MAX
        || snprintf(segment, SEGMENT_NAME_SIZE, "%.*s%s%s", elsewhere ? directory_length : 0,
                    directory, prefix, name) >= SEGMENT_NAME_SIZE)
        return "the name is too long";
    return NULL;
}

bool name_is_own(const char *segment)
{
    char path[SEGMENT_PATH_SIZE];
    struct stat st;

    name_path(segment, path);
    /* If it has been removed at this moment, there is no harm, either. */
    return lstat(path, &st) != 0 || st.st_uid == geteuid();
}

void name_spare(const char *segment, bool also_in_command)
{
    char path[SEGMENT_PATH_SIZE];
    int file;

    name_path(segment, path);
    file = open(path, O_RDONLY | O_NOFOLLOW | (also_in_command ? 0 : O_CLOEXEC));
    if (file >= 0)
        flock(file, LOCK_SH | LOCK_NB);
}

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->global - y->global;
}

/* Add it if its name begins with the prefix, less the slash.  False: no memory. */
static bool add_name(struct listed **list, size_t *count, const char *file, bool global)
{
    char prefix[40], segment[SEGMENT_NAME_SIZE];
    struct listed *longer;
    size_t length;

    write_prefix(global, prefix);
    length = strlen(prefix) - 1;
    if (strncmp(file, prefix + 1, length) != 0
        || name_of_segment(file + length, global, segment) != NULL)
        return true;
    longer = realloc(*list, (*count + 2) * sizeof **list);
    if (longer == NULL)
        return false;
    *list = longer;
    longer[*count] = (struct listed){ strdup(file + length), global };
    longer[*count + 1] = (struct listed){ NULL, false };
    return longer[(*count)++].name != NULL;
}

struct listed *names_list(void)
{
    struct listed *list;
    DIR *files = opendir(directory);
    struct dirent *entry;
    size_t count = 0;
    bool good;

    if (files == NULL)
        return NULL;
    list = calloc(1, sizeof *list);
    good = list != NULL;
    while (good && (entry = readdir(files)) != NULL)
        good = add_name(&list, &count, entry->d_name, false) && add_name(&list, &count, entry->d_name, true);
    closedir(files);
    if (!good) {
        names_free(list);
        errno = ENOMEM;
        return NULL;
    }
    qsort(list, count, sizeof *list, by_name);
    return list;
}

void names_free(struct listed *list)
{
    for (struct listed *at = list; at != NULL && at->name != NULL; at++)
        free(at->name);
    free(list);
}

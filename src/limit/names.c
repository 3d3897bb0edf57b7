/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY     "/dev/shm"      /* see fairsem_shared_open */
#define COMMON_PREFIX "/fairsem-limit."

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
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '/')
            return "a name has no slash";
        /* A terminal would obey control characters when the name is printed. */
        if (*c == ' ' || control_length(c) != 0)
            return "a name has no space and no control character";
    }
    write_prefix(global, prefix);
    if (snprintf(segment, SEGMENT_NAME_SIZE, "%s%s", prefix, name) >= SEGMENT_NAME_SIZE)
        return "the name is too long";
    return NULL;
}

bool name_is_own(const char *segment)
{
    char path[sizeof DIRECTORY + SEGMENT_NAME_SIZE];
    struct stat st;

    snprintf(path, sizeof path, "%s%s", DIRECTORY, segment);
    /* If it has been removed at this moment, there is no harm, either. */
    return lstat(path, &st) != 0 || st.st_uid == geteuid();
}

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->global - y->global;
}

/* Add it if its name begins with the prefix, less the slash.  False: no memory. */
static bool add(struct listed **list, size_t *count, const char *file, bool global)
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
    struct listed *list = calloc(1, sizeof *list);
    DIR *directory = opendir(DIRECTORY);
    struct dirent *entry;
    size_t count = 0;
    bool good = list != NULL;

    while (good && directory != NULL && (entry = readdir(directory)) != NULL)
        good = add(&list, &count, entry->d_name, false) && add(&list, &count, entry->d_name, true);
    if (directory != NULL)
        closedir(directory);
    if (!good) {
        names_free(list);
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

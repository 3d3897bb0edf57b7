/* SPDX-License-Identifier: MIT */
/* data_file.c - files with the numbers behind tables and plots, where --data asks for them. */
#include "data_file.h"

#include "die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 16 };

static const char *directory;
static struct data_file {
    const char *name;
    FILE *file;
} files[MAX_FILES];

void data_directory(const char *path)
{
    directory = path;
}

bool data_wanted(void)
{
    return directory != NULL;
}

static FILE *open_file(const char *name)
{
    char path[4096];
    FILE *f;

    if (*directory == '\0')
        die("--data: the name of the directory is empty", 0);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    f = fopen(path, "w");
    if (!f)
        die(path, errno);
    return f;
}

static FILE *file_of(const char *name)
{
    for (int i = 0; i < MAX_FILES; i++) {
        if (!files[i].name)
            files[i] = (struct data_file){ .name = name, .file = open_file(name) };
        if (strcmp(files[i].name, name) == 0)
            return files[i].file;
    }
    die("more data files than MAX_FILES", 0);
}

void data_printf(const char *name, const char *format, ...)
{
    va_list args;

    if (!directory)
        return;
    va_start(args, format);
    vfprintf(file_of(name), format, args);
    va_end(args);
}

bool data_end(void)
{
    bool good = true;

    for (int i = 0; i < MAX_FILES && files[i].name; i++) {
        bool failed = ferror(files[i].file) != 0;

        if (fclose(files[i].file) == 0 && !failed)
            continue;
        fprintf(stderr, "fairsem-bench: %s/%s: not all of it could be written\n", directory,
                files[i].name);
        good = false;
    }
    return good;
}

/* SPDX-License-Identifier: MIT */
/* killed_job.c - see killed_job.h. */
#define _POSIX_C_SOURCE 200809L
#include "killed_job.h"

#include "file_list.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE (1 << 20)

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void check_piece(const unsigned char *piece, size_t size)
{
    static unsigned char packed[PIECE + PIECE / 100 + 100], unpacked[PIECE];
    uLongf packed_size = sizeof packed, unpacked_size = sizeof unpacked;

    if (compress(packed, &packed_size, piece, size) != Z_OK
        || uncompress(unpacked, &unpacked_size, packed, packed_size) != Z_OK
        || unpacked_size != size || memcmp(unpacked, piece, size) != 0) {
        fputs("killed-jobs: FAILED: compressed wrongly\n", stderr);
        exit(EXIT_FAILURE);
    }
}

static void add_file(const char *path, int compress_it, struct sum *sum)
{
    static unsigned char piece[PIECE];
    uLong check = crc32(0, NULL, 0);
    FILE *file = fopen(path, "r");
    size_t size;

    if (file == NULL)
        return;         /* unreadable: the process that compares the sums skips this file, too */
    while ((size = fread(piece, 1, sizeof piece, file)) > 0) {
        if (compress_it)
            check_piece(piece, size);
        check = crc32(check, piece, (uInt)size);
        sum->bytes += (int64_t)size;
    }
    fclose(file);
    sum->files++;
    sum->checks += check;
}

/* The part of a file depends on its name only, not on the order in which directories are read. */
static int part_of(const char *path, int parts)
{
    return (int)(crc32(0, (const unsigned char *)path, (uInt)strlen(path)) % (uLong)parts);
}

struct sum sum_up(const char *directory, int part, int parts, int compress_it)
{
    struct file_list list = { .path = NULL };
    struct sum sum = { 0, 0, 0 };
    int64_t skipped = 0;
    int error = file_list_collect(&list, directory, &skipped);

    if (error != 0) {
        complain_errno(directory, error);
        exit(2);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (part_of(list.path[i], parts) == part)
            add_file(list.path[i], compress_it, &sum);
    }
    file_list_free(&list);
    return sum;
}

void add_sum(struct sum *to, const struct sum *sum)
{
    to->files += sum->files;
    to->bytes += sum->bytes;
    to->checks += sum->checks;
}

static int report(int fd, struct sum sum)
{
    const struct event event = { .pid = getpid(), .ns = now_ns(), .sum = sum };

    return write(fd, &event, sizeof event) == sizeof event;
}

int run_job(const char *directory, int part, int parts, int fd)
{
    struct sum sum, rest;

    if (!report(fd, (struct sum){ .files = BEGUN }))
        return EXIT_FAILURE;
    sum = sum_up(directory, 2 * part, 2 * parts, 1);
    if (!report(fd, (struct sum){ .files = HALFWAY }) || raise(SIGSTOP) != 0)
        return EXIT_FAILURE;
    rest = sum_up(directory, 2 * part + 1, 2 * parts, 1);
    add_sum(&sum, &rest);
    return report(fd, sum) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: MIT */
/* compress-tree.c - compress a directory tree in memory, within limits on files and bytes. */
/*
 * Worker threads compress every regular file below a directory, decompress the result and
 * compare it with what was read.  Two semaphores keep the threads within bounds:
 *
 *     files   one unit is the right to have one file open
 *     bytes   one unit is one byte of buffer memory; a request asks for many at once
 *
 * With an unfair semaphore, small requests could overtake a large one for ever.  With fairsem, the
 * large request is granted in its turn, however many small files there are.
 *
 * NO DEADLOCK.  A thread asks for a file and for all the bytes that it needs in one call,
 * fairsem_acquire_all.  It holds no units when it asks, and never asks for more than there are.
 * So a thread that has its units waits only for the processor and the disk, and then gives the units
 * back.  With two separate acquires, every user of both semaphores would have to take files first.
 *
 * BYTES are those of all buffers whose size depends on the file: see buffers_for().
 * zlib's own state does not count; it is at most 300 KB for each open file.
 */
#define _POSIX_C_SOURCE 200809L

#include "file_list.h"

#include <ctype.h>
#include <errno.h>
#include <fairsem.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define LEAST_BYTES  1024 /* with much less, overhead would dominate */
#define MOST_BYTES   ((int64_t)(LONG_MAX < FAIRSEM_MAX_UNITS ? LONG_MAX : FAIRSEM_MAX_UNITS))
#define MOST_JOBS    1000000
#define MOST_THREADS 256
#define PROGRESS_NS  200000000 /* nanoseconds between two updates of the progress line */

/* How many units are in use.  The program counts them itself, to check the semaphores. */
struct gauge {
    atomic_int_fast64_t now;
    atomic_int_fast64_t peak;
};

struct run {
    fairsem_t files;    /* a unit lets a thread open one file */
    fairsem_t bytes;    /* a unit is a byte of buffer memory */
    fairsem_t finished; /* each thread releases a unit when it is done */
    struct gauge open;
    struct gauge buffered;

    int64_t max_files;
    int64_t max_bytes;
    int64_t threads;

    struct file_list list;
    atomic_size_t next; /* index of the next file to work on */

    atomic_int_fast64_t verified; /* files that came back as they were read */
    atomic_int_fast64_t failed;   /* files that came back different, or could not be tried */
    atomic_int_fast64_t skipped;  /* files that could not be read */
    atomic_int_fast64_t read;     /* bytes that came back as they were read */
    atomic_int_fast64_t packed;   /* the size of these bytes when compressed */
};

static void gauge_add(struct gauge *gauge, int64_t n)
{
    int_fast64_t now = atomic_fetch_add(&gauge->now, n) + n;
    int_fast64_t peak = atomic_load(&gauge->peak);

    while (now > peak && !atomic_compare_exchange_weak(&gauge->peak, &peak, now))
        ;
}

/* With the right arguments no call fails.  A failure is a bug: stop before it spreads. */
static void must(int err)
{
    if (err != 0) {
        fprintf(stderr, "compress-tree: a semaphore call failed with error %d\n", err);
        abort();
    }
}

static void count_result(struct run *run, const char *path, int err)
{
    /* A lack of memory or descriptors is a failure of this program; other errors concern the file. */
    bool ours = err < 0 || err == ENOMEM || err == EMFILE || err == ENFILE;

    if (err > 0)
        complain_errno(path, err);
    else if (err < 0)
        complain(path, err == Z_MEM_ERROR ? "out of memory" : "does not come back as it was");
    atomic_fetch_add(err == 0 ? &run->verified : ours ? &run->failed : &run->skipped, 1);
}

/* The memory for a piece of n bytes: as read, compressed (at worst), and decompressed. */
static int64_t buffers_for(int64_t n)
{
    return 2 * n + (int64_t)compressBound((uLong)n);
}

/*
 * How much of a file to process at once: the whole file if the limit allows that.  The pieces of a larger
 * file fit into one thread's share of the limit, so that several threads can work on large files at
 * the same time.
 */
static int64_t piece_size(const struct run *run, int64_t size)
{
    int64_t workers = run->threads < run->max_files ? run->threads : run->max_files;
    int64_t share = run->max_bytes / workers;
    int64_t n;

    if (size <= run->max_bytes / 3 && buffers_for(size) <= run->max_bytes)
        return size;
    if (share < LEAST_BYTES)
        share = LEAST_BYTES;
    n = share / 3;
    while (buffers_for(n) > share)
        n -= n / 4096 + 1;
    return n;
}

/* Read n bytes, or fewer at the end of the file.  Returns their number, or -1. */
static int64_t read_fully(int fd, unsigned char *buffer, int64_t n)
{
    int64_t got = 0;

    while (got < n) {
        ssize_t r = read(fd, buffer + got, (size_t)(n - got));

        if (r == 0)
            break;
        if (r < 0 && errno != EINTR)
            return -1;
        if (r > 0)
            got += r;
    }
    return got;
}

/*
 * Read up to n bytes, compress, decompress, compare with the bytes that were read.  So a file that
 * changes meanwhile does no harm.  The compressed bytes are dropped; a real program would write or send
 * them here, while it holds the units.
 *
 * Returns 0, an errno value (cannot read) or a zlib error, which is negative.
 */
static int compress_piece(struct run *run, int fd, int64_t n, int64_t *got)
{
    uLong packed = compressBound((uLong)n);
    uLong length = (uLong)n;
    unsigned char *in = malloc((size_t)buffers_for(n));
    unsigned char *out, *back;
    int err;

    if (in == NULL)
        return Z_MEM_ERROR;
    out = in + n;
    back = out + packed;

    *got = read_fully(fd, in, n);
    err = *got < 0 ? errno : compress(out, &packed, in, (uLong)*got);
    if (err == 0)
        err = uncompress(back, &length, out, packed);
    if (err == 0 && (length != (uLong)*got || memcmp(in, back, length) != 0))
        err = Z_DATA_ERROR;
    if (err == 0) {
        atomic_fetch_add(&run->read, *got);
        atomic_fetch_add(&run->packed, (int64_t)packed);
    }
    free(in);
    return err;
}

/* Returns a descriptor, or -1 with the reason in errno. */
static int open_regular(const char *path)
{
    /* O_NONBLOCK: if a pipe has replaced the file, do not wait for a writer. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    errno = ESTALE; /* it was a regular file a moment ago */
    return -1;
}

/*
 * Compress a file in pieces of n bytes, with units that the caller holds.  Stops after `left` bytes, the size
 * before the open, or at the end of the file.  Returns 0, an errno value or a zlib error, like
 * compress_piece().
 */
static int compress_open(struct run *run, const char *path, int64_t left, int64_t n)
{
    int fd = open_regular(path);
    int64_t got = n;
    int err = 0;

    if (fd < 0)
        return errno;
    do {
        err = compress_piece(run, fd, n < left ? n : left, &got);
        left -= n;
    } while (err == 0 && left > 0 && got == n);
    close(fd);
    return err;
}

/* Take the right to open a file and the memory for its pieces, both at once; then compress the file. */
static int compress_file(struct run *run, const char *path)
{
    struct stat st;
    int64_t n, bytes;
    int err;

    if (lstat(path, &st) != 0)
        return errno;
    n = piece_size(run, st.st_size);
    bytes = buffers_for(n);
    const fairsem_request_t needed[] = { { &run->files, 1, NULL }, { &run->bytes, bytes, NULL } };

    must(fairsem_acquire_all(needed, 2, NULL));
    gauge_add(&run->open, 1);
    gauge_add(&run->buffered, bytes);
    err = compress_open(run, path, st.st_size, n);
    gauge_add(&run->buffered, -bytes);
    gauge_add(&run->open, -1);
    must(fairsem_release_all(needed, 2));
    return err;
}

static void *worker(void *arg)
{
    struct run *run = arg;
    size_t i;

    while ((i = atomic_fetch_add(&run->next, 1)) < run->list.count)
        count_result(run, run->list.path[i], compress_file(run, run->list.path[i]));
    must(fairsem_release(&run->finished, 1));
    return NULL;
}

/* Start the threads, show their progress, and wait until the last one has ended. */
static int run_workers(struct run *run)
{
    pthread_t *id = calloc((size_t)run->threads, sizeof(*id));
    bool terminal = isatty(STDERR_FILENO) != 0;
    int64_t started = 0;
    int err = id == NULL ? ENOMEM : 0;

    while (err == 0 && started < run->threads) {
        err = pthread_create(&id[started], NULL, worker, run);
        if (err == 0)
            started++;
    }
    /* Fewer threads than wanted are enough, but there must be one. */
    while (terminal && fairsem_acquire_for(&run->finished, started, PROGRESS_NS) == ETIMEDOUT)
        fprintf(stderr, "\r%" PRIdFAST64 " of %zu files, %" PRIdFAST64 " MB ",
                atomic_load(&run->verified), run->list.count, atomic_load(&run->read) / 1000000);
    if (terminal)
        fputs("\r\033[K", stderr);
    for (int64_t i = 0; i < started; i++)
        pthread_join(id[i], NULL);
    free(id);
    return started > 0 ? 0 : err;
}

/* Returns the exit status. */
static int report(struct run *run)
{
    int64_t files = run->open.peak, bytes = run->buffered.peak;
    bool within = files <= run->max_files && bytes <= run->max_bytes;

    printf("files verified    %" PRIdFAST64 "\n", run->verified);
    printf("files failed      %" PRIdFAST64 "\n", run->failed);
    printf("skipped           %" PRIdFAST64 " (could not be read)\n", run->skipped);
    printf("bytes             %" PRIdFAST64 "\n", run->read);
    printf("compressed        %" PRIdFAST64 "\n", run->packed);
    if (run->read > 0)
        printf("ratio             %.3f\n", (double)run->packed / (double)run->read);
    printf("peak open files   %" PRId64 " of %" PRId64 "\n", files, run->max_files);
    printf("peak buffer bytes %" PRId64 " of %" PRId64 "\n", bytes, run->max_bytes);
    if (!within)
        fputs("compress-tree: a limit was exceeded\n", stderr);
    return fflush(stdout) == 0 && within && run->failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void usage(FILE *to)
{
    fprintf(to,
            "usage: compress-tree [-j JOBS] [-b BYTES] [-t THREADS] DIR\n"
            "Compress every regular file below DIR in memory and check that it comes back.\n"
            "  -j JOBS     files open at once, 1 to %d (8)\n"
            "  -b BYTES    bytes of buffers in use at once, at least %d (16M);\n"
            "              a file that needs more is compressed in pieces\n"
            "  -t THREADS  threads that do the work, 1 to %d (16)\n"
            "  --help      print this text\n"
            "Numbers may end in K, M or G: 1024, 1024^2, 1024^3.\n"
            "Exit status: 0 if all files that can be read were verified, 1 if not,\n"
            "2 if the arguments are wrong or DIR cannot be read.\n",
            MOST_JOBS, LEAST_BYTES, MOST_THREADS);
}

/* Parse a number with an optional suffix.  Exit if the text is not a number or is out of range. */
static int64_t number(int option, const char *text, int64_t least, int64_t most)
{
    static const char suffixes[] = "KMG";
    char *end;
    intmax_t n;

    errno = 0;
    n = strtoimax(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && errno == 0) {
        const char *suffix = *end == '\0' ? NULL : strchr(suffixes, *end);
        int shift = suffix == NULL ? 0 : 10 * (int)(suffix - suffixes + 1);

        if (end[suffix != NULL] == '\0' && n <= most >> shift && n << shift >= least)
            return n << shift;
    }
    fprintf(stderr, "compress-tree: -%c %s: not a number from %" PRId64 " to %" PRId64 "\n",
            option, text, least, most);
    exit(2);
}

/* Fill in the limits and return DIR.  Exit after --help, or if the arguments are wrong. */
static const char *parse_arguments(struct run *run, int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "j:b:t:h-:")) != -1) {
        if (c == 'j') {
            run->max_files = number(c, optarg, 1, MOST_JOBS);
        } else if (c == 'b') {
            run->max_bytes = number(c, optarg, LEAST_BYTES, MOST_BYTES);
        } else if (c == 't') {
            run->threads = number(c, optarg, 1, MOST_THREADS);
        } else if (c == 'h' || (c == '-' && strcmp(optarg, "help") == 0)) {
            usage(stdout);
            exit(0);
        } else {
            if (c == '-')
                fprintf(stderr, "compress-tree: unknown option --%s\n", optarg);
            usage(stderr); /* getopt itself has reported any other error */
            exit(2);
        }
    }
    if (optind != argc - 1) {
        fprintf(stderr, "compress-tree: name exactly one directory\n");
        usage(stderr);
        exit(2);
    }
    return argv[optind];
}

int main(int argc, char **argv)
{
    static struct run run = { .max_files = 8, .max_bytes = 16 << 20, .threads = 16 };
    const char *top = parse_arguments(&run, argc, argv);
    int64_t skipped = 0;
    int status, err;

    err = file_list_collect(&run.list, top, &skipped);
    if (err != 0) {
        complain_errno(top, err);
        file_list_free(&run.list);
        return 2;
    }
    run.skipped = skipped;

    /* With a capacity, a semaphore refuses a release of more units than were taken. */
    must(fairsem_init(&run.files, run.max_files,
                      &(fairsem_attr_t){ .name = "files", .capacity = run.max_files }));
    must(fairsem_init(&run.bytes, run.max_bytes,
                      &(fairsem_attr_t){ .name = "bytes", .capacity = run.max_bytes }));
    must(fairsem_init(&run.finished, 0, NULL));

    err = run_workers(&run);
    if (err != 0)
        complain_errno("cannot start threads", err);
    status = err == 0 ? report(&run) : EXIT_FAILURE;

    must(fairsem_destroy(&run.files));
    must(fairsem_destroy(&run.bytes));
    must(fairsem_destroy(&run.finished));
    file_list_free(&run.list);
    return status;
}

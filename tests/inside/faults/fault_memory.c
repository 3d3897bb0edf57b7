/* SPDX-License-Identifier: MIT */
/*
 * fault_memory.c - preloaded into a program (LD_PRELOAD), makes FAULT_MEMORY_COUNT of the program's requests
 * for memory fail, from request number FAULT_MEMORY_FROM on.  Each failure creates the file FAULT_MEMORY_MARK,
 * which tells the test.  Only requests of the first thread count; with FAULT_MEMORY_OTHERS=yes, only requests
 * of all other threads.  (Counted together, the requests would have other numbers in each run.)
 *
 * Works only in the program whose file is named FAULT_MEMORY_IN, not in commands that the program runs.  The
 * start of a thread counts as a request, for the thread's stack.  Requests of the C library by malloc count as
 * well, such as the requests of setenv() and fopen().
 *
 * Requests of the libraries for TLS do not count: a program makes thousands of these requests at its start, and
 * can do without them.  Requests of jansson do not count either: jansson 2.14 ignores that it could not store a
 * character of a string, and then writes past the string.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool        armed, others;
static pthread_t   first_thread;
static long        from, count;
static const char *mark;
static _Atomic long requests;

/* The code of the libraries whose requests do not count. */
static struct {
    uintptr_t begin, end;
} range[40];
static int ranges;

static int find_left_out(struct dl_phdr_info *object, size_t size, void *arg)
{
    static const char *const libraries[] = { "/libcrypto.", "/libgnutls.", "/libssl.", "/libtasn1.",
                                             "/libjansson." };

    (void)size;
    (void)arg;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        for (int j = 0; strstr(object->dlpi_name, libraries[i]) != NULL && j < object->dlpi_phnum; j++) {
            const ElfW(Phdr) *segment = &object->dlpi_phdr[j];

            if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 || ranges == 40)
                continue;
            range[ranges].begin = object->dlpi_addr + segment->p_vaddr;
            range[ranges].end = range[ranges].begin + segment->p_memsz;
            ranges++;
        }
    }
    return 0;
}

/* Requests before this constructor are the loader's, and do not count. */
__attribute__((constructor)) static void arm(void)
{
    const char *program = getenv("FAULT_MEMORY_IN"), *first = getenv("FAULT_MEMORY_FROM"),
               *number = getenv("FAULT_MEMORY_COUNT");

    mark = getenv("FAULT_MEMORY_MARK");
    if (program == NULL || first == NULL || number == NULL || mark == NULL)
        return;
    from = strtol(first, NULL, 10);
    count = strtol(number, NULL, 10);
    /* A copy, because the program may change its environment. */
    mark = strdup(mark);
    others = getenv("FAULT_MEMORY_OTHERS") != NULL && strcmp(getenv("FAULT_MEMORY_OTHERS"), "yes") == 0;
    first_thread = pthread_self();
    dl_iterate_phdr(find_left_out, NULL);
    armed = strcmp(program, program_invocation_short_name) == 0;
}

static bool is_left_out(const void *caller)
{
    for (int i = 0; i < ranges; i++) {
        if ((uintptr_t)caller >= range[i].begin && (uintptr_t)caller < range[i].end)
            return true;
    }
    return false;
}

static bool fails(const void *caller)
{
    long request;
    int fd;

    if (!armed || (pthread_equal(pthread_self(), first_thread) == 0) != others || is_left_out(caller))
        return false;
    request = atomic_fetch_add(&requests, 1) + 1;
    if (request < from || request - from >= count)
        return false;
    fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
    return true;
}

/* Find the next function of this name.  (ISO C has no cast from an object pointer to a function pointer.) */
#define FIND(next, name)                                    \
    do {                                                    \
        if (next == NULL) {                                 \
            void *symbol = dlsym(RTLD_NEXT, name);          \
            memcpy(&next, &symbol, sizeof next);            \
        }                                                   \
    } while (0)

void *malloc(size_t size)
{
    static void *(*next)(size_t);

    FIND(next, "malloc");
    return fails(__builtin_return_address(0)) ? NULL : next(size);
}

void *calloc(size_t n, size_t size)
{
    static void *(*next)(size_t, size_t);

    FIND(next, "calloc");
    return fails(__builtin_return_address(0)) ? NULL : next(n, size);
}

void *realloc(void *p, size_t size)
{
    static void *(*next)(void *, size_t);

    FIND(next, "realloc");
    return fails(__builtin_return_address(0)) ? NULL : next(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*next)(size_t, size_t);

    FIND(next, "aligned_alloc");
    return fails(__builtin_return_address(0)) ? NULL : next(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    static int (*next)(void **, size_t, size_t);

    FIND(next, "posix_memalign");
    return fails(__builtin_return_address(0)) ? ENOMEM : next(p, alignment, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);

    FIND(next, "mmap");
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    FIND(next, "pthread_create");
    return fails(__builtin_return_address(0)) ? EAGAIN : next(thread, attr, run, arg);
}

/* SPDX-License-Identifier: MIT */
/* program.c - see program.h; ld.so(8), elf(5) and execve(2) explain the checks. */
#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Would the program run with more rights than ours?  If so, the loader does not preload our module. */
static bool gains_rights(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return false;
    if ((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid())
        return true;
    if ((st.st_mode & S_ISGID) != 0 && st.st_gid != getegid())
        return true;
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Write the file name of the loader that the program requests, or "", to `name`. */
static void loader_of(int fd, const ElfW(Ehdr) *header, char *name, size_t size)
{
    char path[4096] = "";
    const char *last;

    for (int i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;

        if (pread(fd, &segment, sizeof segment,
                  (off_t)(header->e_phoff + (ElfW(Off))i * header->e_phentsize))
            != (ssize_t)sizeof segment)
            break;
        if (segment.p_type == PT_INTERP && segment.p_filesz < sizeof path
            && pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) > 0)
            break;
    }
    last = strrchr(path, '/');
    snprintf(name, size, "%s", last != NULL ? last + 1 : path);
}

/* Compare the loaders: two programs with the same loader have the same C library. */
static const char *look_at_elf(int fd, const ElfW(Ehdr) *header)
{
    ElfW(Ehdr) own;
    char loader[256], own_loader[256] = "";
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    loader_of(fd, header, loader, sizeof loader);
    if (self >= 0) {
        bool read_all = pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own;

        if (read_all)
            loader_of(self, &own, own_loader, sizeof own_loader);
        close(self);
        if (read_all && (own.e_ident[EI_CLASS] != header->e_ident[EI_CLASS]
                         || own.e_machine != header->e_machine))
            return "is for another kind of machine than the interposer";
    }
    if (loader[0] == '\0')
        return "is linked statically: the loader can preload nothing";
    if (own_loader[0] != '\0' && strcmp(loader, own_loader) != 0)
        return "is linked with another C library than the interposer";
    return NULL;
}

static const char *look(const char *path, int depth)
{
    union {
        ElfW(Ehdr) elf;
        char       text[256];
    } begin = { .text = { 0 } };
    const char *reason = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    /* Return no reason: we may be allowed to execute a program that we cannot read. */
    if (fd < 0)
        return NULL;
    if (pread(fd, &begin, sizeof begin - 1, 0) < 0)
        begin.text[0] = '\0';
    if (memcmp(begin.text, ELFMAG, SELFMAG) == 0) {
        if (gains_rights(fd))
            reason = "gains rights when it is run (set-user-ID, set-group-ID or capabilities): "
                     "then the loader preloads nothing";
        else
            reason = look_at_elf(fd, &begin.elf);
    } else if (memcmp(begin.text, "#!", 2) == 0 && depth < 4) {
        char *interpreter = begin.text + 2 + strspn(begin.text + 2, " \t");

        interpreter[strcspn(interpreter, " \t\n")] = '\0';
        reason = look(interpreter, depth + 1);
    }
    close(fd);
    return reason;
}

const char *program_not_interposable(const char *path)
{
    return look(path, 0);
}

/*
 * Is this the file name of a sanitizer's library?  A pattern must not match its own text: fairsem-run's file
 * contains the patterns, and may be searched, too.
 */
static bool is_sanitizer(const char *name)
{
    static const char *const patterns[] = {
        "libtsan.so.[0-9]*", "libasan.so.[0-9]*",               /* gcc */
        "libclang_rt.tsan[-.]*so", "libclang_rt.asan[-.]*so",   /* clang -shared-libsan */
    };

    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    }
    return false;
}

/* Map the file.  Returns the address of the map, or NULL if the file cannot be read, or is not an ELF file. */
static char *map_elf(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *map = MAP_FAILED;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > SELFMAG) {
        *size = (size_t)st.st_size;
        map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return NULL;
    if (memcmp(map, ELFMAG, SELFMAG) == 0)
        return map;
    munmap(map, *size);
    return NULL;
}

/* Search the file for a string like "libtsan.so.2": the dynamic section names libraries by such strings. */
char *program_sanitizer(const char *path)
{
    static const char begin[] = { '\0', 'l', 'i', 'b' };
    size_t size;
    char *found = NULL, *map = map_elf(path, &size);
    const char *end, *at = map;

    if (map == NULL)
        return NULL;
    end = map + size;
    while (found == NULL && (at = memmem(at, (size_t)(end - at), begin, sizeof begin)) != NULL) {
        at++;
        if (memchr(at, '\0', (size_t)(end - at)) == NULL)
            break;
        if (is_sanitizer(at))
            found = strdup(at);
    }
    munmap(map, size);
    return found;
}

/* Search the file for a message of the library: a stripped program has no symbol names. */
bool program_has_archive(const char *path)
{
    static const char text[] = "without fairsem_init or FAIRSEM_INITIALIZER";
    size_t size;
    char *map = map_elf(path, &size);
    bool found;

    if (map == NULL)
        return false;
    found = memmem(map, size, text, sizeof text - 1) != NULL;
    munmap(map, size);
    return found;
}

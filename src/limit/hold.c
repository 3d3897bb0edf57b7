/* SPDX-License-Identifier: MIT */
/* hold.c - see hold.h. */
#define _GNU_SOURCE             /* F_OFD_SETLK */
#include "hold.h"

#include "output.h"
#include "run/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    struct local_name *name;
    int                file;        /* the file behind the script's descriptor, opened again */
    int                ready;       /* write end of a pipe to the parent */
    struct flock       until;       /* conflicting lock: granted when the script's open file is closed */
};

/* ---- The lock ---- */

static struct flock lock_of(short type, off_t byte)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
}

/*
 * Find two bytes that no other keeper of this file uses: a write lock of this keeper on the first byte reserves
 * both bytes.  Lock the second byte through the script's descriptor.  If that descriptor is read-only, fcntl()
 * accepts only a read lock, which alone would not exclude other keepers.  Returns 0 or an errno value.
 */
static int lock_descriptor(struct keeper *k, int fd)
{
    bool reads = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    off_t byte = (off_t)getpid() * 2;
    char path[40];
    int file;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    file = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    k->file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (k->file < 0)
        return errno;
    for (;; byte += 2) {
        struct flock reserve = lock_of(F_WRLCK, byte), lock = lock_of(reads ? F_RDLCK : F_WRLCK, byte + 1);

        k->until = lock_of(reads ? F_WRLCK : F_RDLCK, byte + 1);
        if (fcntl(k->file, F_OFD_SETLK, &reserve) == 0)
            return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
        if (errno != EAGAIN && errno != EACCES)
            return errno;
    }
}

/* ---- The keeper ---- */

/*
 * Close all descriptors above 2 that the keeper has not opened.  A copy of the script's descriptor would keep
 * the open file open, and a copy of the write end of a pipe would make the reader of the pipe wait for the
 * keeper's end.
 */
static bool close_inherited(const struct keeper *k)
{
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (list == NULL)
        return false;
    while ((entry = readdir(list)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (fd > STDERR_FILENO && fd != k->file && fd != k->ready && fd != dirfd(list))
            close(fd);
    }
    closedir(list);
    return true;
}

/* Detach from the terminal: the keeper ends when the script's open file is closed, not by Ctrl-C. */
static bool become_daemon(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (dup2(null, fd) != fd)
            return false;
    }
    close(null);
    return setsid() >= 0 && chdir("/") == 0;
}

static int keep(struct keeper *k)
{
    struct local_name *name = k->name;
    int exit_status, error = lock_descriptor(k, name->request->hold_fd);

    if (error == 0 && !close_inherited(k))
        error = errno;
    if (error != 0)
        return output_failure("--hold=%d: %s", name->request->hold_fd, strerror(error));
    if (!local_acquire(name, &exit_status))
        return local_gave_up(name, exit_status);
    error = name->handle != NULL && name->request->keep ? fairsem_shared_keep_name(name->handle) : 0;
    if (error != 0) {
        local_release(name);
        return local_result(name, error);
    }
    prctl(PR_SET_PDEATHSIG, 0);
    if (name->handle == NULL)       /* an outer command holds the units */
        return write(k->ready, "", 1) == 1 ? 0 : OWN_FAILURE;
    if (become_daemon() && write(k->ready, "", 1) == 1) {
        close(k->ready);
        while (fcntl(k->file, F_OFD_SETLKW, &k->until) != 0 && errno == EINTR)
            continue;
    }
    local_release(name);
    return OWN_FAILURE;             /* a parent that has read the byte from the pipe does not see this status */
}

int hold_place(struct local_name *name)
{
    struct keeper keeper = { .name = name };
    pid_t self = getpid(), child;
    int ends[2], status, fd;
    char byte;

    if (fcntl(name->request->hold_fd, F_GETFD) < 0)
        return output_failure("--hold=%d: %s", name->request->hold_fd, strerror(errno));
    do                              /* occupy 0 to 2 if they are closed: become_daemon() replaces them */
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0 || pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0)
        return output_failure("--hold: %s", strerror(errno));
    if (child == 0) {
        keeper.ready = ends[1];
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        exit(getppid() == self ? keep(&keeper) : OWN_FAILURE);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) == 1)
        return 0;
    if (waitpid(child, &status, 0) != child)
        return output_failure("--hold: %s", strerror(errno));
    return end_like(status);
}

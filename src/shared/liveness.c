/* SPDX-License-Identifier: MIT */
/* liveness.c - liveness locks and entries; see liveness.h. */
#include "shared/liveness.h"

#include <errno.h>

bool fs_shared_is_of_file(const fairsem_shared_t *h, int fd, struct fs_file *now)
{
    return fs_file_inspect(fd, now) == 0 && now->device == h->file.device
           && now->inode == h->file.inode;
}

int fs_shared_check_file(const fairsem_shared_t *h)
{
    struct fs_file now;

    if (!fs_shared_is_of_file(h, h->fd, &now))
        return EBADF;
    return now.size < h->size ? ENOTRECOVERABLE : 0;
}

/*
 * If the liveness lock is free, check that the descriptor is still that of the segment's file: in another
 * file, a living process would seem dead.  A process cannot test its own lock, so its own entry counts as
 * alive.
 */
int fs_shared_alive(const fairsem_shared_t *h, int index, bool *alive)
{
    *alive = true;
    if (index == FS_GET(&h->self))
        return 0;
    if (fs_liveness_test(h->fd, index, alive) != 0)
        return EBADF;
    if (*alive)
        return 0;
    return fs_shared_check_file(h);
}

bool fs_shared_check_alive(struct fs_shared_section *in, int index)
{
    bool alive;
    int error = fs_shared_alive(in->handle, index, &alive);

    fs_note_error(in, error);
    return alive || error != 0;
}

int fs_shared_register_process(fairsem_shared_t *h, fs_wanted_fn *wanted, int *index, bool *others)
{
    for (int i = 0; i < h->max_processes; i++) {
        int error;

        if (!wanted(h, i))
            continue;
        FS_STEP("take a liveness lock");
        error = fs_liveness_lock(h->fd, i);
        if (error == EAGAIN) {
            *others = true;
            continue;
        }
        if (error != 0)
            return error;
        FS_PUT(&h->processes[i].incarnation, FS_GET(&h->processes[i].incarnation) + 1);
        *index = i;
        return 0;
    }
    return EUSERS;
}

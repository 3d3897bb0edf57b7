/* SPDX-License-Identifier: MIT */
/* cell_calls.c - see cell_calls.h.  These calls may use the mutex of the semaphore. */
#include "cell_calls.h"

#include "jumps.h"
#include "posix/sem_calls.h"
#include "priority.h"
#include "record.h"

int fs_cell_post_slow(struct fs_cell *cell)
{
    int error;

    if (!fs_cell_enter(cell))
        return FS_RETIRED;
    error = fairsem_release(cell->sem, 1);
    fs_cell_leave(cell);
    return error;
}

int fs_cell_try_slow(struct fs_cell *cell)
{
    int error;

    if (!fs_cell_enter(cell))
        return FS_RETIRED;
    error = fairsem_tryacquire(cell->sem, 1);
    fs_cell_leave(cell);
    return error;
}

/* The first load is only a hint, for the many calls while nobody waits. */
bool fs_cell_take_past(struct fs_cell *cell)
{
    bool taken;

    if (atomic_load_explicit(&fs_inside(cell->sem)->waiters, memory_order_relaxed) == 0
        || !fs_cell_enter(cell))
        return false;
    taken = fairsem_waiters(cell->sem) != 0 && fairsem_tryacquire(cell->sem, 1) == 0;
    fs_cell_leave(cell);
    if (taken)
        FS_COUNT(passed);
    return taken;
}

/* However the wait ends, it leaves the cell: see jumps.c. */
int fs_cell_wait_slow(struct fs_cell *cell, clockid_t clock, const struct timespec *deadline)
{
    __attribute__((cleanup(fs_wait_place_leave))) struct fs_wait_place place;
    struct fs_record *record = atomic_load_explicit(&cell->record, memory_order_relaxed);
    uint64_t start = fs_record_start();
    int error;

    fs_wait_place_enter(&place);
    if (!fs_cell_enter(cell))
        return FS_RETIRED;
    place.cell = cell;
    error = fs_sem_wait_slow(cell->sem, clock, deadline, fs_priority());
    if (error == 0)
        fs_record_wait(record, start);
    return error;
}

/* SPDX-License-Identifier: MIT */
/* slot_calls.c - see slot_calls.h.  These calls may use the mutex of the semaphore. */
#include "slot_calls.h"

#include "jumps.h"
#include "posix/sem_calls.h"
#include "priority.h"
#include "record.h"

int fs_slot_post_slow(struct fs_sem_slot *slot)
{
    int error;

    if (!fs_slot_enter(slot))
        return FS_RETIRED;
    error = fairsem_release(slot->sem, 1);
    fs_slot_leave(slot);
    return error;
}

int fs_slot_try_slow(struct fs_sem_slot *slot)
{
    int error;

    if (!fs_slot_enter(slot))
        return FS_RETIRED;
    error = fairsem_tryacquire(slot->sem, 1);
    fs_slot_leave(slot);
    return error;
}

/* The first load is only a hint, for the many calls while nobody waits. */
bool fs_slot_take_past(struct fs_sem_slot *slot)
{
    bool taken;

    if (atomic_load_explicit(&fs_inside(slot->sem)->waiters, memory_order_relaxed) == 0
        || !fs_slot_enter(slot))
        return false;
    taken = fairsem_waiters(slot->sem) != 0 && fairsem_tryacquire(slot->sem, 1) == 0;
    fs_slot_leave(slot);
    if (taken)
        FS_COUNT(passed);
    return taken;
}

/* However the wait ends, it leaves the slot: see jumps.c. */
int fs_slot_wait_slow(struct fs_sem_slot *slot, clockid_t clock, const struct timespec *deadline)
{
    __attribute__((cleanup(fs_wait_place_leave))) struct fs_wait_place place;
    struct fs_record *record = atomic_load_explicit(&slot->record, memory_order_relaxed);
    uint64_t start = fs_record_start();
    int error;

    fs_wait_place_enter(&place);
    if (!fs_slot_enter(slot))
        return FS_RETIRED;
    place.slot = slot;
    error = fs_sem_wait_slow(slot->sem, clock, deadline, fs_priority());
    if (error == 0)
        fs_record_wait(record, start);
    return error;
}

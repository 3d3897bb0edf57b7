/* SPDX-License-Identifier: MIT */
/* shared_stat.c - statistics and the dump: a segment as numbers and as text. */
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/kernel.h"
#include "shared/shared_queue.h"
#include "shared/detect.h"
#include "system/deadline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Check that the numbers are consistent.  The lock is held: without the lock, inconsistent numbers do not
 * mean damage.  So the other functions of this file, which may run without the lock, do not call fs_damaged().
 */
static void check(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    int at = fs_queue_front(in);

    if (h->undo && fs_shared_count_outstanding(in) != in->total - in->available)
        fs_damaged(in);
    for (int i = 0; at != FS_NOBODY; i++) {
        if (i >= h->max_waiters) {
            fs_damaged(in);
            break;
        }
        fs_load_process(in, at);
        fs_load_units(in, &h->slots[at].units);
        at = fs_queue_behind(in, at);
    }
}

/* ---- Totals ---- */

static void copy_counters(const struct fs_shared_counters *count, fairsem_shared_stat_t *stat)
{
    stat->waits = FS_GET(&count->waits);
    stat->grants = FS_GET(&count->grants);
    stat->timeouts = FS_GET(&count->timeouts);
    stat->cancels = FS_GET(&count->cancels);
    stat->lost = FS_GET(&count->lost);
    stat->wait_ns_total = FS_GET(&count->wait_ns_total);
    stat->wait_ns_max = FS_GET(&count->wait_ns_max);
    stat->waiters_max = FS_GET(&count->waiters_max);
    stat->refused = FS_GET(&count->refused);
    stat->over_releases = FS_GET(&count->over_releases);
    stat->deaths = FS_GET(&count->deaths);
    stat->returned = FS_GET(&count->returned);
    stat->repairs = FS_GET(&count->repairs);
    stat->aged = FS_GET(&count->aged);
}

static void add_units(int64_t *sum, int64_t units)
{
    if (units > 0)
        *sum = units > INT64_MAX - *sum ? INT64_MAX : *sum + units;
}

static void count_holders(const fairsem_shared_t *h, fairsem_shared_stat_t *stat)
{
    for (int i = 0; i < h->max_processes; i++) {
        if (FS_GET(&h->processes[i].state) == FS_PROCESS_FREE)
            continue;
        stat->processes++;
        add_units(&stat->held, FS_GET(&h->processes[i].held));
        if (fs_is_our_entry(h, i))
            stat->mine = FS_GET(&h->processes[i].held);
    }
}

static void count_slots(const fairsem_shared_t *h, int64_t now, fairsem_shared_stat_t *stat)
{
    for (int i = 0; i < h->max_waiters; i++) {
        int state = FS_GET(&h->slots[i].state);
        int64_t units = FS_GET(&h->slots[i].units), waited;

        if (state == FS_SLOT_GRANTED && h->undo)
            add_units(&stat->held, units);
        if (state != FS_SLOT_WAITING)
            continue;
        add_units(&stat->waiting_units, units);
        waited = fs_since(now, FS_GET(&h->slots[i].enqueued_ns));
        if (waited > stat->oldest_wait_ns)
            stat->oldest_wait_ns = waited;
    }
}

static void take_shared_stat(const fairsem_shared_t *h, int64_t now, fairsem_shared_stat_t *stat)
{
    *stat = (fairsem_shared_stat_t){
        .available = fs_word_available(FS_GET(&h->segment->word)),
        .capacity = h->unbounded ? -1 : fs_shared_total(h),
        .initial_units = h->units,
        .max_processes = h->max_processes,
        .max_waiters = h->max_waiters,
        .waiters = FS_GET(&h->segment->waiters),
    };
    copy_counters(&h->segment->count, stat);
    count_holders(h, stat);
    count_slots(h, now, stat);
}

/* ---- One by one ---- */

struct list {
    fairsem_shared_user_t *users;
    int                    room, count;
};

/*
 * Holders (place 0) are sorted, the longest hold first; waiters are added in the order of the queue.
 * local_pid is the index of the process; fairsem_shared_users() replaces the index by the PID.
 */
static void add(struct list *list, fairsem_shared_user_t user)
{
    int at = list->count < list->room ? list->count : list->room;

    list->count++;
    while (user.place == 0 && at > 0 && list->users[at - 1].ns < user.ns) {
        if (at < list->room)
            list->users[at] = list->users[at - 1];
        at--;
    }
    if (at < list->room)
        list->users[at] = user;
}

static void add_holders(const fairsem_shared_t *h, int64_t now, struct list *list)
{
    for (int i = 0; i < h->max_processes; i++) {
        const struct fs_process *p = &h->processes[i];
        int64_t held = FS_GET(&p->held);

        if (FS_GET(&p->state) != FS_PROCESS_FREE && held != 0)
            add(list, (fairsem_shared_user_t){
                .pid = FS_GET(&p->pid), .local_pid = i, .units = held,
                .ns = fs_since(now, FS_GET(&p->since_ns)), .mine = fs_is_our_entry(h, i),
            });
    }
}

static void add_slot(const fairsem_shared_t *h, const struct fs_slot *slot, int64_t place,
                     int64_t ns, struct list *list)
{
    int process = FS_GET(&slot->process);

    if (fs_index_valid(process, h->max_processes))
        add(list, (fairsem_shared_user_t){
            .pid = FS_GET(&h->processes[process].pid), .local_pid = process,
            .units = FS_GET(&slot->units), .place = place, .ns = ns,
            .priority = place != 0 ? FS_GET(&slot->priority) : 0,
            .mine = fs_is_our_entry(h, process),
        });
}

/* Add slots whose threads have not received their grants yet, perhaps because their process is stopped. */
static void add_granted(const fairsem_shared_t *h, int64_t now, struct list *list)
{
    for (int i = 0; i < h->max_waiters; i++) {
        const struct fs_slot *slot = &h->slots[i];

        if (FS_GET(&slot->state) == FS_SLOT_GRANTED)
            add_slot(h, slot, 0, fs_since(now, FS_GET(&slot->granted_ns)), list);
    }
}

static void add_queue(const fairsem_shared_t *h, int64_t now, struct list *list)
{
    int at = FS_GET(&h->segment->head);

    for (int64_t place = 1; place <= h->max_waiters && fs_index_valid(at, h->max_waiters); place++) {
        const struct fs_slot *slot = &h->slots[at];

        add_slot(h, slot, place, fs_since(now, FS_GET(&slot->enqueued_ns)), list);
        at = FS_GET(&slot->next);
    }
}

static void list_users(const fairsem_shared_t *h, int64_t now, struct list *list)
{
    add_holders(h, now, list);
    if (h->undo)
        add_granted(h, now, list);
    add_queue(h, now, list);
}

/* ---- The inspection ---- */

/*
 * Limit of the wait for the lock.  An owner that keeps the lock for longer is probably stopped.  The
 * inspection then reads without the lock: its figures may be inconsistent, but show what is going on.
 */
#define LOCK_LIMIT_NS 14000000

/* Reap the dead, grant their units, and inspect.  `stat`, `counts` and `list` may be NULL. */
static int inspect_segment(fairsem_shared_t *h, fairsem_shared_stat_t *stat, uint64_t *counts,
                          struct list *list)
{
    const struct fs_deadline deadline = fs_deadline_after(LOCK_LIMIT_NS);
    struct fs_shared_section in = { .now_ns = 0 };
    int error = fs_detect_dead(h, FS_EVERYBODY, FS_LOCK_WAIT, &deadline);
    int at_end = 0;
    bool locked = false;

    if (error == 0)
        error = fs_shared_enter(&in, h, FS_LOCK_WAIT, &deadline);
    if (error == 0) {
        locked = true;
        check(&in);
        error = in.error;
    } else if (error == ETIMEDOUT) {
        error = FS_GET(&h->segment->damaged) != 0 ? ENOTRECOVERABLE : 0;
    }
    if (error == 0 && stat != NULL)
        take_shared_stat(h, fs_shared_section_now(&in), stat);
    for (int i = 0; error == 0 && counts != NULL && i < FAIRSEM_WAIT_BUCKETS; i++)
        counts[i] = (uint64_t)FS_GET(&h->segment->count.lengths[i]);
    if (error == 0 && list != NULL)
        list_users(h, fs_shared_section_now(&in), list);
    if (locked)
        at_end = fs_shared_section_end(&in);
    return error != 0 ? error : at_end;
}

int64_t fairsem_shared_available(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    if (inspect_segment(h, &stat, NULL, NULL) != 0)
        return -1;
    return stat.available < 0 ? 0 : stat.available;
}

int64_t fairsem_shared_waiters(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    return inspect_segment(h, &stat, NULL, NULL) != 0 || stat.waiters < 0 ? -1 : stat.waiters;
}

int fairsem_shared_stat(fairsem_shared_t *h, fairsem_shared_stat_t *stat)
{
    fairsem_shared_stat_t now;
    int error = inspect_segment(h, &now, NULL, NULL);

    if (error == 0)
        *stat = now;
    return error;
}

int fairsem_shared_stat_histogram(fairsem_shared_t *h, uint64_t counts[FAIRSEM_WAIT_BUCKETS])
{
    uint64_t now[FAIRSEM_WAIT_BUCKETS];
    int error = inspect_segment(h, NULL, now, NULL);

    if (error == 0)
        memcpy(counts, now, sizeof now);
    return error;
}

int fairsem_shared_users(fairsem_shared_t *h, fairsem_shared_user_t *users, int *count)
{
    struct list list = { .users = users, .room = *count > 0 ? *count : 0 };
    int error = inspect_segment(h, NULL, NULL, &list);

    if (error != 0)
        return error;
    /* Each look-up takes a system call, so the lock is not held. */
    for (int i = 0; i < list.count && i < list.room; i++)
        users[i].local_pid = fs_liveness_owner(h->fd, (int)users[i].local_pid);
    *count = list.count;
    return 0;
}

/* ---- For people ---- */

/* Returns a - b, in unsigned arithmetic: damaged numbers must not overflow. */
static int64_t less(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/*
 * The longest wait and the sum of all waits include the present waiters (the sum only if there was memory
 * for the list).
 */
static void print_totals(FILE *file, const fairsem_shared_stat_t *stat, const struct list *list)
{
    int64_t longest_ns = stat->wait_ns_max, lacks = 0;
    double all_ns = (double)stat->wait_ns_total;

    if (stat->oldest_wait_ns > longest_ns)
        longest_ns = stat->oldest_wait_ns;
    for (int i = 0; i < list->count && i < list->room; i++) {
        if (list->users[i].place != 0)
            all_ns += (double)list->users[i].ns;
        if (list->users[i].place == 1 && list->users[i].units > stat->available)
            lacks = less(list->users[i].units, stat->available);
    }
    fprintf(file, "fairsem shared: available %" PRId64, stat->available);
    if (stat->capacity >= 0)
        fprintf(file, " of %" PRId64 ", in use %" PRId64, stat->capacity,
                less(stat->capacity, stat->available));
    fprintf(file, ", held %" PRId64 " (%" PRId64 " here), processes %" PRId64 " of %" PRId64
            ", waiters %" PRId64 " of %" PRId64 " for %" PRId64 " unit%s",
            stat->held, stat->mine, stat->processes, stat->max_processes, stat->waiters,
            stat->max_waiters, stat->waiting_units, stat->waiting_units == 1 ? "" : "s");
    if (lacks != 0)
        fprintf(file, ", the first lacks %" PRId64, lacks);
    fprintf(file, "\n  waits %" PRId64 ", granted %" PRId64 ", timed out %" PRId64
            ", canceled %" PRId64 ", lost %" PRId64 ", refused %" PRId64 ", over-releases %" PRId64
            "\n  longest wait %.6f s, all waits %.6f s, longest line %" PRId64 "\n",
            stat->waits, stat->grants, stat->timeouts, stat->cancels, stat->lost, stat->refused,
            stat->over_releases, (double)longest_ns / 1e9, all_ns / 1e9, stat->waiters_max);
    fprintf(file, "  processes dead %" PRId64 ", units given back for them %" PRId64
            ", repairs %" PRId64 "\n", stat->deaths, stat->returned, stat->repairs);
}

static void print_user(FILE *file, const fairsem_shared_user_t *user)
{
    fprintf(file, "  process %" PRId64 "%s ", user->pid, user->mine != 0 ? " (this one)" : "");
    if (user->place == 0)
        fprintf(file, "holds %" PRId64 " for %.6f s\n", user->units, (double)user->ns / 1e9);
    else
        fprintf(file, "waits in place %" PRId64 " for %" PRId64 ", priority %" PRId64
                ", age %.6f s\n", user->place, user->units, user->priority,
                (double)user->ns / 1e9);
}

/* The list has room for all possible users: it is allocated before the lock is taken. */
static int dump(fairsem_shared_t *h, FILE *file)
{
    int room = h->max_processes + h->max_waiters;
    struct list list = { .users = malloc((size_t)room * sizeof *list.users) };
    fairsem_shared_stat_t stat;
    int error;

    list.room = list.users != NULL ? room : 0;
    error = inspect_segment(h, &stat, NULL, &list);
    if (error == 0) {
        print_totals(file, &stat, &list);
        for (int i = 0; i < list.count && i < list.room; i++)
            print_user(file, &list.users[i]);
        if (fflush(file) != 0 || ferror(file))
            error = EIO;
        else if (list.users == NULL)
            error = ENOMEM;
    }
    free(list.users);
    return error;
}

int fairsem_shared_dump(fairsem_shared_t *h, FILE *file)
{
    int before = errno, cancelable, ignored, error;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    error = dump(h, file);
    pthread_setcancelstate(cancelable, &ignored);
    errno = before;
    return error;
}

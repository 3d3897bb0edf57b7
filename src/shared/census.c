/* SPDX-License-Identifier: MIT */
/* census.c - inspecting a segment, as numbers and as text. */
#include "shared/attach.h"
#include "shared/change.h"
#include "shared/repair.h"
#include "shared/shared_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Enter, drop the dead, and grant what they held. */
static int enter_and_inspect(fairsem_shared_t *h, struct fs_section *section)
{
    int error = fs_shared_enter(h, section);

    if (error != 0)
        return error;
    error = fs_shared_inspect(h);
    if (error == 0)
        error = fs_section_grant(h, section);
    return error != 0 ? fs_section_fail(h, section, error) : 0;
}

int64_t fairsem_shared_available(fairsem_shared_t *h)
{
    struct fs_section section;
    int64_t available;
    int error = enter_and_inspect(h, &section);

    if (error != 0)
        return -1;
    error = fs_shared_load_available(h, &available);
    if (error == 0)
        error = fs_section_end(h, &section);
    else
        fs_section_fail(h, &section, error);
    return error != 0 ? -1 : available;
}

int64_t fairsem_shared_waiters(fairsem_shared_t *h)
{
    struct fs_section section;
    int64_t waiters;

    if (enter_and_inspect(h, &section) != 0)
        return -1;
    waiters = FS_GET(&h->segment->waiters);
    return fs_section_end(h, &section) != 0 || waiters < 0 ? -1 : waiters;
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
}

/* More units held than exist mean damage.  Checking each term also keeps the sum from overflow. */
static int count_holders(fairsem_shared_t *h, fairsem_shared_stat_t *stat)
{
    int64_t held;
    int error;

    for (int i = 0; i < h->max_processes; i++) {
        if (FS_GET(&h->processes[i].state) == FS_PROCESS_FREE)
            continue;
        error = fs_shared_load_held(h, i, &held);
        if (error != 0 || held > h->capacity - stat->held)
            return error != 0 ? error : fs_shared_is_damaged(h);
        stat->processes++;
        stat->held += held;
        if (i == FS_GET(&h->self))
            stat->mine = held;
    }
    return 0;
}

static int count_slots(fairsem_shared_t *h, int64_t now, fairsem_shared_stat_t *stat)
{
    int64_t units, waited;
    int error;

    for (int i = 0; i < h->max_waiters; i++) {
        int state = FS_GET(&h->slots[i].state);

        if (state != FS_SLOT_WAITING && state != FS_SLOT_GRANTED)
            continue;
        error = fs_shared_load_units(h, i, &units);
        if (error != 0)
            return error;
        if (state == FS_SLOT_GRANTED) {
            stat->held += h->undo ? units : 0;
            continue;
        }
        stat->waiting_units = units > INT64_MAX - stat->waiting_units
                              ? INT64_MAX : stat->waiting_units + units;
        waited = fs_since(now, FS_GET(&h->slots[i].joined_ns));
        if (waited > stat->oldest_wait_ns)
            stat->oldest_wait_ns = waited;
    }
    return 0;
}

/* The lock is held. */
static int take_stat(fairsem_shared_t *h, int64_t now, fairsem_shared_stat_t *stat)
{
    int error;

    *stat = (fairsem_shared_stat_t){
        .capacity = h->unbounded ? -1 : h->capacity,
        .max_processes = h->max_processes,
        .max_waiters = h->max_waiters,
        .waiters = FS_GET(&h->segment->waiters),
    };
    copy_counters(&h->segment->count, stat);
    error = fs_shared_load_available(h, &stat->available);
    if (error == 0)
        error = count_holders(h, stat);
    if (error == 0)
        error = count_slots(h, now, stat);
    return error;
}

int fairsem_shared_stat(fairsem_shared_t *h, fairsem_shared_stat_t *stat)
{
    struct fs_section section;
    int error = enter_and_inspect(h, &section);

    if (error != 0)
        return error;
    error = take_stat(h, fs_section_now(&section), stat);
    return error != 0 ? fs_section_fail(h, &section, error) : fs_section_end(h, &section);
}

/* ---- One by one ---- */

struct list {
    fairsem_shared_user_t *users;
    int                    room, count;
};

/* Waiters are added in the order of the queue.  Holders are sorted, the oldest first. */
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

static int add_holders(fairsem_shared_t *h, int64_t now, struct list *list)
{
    int64_t held;

    for (int i = 0; i < h->max_processes; i++) {
        const struct fs_process *p = &h->processes[i];
        int error;

        if (FS_GET(&p->state) == FS_PROCESS_FREE)
            continue;
        error = fs_shared_load_held(h, i, &held);
        if (error != 0)
            return error;
        if (held != 0)
            add(list, (fairsem_shared_user_t){
                .pid = FS_GET(&p->pid), .units = held, .ns = fs_since(now, FS_GET(&p->since_ns)),
                .mine = i == FS_GET(&h->self),
            });
    }
    return 0;
}

/* Requests that were granted, not yet received: their processes may be stopped. */
static int add_granted(fairsem_shared_t *h, int64_t now, struct list *list)
{
    for (int i = 0; i < h->max_waiters; i++) {
        const struct fs_slot *slot = &h->slots[i];
        int process, error;

        if (FS_GET(&slot->state) != FS_SLOT_GRANTED)
            continue;
        error = fs_slot_process(h, i, &process);
        if (error != 0)
            return error;
        add(list, (fairsem_shared_user_t){
            .pid = FS_GET(&h->processes[process].pid), .units = FS_GET(&slot->units),
            .ns = fs_since(now, FS_GET(&slot->granted_ns)), .mine = process == FS_GET(&h->self),
        });
    }
    return 0;
}

static int add_queue(fairsem_shared_t *h, int64_t now, struct list *list)
{
    int64_t place = 1;
    int at, error = fs_queue_head(h, &at);

    while (error == 0 && at != FS_NOBODY) {
        const struct fs_slot *slot = &h->slots[at];
        int process;

        if (place > h->max_waiters)
            return fs_shared_is_damaged(h);
        error = fs_slot_process(h, at, &process);
        if (error != 0)
            return error;
        add(list, (fairsem_shared_user_t){
            .pid = FS_GET(&h->processes[process].pid), .units = FS_GET(&slot->units),
            .place = place, .ns = fs_since(now, FS_GET(&slot->joined_ns)),
            .priority = FS_GET(&slot->priority), .mine = process == FS_GET(&h->self),
        });
        place++;
        error = fs_queue_behind(h, at, &at);
    }
    return error;
}

/* The lock is held. */
static int list_users(fairsem_shared_t *h, int64_t now, struct list *list)
{
    int error = add_holders(h, now, list);

    if (error == 0 && h->undo)
        error = add_granted(h, now, list);
    return error != 0 ? error : add_queue(h, now, list);
}

int fairsem_shared_users(fairsem_shared_t *h, fairsem_shared_user_t *users, int *count)
{
    struct list list = { .users = users, .room = *count > 0 ? *count : 0 };
    struct fs_section section;
    int error = enter_and_inspect(h, &section);

    if (error != 0)
        return error;
    error = list_users(h, fs_section_now(&section), &list);
    error = error != 0 ? fs_section_fail(h, &section, error) : fs_section_end(h, &section);
    if (error == 0)
        *count = list.count;
    return error;
}

/* ---- For people ---- */

static void print_totals(FILE *file, const fairsem_shared_stat_t *stat)
{
    fprintf(file, "fairsem shared: available %" PRId64, stat->available);
    if (stat->capacity >= 0)
        fprintf(file, " of %" PRId64, stat->capacity);
    fprintf(file, ", held %" PRId64 " (%" PRId64 " here), processes %" PRId64 " of %" PRId64
            ", waiters %" PRId64 " of %" PRId64 " for %" PRId64 " units\n",
            stat->held, stat->mine, stat->processes, stat->max_processes, stat->waiters,
            stat->max_waiters, stat->waiting_units);
    fprintf(file, "  waits %" PRId64 ", granted %" PRId64 ", timed out %" PRId64
            ", canceled %" PRId64 ", lost %" PRId64 ", refused %" PRId64 ", over-releases %" PRId64
            "\n  longest wait %.6f s, all waits %.6f s, longest line %" PRId64 "\n",
            stat->waits, stat->grants, stat->timeouts, stat->cancels, stat->lost, stat->refused,
            stat->over_releases, (double)stat->wait_ns_max / 1e9,
            (double)stat->wait_ns_total / 1e9, stat->waiters_max);
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

/* The memory is allocated before the lock is taken, for the most users that there can be. */
static int dump(fairsem_shared_t *h, FILE *file)
{
    int room = h->max_processes + h->max_waiters;
    struct list list = { .users = malloc((size_t)room * sizeof *list.users) };
    fairsem_shared_stat_t stat;
    struct fs_section section;
    int error = enter_and_inspect(h, &section);

    list.room = list.users != NULL ? room : 0;
    if (error == 0) {
        error = take_stat(h, fs_section_now(&section), &stat);
        if (error == 0)
            error = list_users(h, fs_section_now(&section), &list);
        error = error != 0 ? fs_section_fail(h, &section, error) : fs_section_end(h, &section);
    }
    if (error == 0) {
        print_totals(file, &stat);
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

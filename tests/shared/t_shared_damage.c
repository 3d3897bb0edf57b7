/* SPDX-License-Identifier: MIT */
/*
 * t_shared_damage.c - a segment is overwritten while it is in use.  Afterwards each call returns
 * ENOTRECOVERABLE or another documented result.  No call crashes, hangs or reads outside of the segment.
 *
 * The segment has a holder and waiters in other processes, which are stopped.  Each round restores the segment
 * and damages a few places of it.  FAIRSEM_SHARED_TIMES=n makes n times as many rounds.
 */
#include "crowd.h"

#include "shared/attach.h"
#include "shared/change.h"
#include "shared/detect.h"
#include "system/deadline.h"
#include "workers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 3000

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/*
 * Would damage at this offset hit the lock word?  A damaged lock word may name a live process as the owner: a
 * call without a deadline would wait for ever.
 */
static bool is_lock(const fairsem_shared_t *h, size_t at)
{
    size_t lock = (size_t)((char *)&h->segment->lock - (char *)h->segment);

    return at + 8 > lock && at < lock + 4;
}

static bool lock_is_spared;

static void damage(fairsem_shared_t *h)
{
    static const int64_t likely[] = { 0, 1, -1, 2, 3, 4, 8, 255, 256, INT32_MAX, INT32_MIN,
                                      INT64_MAX, INT64_MIN, FAIRSEM_MAX_UNITS };
    char *memory = (char *)h->segment;
    size_t at = next_random() % (size_t)h->size / 8 * 8;
    int64_t value = likely[next_random() % (sizeof likely / sizeof likely[0])];

    /* Two thirds of the damage hit the header and the slots in use. */
    if (next_random() % 3 != 0)
        at = next_random() % 2 == 0 ? next_random() % sizeof(struct fs_segment) / 8 * 8
                                    : (size_t)((char *)h->slots - memory) + next_random() % 512;
    if (lock_is_spared && is_lock(h, at))
        return;
    switch (next_random() % 4) {
    case 0:
        memory[at] = (char)next_random();
        break;
    case 1:
        memory[at] ^= (char)(1u << next_random() % 8);
        break;
    case 2:
        memcpy(memory + at / 4 * 4, &value, 4);
        break;
    default:
        memcpy(memory + at / 8 * 8, &value, 8);
    }
}

static bool is_result(int error)
{
    static const int results[] = { 0, EAGAIN, ETIMEDOUT, EPERM, EBUSY, ENOBUFS, EOVERFLOW,
                                   ENOTRECOVERABLE, EUSERS, EBADF };

    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (error == results[i])
            return true;
    }
    return false;
}

static int use(fairsem_shared_t *h, FILE *null)
{
    fairsem_shared_user_t users[8];
    fairsem_shared_stat_t stat;
    int count = 8;

    switch (next_random() % 8) {
    case 0:
        return fairsem_shared_tryacquire(h, (int64_t)(next_random() % 3));
    case 1:
        return fairsem_shared_acquire_for(h, (int64_t)(next_random() % 3), 20000);
    case 2:
        return lock_is_spared ? fairsem_shared_release(h, (int64_t)(next_random() % 3)) : 0;
    case 3:
        return fairsem_shared_stat(h, &stat);
    case 4:
        return fairsem_shared_users(h, users, &count);
    case 5:
        return fairsem_shared_dump(h, null);
    case 6:
        return fairsem_shared_available(h) >= -1 ? 0 : -1;
    default:
        return fairsem_shared_waiters(h) >= -1 ? 0 : -1;
    }
}

/*
 * Of three units this process holds one, and the first child another one.  Two more children wait, for three
 * units each.  All children are stopped.
 */
static fairsem_shared_t *make_used(unsigned flags, pid_t children[3])
{
    fairsem_shared_t *h = make_small_segment(3, flags, 16, 8);

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    children[0] = fork_holder(h, 1);
    for (int i = 1; i < 3; i++)
        children[i] = queue_user(h, 3);
    for (int i = 0; i < 3; i++)
        stop_child(children[i]);
    ck_assert_int_eq(fairsem_shared_waiters(h), 2);
    return h;
}

static void end_used(fairsem_shared_t *h, const pid_t children[3], int64_t available)
{
    for (int i = 0; i < 3; i++)
        kill_child(children[i]);
    ck_assert_int_eq(fairsem_shared_available(h), available);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

static void damage_often(unsigned flags)
{
    const long rounds = ROUNDS * (long)setting("FAIRSEM_SHARED_TIMES", 1, 1);
    long broken = 0;
    pid_t children[3];
    fairsem_shared_t *h = make_used(flags, children), before;
    FILE *null = fopen("/dev/null", "w");
    void *image = malloc((size_t)h->size);

    memcpy(image, h->segment, (size_t)h->size);
    memcpy(&before, h, sizeof before);
    for (long i = 0; i < rounds; i++) {
        memcpy(h->segment, image, (size_t)h->size);
        memcpy(h, &before, sizeof before);
        lock_is_spared = next_random() % 2 == 0;
        for (uint64_t n = 1 + next_random() % 3; n > 0; n--)
            damage(h);
        for (int calls = 0; calls < 6; calls++) {
            int error = use(h, null);

            ck_assert_msg(is_result(error), "round %ld: %d", i, error);
            broken += error == ENOTRECOVERABLE;
        }
    }
    ck_assert_int_gt(broken, rounds / 100);
    memcpy(h->segment, image, (size_t)h->size);
    memcpy(h, &before, sizeof before);
    end_used(h, children, (flags & FAIRSEM_SHARED_NO_UNDO) != 0 ? 1 : 2);
    free(image);
    fclose(null);
}

START_TEST(damage_is_a_result_and_never_a_crash)
{
    damage_often(0);
}
END_TEST

START_TEST(damage_without_undo_is_a_result_and_never_a_crash)
{
    damage_often(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

static int see_available(fairsem_shared_t *h)
{
    return fairsem_shared_available(h) >= 0 ? 0 : ENOTRECOVERABLE;
}

static int see_stat(fairsem_shared_t *h)
{
    fairsem_shared_stat_t stat;

    return fairsem_shared_stat(h, &stat);
}

static int see_users(fairsem_shared_t *h)
{
    int count = 0;

    return fairsem_shared_users(h, NULL, &count);
}

static int see_dump(fairsem_shared_t *h)
{
    FILE *null = fopen("/dev/null", "w");
    int error = fairsem_shared_dump(h, null);

    fclose(null);
    return error;
}

/* Store a value in a member of 4 or of 8 bytes. */
static void put_member(void *at, size_t size, int64_t value)
{
    const int32_t narrow = (int32_t)value;

    memcpy(at, size == sizeof narrow ? (const void *)&narrow : &value, size);
}

struct wrong {
    void   *at;
    size_t  size;
    int64_t value;
};

static void check_each(fairsem_shared_t *h, int (*call)(fairsem_shared_t *),
                       const struct wrong wrong[], int count)
{
    void *image = malloc((size_t)h->size);

    memcpy(image, h->segment, (size_t)h->size);
    for (int i = 0; i < count; i++) {
        put_member(wrong[i].at, wrong[i].size, wrong[i].value);
        ck_assert_msg(call(h) == ENOTRECOVERABLE, "number %d", i);
        ck_assert_int_eq(FS_GET(&h->segment->damaged), 1);
        memcpy(h->segment, image, (size_t)h->size);
    }
    free(image);
}

START_TEST(one_damaged_member_is_reported_by_each_call_that_inspects)
{
    enum { SLOTS = 16, PROCESSES = 8 };
    static int (*const calls[])(fairsem_shared_t *) = { see_available, see_stat, see_users,
                                                        see_dump };
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children);
    int first = FS_GET(&h->segment->head), second = FS_GET(&h->slots[first].next);
    struct fs_slot *head = &h->slots[first], *behind = &h->slots[second];
    struct fs_process *ours = &h->processes[FS_GET(&h->self)];
    const struct wrong members[] = {
        { &h->segment->word,       8, 2 * 4 + FS_CONTENDED },
        { &h->segment->word,       8, 2 * 2 + FS_CONTENDED },  /* one free unit too many */
        { &h->segment->word,       8, FS_CONTENDED },          /* one free unit too few */
        { &h->segment->word,       8, -2 + FS_CONTENDED },
        { &h->segment->total,      8, 4 },
        { &h->segment->total,      8, 2 },
        { &h->segment->total,      8, -1 },
        { &h->segment->high_water, 8, 2 },
        { &h->segment->high_water, 8, INT64_MAX },
        { &h->segment->outstanding,8, 1 },
        { &h->segment->outstanding,8, -1 },
        { &h->segment->damaged,    4, 1 },
        { &h->segment->head,       4, SLOTS },
        { &head->state,            4, FS_SLOT_FREE },
        { &head->process,          4, PROCESSES },
        { &head->units,            8, -1 },
        { &head->next,             4, SLOTS },
        { &behind->next,           4, first },             /* a cycle */
        { &behind->process,        4, PROCESSES },
        { &behind->units,          8, 4 },
        { &ours->held,             8, -1 },
        { &ours->held,             8, 0 },
        { &ours->held,             8, 2 },
        { &ours->held,             8, 3 },
        { &ours->held,             8, 4 },
    };

    for (int call = 0; call < 4; call++)
        check_each(h, calls[call], members, sizeof members / sizeof members[0]);
    end_used(h, children, 2);
}
END_TEST

static int take_none(fairsem_shared_t *h)
{
    return fairsem_shared_tryacquire(h, 0);
}

static int take_one(fairsem_shared_t *h)
{
    return fairsem_shared_tryacquire(h, 1);
}

static int take_three(fairsem_shared_t *h)
{
    return fairsem_shared_tryacquire(h, 3);
}

static int give_one(fairsem_shared_t *h)
{
    return fairsem_shared_release(h, 1);
}

/* The damage is reported, and not E2BIG or EPERM. */
START_TEST(one_changed_count_is_found_by_acquire_and_release)
{
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children), *other = make_segment(1, 0);
    const struct wrong counts[] = {     /* the right count is one free unit */
        { &h->segment->word, 8, -2 + FS_CONTENDED },    { &h->segment->word, 8, FS_CONTENDED },
        { &h->segment->word, 8, 2 * 2 + FS_CONTENDED }, { &h->segment->word, 8, 2 * 3 + FS_CONTENDED },
    };
    const struct wrong held = { &h->processes[FS_GET(&h->self)].held, 8, 0 };
    const struct wrong unheld = { &other->processes[FS_GET(&other->self)].held, 8, -1 };
    const struct wrong total = { &h->segment->total, 8, 2 };

    FS_PUT(&h->segment->checked_ns, -1);        /* no recent check, so that a refusal needs the lock */
    check_each(h, take_none, counts, 4);
    check_each(h, give_one, counts, 4);
    check_each(h, give_one, &held, 1);
    check_each(h, take_three, &total, 1);       /* E2BIG would be wrong: three units exist */
    check_each(other, take_one, &unheld, 1);
    ck_assert_int_eq(fairsem_shared_close(other), 0);
    ck_assert_int_eq(fairsem_shared_release(h, 2), EPERM);
    end_used(h, children, 2);
}
END_TEST

/* The check loads indices without the lock.  So an invalid index is not damage, but must not be used. */
START_TEST(a_check_of_processes_uses_no_invalid_index)
{
    static const int indices[] = { FS_NOBODY, 16, INT32_MAX, INT32_MIN };
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children);
    _Atomic int32_t *places[] = { &h->segment->head, &h->slots[FS_GET(&h->segment->head)].process };
    void *image = malloc((size_t)h->size);

    memcpy(image, h->segment, (size_t)h->size);
    for (int place = 0; place < 2; place++) {
        for (int i = 0; i < 4; i++) {
            FS_PUT(places[place], indices[i]);
            ck_assert_int_eq(fs_detect_dead(h, FS_THOSE_OF_INTEREST, FS_LOCK_TRY_FOR_GRACE, NULL), 0);
            memcpy(h->segment, image, (size_t)h->size);
        }
    }
    end_used(h, children, 2);
    free(image);
}
END_TEST

START_TEST(an_invalid_change_is_not_redone)
{
    enum { SLOTS = 16, PROCESSES = 8 };
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children);
    struct fs_redo *redo = &h->segment->redo;
    const struct wrong wrong[] = {
        { &redo->slot,       4, -1 },              { &redo->slot,       4, SLOTS + 1 },
        { &redo->slot_state, 4, FS_SLOT_WAITING }, { &redo->slot_state, 4, FS_SLOT_CANCELED },
        { &redo->process,    4, -1 },              { &redo->process,    4, PROCESSES + 1 },
        { &redo->held,       8, -1 },              { &redo->held,       8, 4 },
        { &redo->word,       8, -1 },              { &redo->word,       8, 4 },
    };

    FS_PUT(&redo->slot_state, FS_SLOT_FREE);
    FS_PUT(&redo->process, 1 + FS_GET(&h->self));
    FS_PUT(&redo->held, 1);
    FS_PUT(&redo->has_word, 1);
    FS_PUT(&redo->word, 1);
    FS_PUT(&redo->slot, 1 + FS_GET(&h->segment->head));
    FS_PUT(&h->segment->unfinished, 1);
    check_each(h, see_stat, wrong, sizeof wrong / sizeof wrong[0]);
    /* With the right numbers the repair completes the change: the front's request is dequeued. */
    ck_assert_int_eq(fairsem_shared_waiters(h), 1);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    end_used(h, children, 2);
}
END_TEST

/* The next call repairs the segment (`unfinished`), and counts more units than exist. */
START_TEST(units_that_do_not_exist_are_found_by_a_repair)
{
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children);
    struct fs_slot *head = &h->slots[FS_GET(&h->segment->head)];
    struct fs_process *ours = &h->processes[FS_GET(&h->self)];
    const struct wrong wrong[] = {
        { &ours->held,  8, -1 }, { &ours->held, 8, 3 }, { &ours->held, 8, 4 },
        { &head->state, 4, FS_SLOT_GRANTED },           /* of three units, although only one was free */
    };

    FS_PUT(&h->segment->unfinished, 1);
    check_each(h, see_available, wrong, sizeof wrong / sizeof wrong[0]);
    ck_assert_int_eq(fairsem_shared_available(h), 1);
    /* No damage: two processes hold a unit each, and the front is granted the third one. */
    FS_PUT(&h->segment->unfinished, 1);
    FS_PUT(&head->units, 1);
    FS_PUT(&head->state, FS_SLOT_GRANTED);
    ck_assert_int_eq(fairsem_shared_available(h), 0);
    end_used(h, children, 2);
}
END_TEST

/* A repair that was cut short may have left any value in derived data. */
START_TEST(a_repair_trusts_no_derived_data)
{
    static const int64_t values[] = { 0, -1, 4, INT64_MAX, INT64_MIN };
    pid_t children[3];
    fairsem_shared_t *h = make_used(0, children);
    struct fs_segment *s = h->segment;
    struct fs_slot *head = &h->slots[FS_GET(&s->head)];
    void *image = malloc((size_t)h->size);
    const struct { void *at; size_t size; } derived[] = {
        { &s->word, 8 }, { &s->outstanding, 8 }, { &s->waiters, 8 }, { &s->head, 4 }, { &s->tail, 4 },
        { &s->free_hint, 4 }, { &head->next, 4 }, { &head->prev, 4 },
    };

    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            put_member(derived[i].at, derived[i].size, values[k]);
            FS_PUT(&s->unfinished, 1);
            ck_assert_msg(fairsem_shared_available(h) == 1, "cache %d, value %d", (int)i, (int)k);
            ck_assert_int_eq(fairsem_shared_waiters(h), 2);
        }
    }
    /* Once more, with a front waiter that was granted a unit, and whose process is dead. */
    kill_child(children[1]);
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        memcpy(image, h->segment, (size_t)h->size);
        FS_PUT(&head->units, 1);
        FS_PUT(&head->state, FS_SLOT_GRANTED);
        FS_PUT(&s->word, values[k]);
        FS_PUT(&s->unfinished, 1);
        ck_assert_msg(fairsem_shared_available(h) == 1, "value %d", (int)k);
        ck_assert_int_eq(fairsem_shared_waiters(h), 1);
        ck_assert_int_eq(FS_GET(&s->count.returned), 1);
        memcpy(h->segment, image, (size_t)h->size);
    }
    kill_child(children[0]);
    kill_child(children[2]);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
    free(image);
}
END_TEST

/* A section loads each number once: a value that is stored later is not used, but overwritten. */
START_TEST(a_number_that_changes_during_a_section_is_not_used)
{
    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        pid_t children[3];
        fairsem_shared_t *h = make_used(flags, children);
        struct fs_shared_section in;

        ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
        FS_PUT(&h->segment->word, INT64_MAX);
        FS_PUT(&h->segment->outstanding, INT64_MIN);
        fs_shared_take(&in, 1);
        ck_assert_int_eq(fs_shared_section_end(&in), 0);
        ck_assert_int_eq(fairsem_shared_available(h), 0);
        end_used(h, children, (flags & FAIRSEM_SHARED_NO_UNDO) != 0 ? 0 : 1);
    }
}
END_TEST

/* ---- No commit after damage ---- */

enum { USED_SLOTS = 16, USED_PROCESSES = 8 };       /* as in make_used() */

struct authoritative {
    int64_t held[USED_PROCESSES], total, word;
    int     used[USED_PROCESSES], state[USED_SLOTS], redo, unfinished;
};

static struct authoritative authoritative_of(const fairsem_shared_t *h)
{
    struct authoritative authoritative;

    memset(&authoritative, 0, sizeof authoritative);
    for (int i = 0; i < USED_PROCESSES; i++) {
        authoritative.held[i] = FS_GET(&h->processes[i].held);
        authoritative.used[i] = FS_GET(&h->processes[i].state);
    }
    for (int i = 0; i < USED_SLOTS; i++)
        authoritative.state[i] = FS_GET(&h->slots[i].state);
    authoritative.total = FS_GET(&h->segment->total);
    authoritative.word = h->undo ? 0 : FS_GET(&h->segment->word);
    authoritative.redo = FS_GET(&h->segment->redo.slot);
    authoritative.unfinished = FS_GET(&h->segment->unfinished);
    return authoritative;
}

static int first_slot;      /* the slot of the front waiter */

static void do_take(struct fs_shared_section *in) { fs_shared_take(in, 1); }
static void do_give_back(struct fs_shared_section *in) { fs_shared_give_back(in, 1); }
static void do_resize(struct fs_shared_section *in) { fs_shared_resize(in, 4); }
static void do_grant(struct fs_shared_section *in) { fs_shared_grant_slot(in, first_slot, 1); }
static void do_return(struct fs_shared_section *in) { fs_shared_clean_up(in, first_slot); }
static void do_free(struct fs_shared_section *in) { fs_shared_clean_up(in, first_slot); }

static void do_receive(struct fs_shared_section *in)
{
    FS_PUT(&in->handle->slots[first_slot].units, 1);
    fs_shared_receive(in, first_slot, 0);
}

static void do_grant_all(struct fs_shared_section *in)
{
    in->available = 3;
    fs_shared_section_grant(in);
}

static void do_cancel(struct fs_shared_section *in)
{
    int state = FS_SLOT_WAITING;

    (void)fs_commit_state(in, first_slot, &state, FS_SLOT_CANCELED);
}

static void do_reap(struct fs_shared_section *in)
{
    fs_shared_reap(in, FS_GET(&in->handle->slots[first_slot].process));
}

static void do_repair(struct fs_shared_section *in)
{
    static const struct fs_dead nobody;

    fs_shared_repair(in, &nobody);
}

/* In a section without an error, each of these functions changes authoritative data. */
START_TEST(nothing_is_committed_after_damage)
{
    static void (*const changes[])(struct fs_shared_section *) = {
        do_take, do_give_back, do_resize, do_grant, do_receive, do_return, do_free,
        do_grant_all, do_cancel, do_reap, do_repair,
    };

    for (unsigned flags = 0; flags <= FAIRSEM_SHARED_NO_UNDO; flags++) {
        pid_t children[3];
        fairsem_shared_t *h = make_used(flags, children);
        void *image = malloc((size_t)h->size);

        memcpy(image, h->segment, (size_t)h->size);
        first_slot = FS_GET(&h->segment->head);
        for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
            for (int damaged = 0; damaged <= 1; damaged++) {
                struct fs_shared_section in;
                struct authoritative before, after;

                if (changes[i] == do_resize && !h->undo)
                    continue;
                ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
                if (damaged)
                    fs_damaged(&in);
                FS_PUT(&h->segment->unfinished, 1);
                if (changes[i] == do_return)
                    FS_PUT(&h->slots[first_slot].state, FS_SLOT_GRANTED);
                before = authoritative_of(h);
                changes[i](&in);
                after = authoritative_of(h);
                ck_assert_msg((memcmp(&before, &after, sizeof before) == 0) == damaged,
                              "change %d, damaged %d", (int)i, damaged);
                ck_assert_int_eq(fs_shared_section_result(&in, 0), damaged ? ENOTRECOVERABLE : 0);
                memcpy(h->segment, image, (size_t)h->size);
            }
        }
        end_used(h, children, (flags & FAIRSEM_SHARED_NO_UNDO) != 0 ? 1 : 2);
        free(image);
    }
}
END_TEST

/* During the section the file is truncated, so that the pages of the tables are gone. */
START_TEST(a_repair_leaves_a_file_alone_that_is_too_short)
{
    const fairsem_shared_attr_t attr = { .units = 2, .max_waiters = FAIRSEM_SHARED_MAX };
    const long page = sysconf(_SC_PAGESIZE);
    struct fs_shared_section in;
    struct fs_dead dead = { .count = 0 };
    fairsem_shared_t *h;
    pid_t child;

    ck_assert_int_eq(fairsem_shared_open(&h, own_name(), O_CREAT, 0600, &attr), 0);
    ck_assert_int_eq(fairsem_shared_unlink(own_name()), 0);
    ck_assert_int_gt(h->size, 2 * page);
    child = fork_holder(h, 1);
    kill_child(child);
    ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
    fs_dead_add(&dead, 1 - FS_GET(&h->self), FS_GET(&h->processes[1 - FS_GET(&h->self)].incarnation));
    ck_assert_int_eq(ftruncate(h->fd, page), 0);
    fs_shared_section_repair(&in, &dead);
    ck_assert_int_eq(fs_shared_section_end(&in), ENOTRECOVERABLE);
    ck_assert_int_eq(ftruncate(h->fd, h->size), 0);
    ck_assert_int_eq(fairsem_shared_available(h), 2);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* A process that inherits or receives the descriptor cannot truncate the file that other processes use. */
START_TEST(a_segment_without_a_name_keeps_its_size)
{
    fairsem_shared_t *h = make_segment(1, 0);

    ck_assert(ftruncate(h->fd, 0) == -1 && errno == EPERM);
    ck_assert(ftruncate(h->fd, 2 * h->size) == -1 && errno == EPERM);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

/* Right after a check, a request is refused without the lock.  On a damaged segment, the damage is reported. */
START_TEST(damage_comes_before_a_refusal)
{
    fairsem_shared_t *h = make_segment(1, 0);

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    FS_PUT(&h->segment->check_took_ns, INT64_MAX);
    FS_PUT(&h->segment->checked_ns, fs_now_ns());
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), EAGAIN);
    FS_PUT(&h->segment->damaged, 1);
    FS_PUT(&h->segment->checked_ns, fs_now_ns());
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

struct waits {
    fairsem_shared_t *h;
    int result;
};

static void *wait_for_one(void *arg)
{
    struct waits *waits = arg;

    waits->result = fairsem_shared_acquire(waits->h, 1);
    return NULL;
}

/* A thread finds damage. */
static void check_that_waits_end(unsigned flags)
{
    fairsem_shared_t *h = make_segment(1, flags);
    struct fs_shared_section in;
    struct waits waits[3];
    pthread_t threads[3];

    ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
    for (int i = 0; i < 3; i++) {
        waits[i] = (struct waits){ .h = h, .result = -1 };
        start_thread(&threads[i], wait_for_one, &waits[i]);
        await_queue(h, i + 1);
    }
    if (flags == 0)
        FS_PUT(&h->segment->outstanding, FS_GET(&h->segment->outstanding) + 1);
    else
        FS_PUT(&h->segment->word, fs_word_of(-1, FS_CONTENDED));
    ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), ENOTRECOVERABLE);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(waits[i].result, ENOTRECOVERABLE);
    }
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}

START_TEST(damage_ends_all_waits)
{
    check_that_waits_end(0);
    check_that_waits_end(FAIRSEM_SHARED_NO_UNDO);
}
END_TEST

START_TEST(damage_leaves_a_cleanup_pending)
{
    fairsem_shared_t *h = make_segment(1, 0);
    struct fs_slot *slot = &h->slots[1];

    FS_PUT(&slot->process, FS_GET(&h->self));
    FS_PUT(&slot->prev, INT32_MAX);
    FS_PUT(&slot->state, FS_SLOT_TO_UNLINK);
    FS_PUT(&h->segment->cleanup_pending, 1);
    ck_assert_int_eq(fairsem_shared_tryacquire(h, 1), ENOTRECOVERABLE);
    ck_assert_int_eq(FS_GET(&h->segment->cleanup_pending), 1);
    ck_assert_int_eq(fairsem_shared_close(h), 0);
}
END_TEST

struct cancelable_wait {
    struct waits waits;
    fairsem_token_t token;
};

static void *wait_with_token(void *arg)
{
    struct cancelable_wait *w = arg;
    const fairsem_wait_t how = { .token = &w->token };

    w->waits.result = fairsem_shared_acquire_with(w->waits.h, 1, &how);
    return NULL;
}

/* A slot may change under its waiter by damage, or because its process was reaped. */
START_TEST(a_canceled_waiter_without_the_lock_abandons_only_its_own_slot)
{
    static const int states[] = { FS_SLOT_FREE, FS_SLOT_TO_UNLINK, FS_SLOT_TO_RETURN, FS_SLOT_TO_FREE,
                                  FS_SLOT_STATES, INT32_MAX, INT32_MIN };

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        fairsem_shared_t *h = make_segment(1, 0);
        struct cancelable_wait w = { { h, -1 }, FAIRSEM_TOKEN_INITIALIZER };
        struct fs_shared_section in;
        pthread_t thread;

        ck_assert_int_eq(fairsem_shared_acquire(h, 1), 0);
        start_thread(&thread, wait_with_token, &w);
        await_queue(h, 1);
        ck_assert_int_eq(fs_shared_enter(&in, h, FS_LOCK_WAIT, NULL), 0);
        FS_PUT(&h->slots[0].state, states[i]);
        ck_assert_int_eq(fairsem_token_cancel(&w.token, ECANCELED), 0);
        pthread_join(thread, NULL);
        ck_assert_int_eq(w.waits.result, EBADF);
        ck_assert_int_eq(FS_GET(&h->slots[0].state), states[i]);
        FS_PUT(&h->slots[0].state, FS_SLOT_FREE);
        fs_shared_section_unlock(&in);
        ck_assert_int_eq(fairsem_token_destroy(&w.token), 0);
        ck_assert_int_eq(fairsem_shared_close(h), 0);
    }
}
END_TEST

int main(void)
{
    RUN_SUITE("shared damage", damage_is_a_result_and_never_a_crash,
              damage_without_undo_is_a_result_and_never_a_crash,
              one_damaged_member_is_reported_by_each_call_that_inspects,
              one_changed_count_is_found_by_acquire_and_release,
              a_check_of_processes_uses_no_invalid_index, an_invalid_change_is_not_redone,
              units_that_do_not_exist_are_found_by_a_repair, a_repair_trusts_no_derived_data,
              a_number_that_changes_during_a_section_is_not_used, nothing_is_committed_after_damage,
              a_repair_leaves_a_file_alone_that_is_too_short,
              a_segment_without_a_name_keeps_its_size, damage_comes_before_a_refusal,
              damage_ends_all_waits, damage_leaves_a_cleanup_pending,
              a_canceled_waiter_without_the_lock_abandons_only_its_own_slot);
}

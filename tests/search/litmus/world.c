/* SPDX-License-Identifier: MIT */
/* world.c - what is there at first, and what the threads of several tests do; see world.h. */
#include "world.h"

#include <stdlib.h>

static_assert(sizeof(struct world) <= SHARED - 16, "the last bytes are those of other mutexes");

static void must(int error)
{
    if (error != 0)
        abort();
}

/* With a small capacity, so that no run counts further than an execution can. */
static void units(fairsem_t *sem, int64_t n, int64_t capacity)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN, .capacity = capacity };

    must(fairsem_init(sem, n, &attr));
}

void none(void)         { units(&w->sem, 0, 1); }

void one(void)          { units(&w->sem, 1, 1); }

void none_of_two(void)  { units(&w->sem, 0, 2); }

void two_of_three(void) { units(&w->sem, 2, 3); }

static void wait_begins(void)
{
    w->wait = (struct fs_wait){
        .waiter = { .units = 1 }, .sem = s(), .machine = &fs_waiter_machine,
        .abort = fs_abort_request,
    };
    (void)fs_wait_begin(&w->wait, NULL);
    w->wait.parking = (struct fs_parking){ .on_word = true };
}

static void queue_up(void)
{
    struct fs_deferred deferred;
    int64_t available;

    wait_begins();
    available = fs_enter(s(), &deferred);
    fs_join(s(), &w->wait.waiter, 0, false);
    fs_exit(s(), available, &deferred);
}

void queued(void)
{
    none();
    queue_up();
}

/* And another one behind it. */
void two_queued(void)
{
    struct fs_deferred deferred;
    int64_t available;

    none_of_two();
    queue_up();
    w->behind = w->wait;
    w->behind.waiter.state = FS_NOT_JOINED;
    available = fs_enter(s(), &deferred);
    fs_join(s(), &w->behind.waiter, 0, false);
    fs_exit(s(), available, &deferred);
}

void parked(void)
{
    queued();
    fs_state_go(&fs_waiter_machine, &w->wait.waiter.state, FS_PARKED, memory_order_relaxed);
    w->wait.waiter.joined_ns = 1;
}

/* Its waiter is QUEUED, but nobody finds it in the queue. */
void queued_nowhere(void)
{
    none();
    wait_begins();
    fs_state_go(&fs_waiter_machine, &w->wait.waiter.state, FS_QUEUED, memory_order_relaxed);
}

void with_parker(void)
{
    queued_nowhere();
    units(&w->other, 0, 1);
    w->wait.parking = (struct fs_parking){ .parker = &w->parks.parker };
    fs_state_go(&fs_waiter_machine, &w->wait.waiter.state, FS_PARKED, memory_order_relaxed);
}

void open_queue(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN | FAIRSEM_BOUNDED_BYPASS,
                                  .bypass_ns = 1000, .capacity = 1 };

    must(fairsem_init(&w->sem, 0, &attr));
    s()->word = FS_OPEN + FS_SLOW;
}

void ticket_waits(void)
{
    none();
    must(fairsem_ticket_take(&w->ticket, &w->sem, 1, 0, NULL, NULL) != EINPROGRESS);
}

void ticket_waits_elsewhere(void)
{
    none();
    units(&w->other, 0, 1);
    must(fairsem_ticket_take(&w->ticket, &w->other, 1, 0, NULL, NULL) != EINPROGRESS);
}

/*
 * A free unit, a ticket for two, and behind it a thread that sleeps: when the ticket has left, that
 * is woken to claim, and the queue is open.
 */
void ticket_before_a_sleeper(void)
{
    const fairsem_attr_t attr = { .flags = FAIRSEM_NO_SPIN | FAIRSEM_BOUNDED_BYPASS,
                                  .bypass_ns = 1000, .capacity = 2 };

    must(fairsem_init(&w->sem, 1, &attr));
    must(fairsem_ticket_take(&w->ticket, &w->sem, 2, 0, NULL, NULL) != EINPROGRESS);
    queue_up();
    w->wait.waiter.joined_ns = fs_now_ns();
    fs_state_go(&fs_waiter_machine, &w->wait.waiter.state, FS_PARKED, memory_order_relaxed);
}

void ticket_granted(void)
{
    one();
    units(&w->other, 0, 1);
    must(fairsem_ticket_take(&w->ticket, &w->sem, 1, 0, NULL, NULL));
}

/* The child of a fork, where no thread has used the semaphore yet. */
void copied(void)
{
    none();
    s()->generation = fs_fork_generation() + 1;
}

/* The second thread uses the semaphore after the first has taken its waiter out of the queue. */
void finds_queue_empty(int thread)
{
    if (thread == 1) {
        s()->queue = (struct fs_waitq){ .next_seq = s()->queue.next_seq };
        s()->waiting_low = 0;
        s()->tickets = 0;
    }
}

void say_data(void)
{
    say((char)('0' + read_plain(&w->data)));
}

void say_if(bool got)
{
    if (got)
        say_data();
    else
        say('-');
}

void writes_and_releases(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (!fs_release_fast(s(), 1))
        say('f');
}

void calls_release(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (fairsem_release(&w->sem, 1) != 0)
        say('e');
}

void destroys(void)
{
    if (fairsem_destroy(&w->sem) != 0)
        say('e');
    overwrite(&w->sem, sizeof w->sem);
}

void say_state(int state)
{
    static const char letter[] = {
        [FS_NOT_JOINED] = 'N', [FS_QUEUED] = 'Q', [FS_PARKED] = 'P', [FS_WOKEN] = 'W',
        [FS_GRANTED] = 'G', [FS_EXPIRED] = 'E', [FS_CANCELED] = 'C', [FS_INTERRUPTED] = 'I',
        [FS_ABANDONED] = 'A', [FS_REFUSED] = 'R', [FS_CLOSED] = 'X',
    };

    say(letter[state]);
}

/* Its memory is its own again. */
void sleeps(int thread)
{
    bool woken;

    (void)thread;
    say_state(fs_sleep(&w->wait, &woken));
    overwrite(&w->wait, sizeof w->wait);
    say_data();
}

void closes(int thread)
{
    (void)thread;
    write_plain(&w->data, 1);
    if (fairsem_close(&w->sem, 5) != 0)
        say('e');
}

int claim(void)
{
    fairsem_units_t mine = { 0 };

    return fairsem_ticket_claim(&w->ticket, &mine);
}

void joins_by_ticket(int thread)
{
    (void)thread;
    if (fairsem_ticket_take(&w->ticket, &w->sem, 1, 0, NULL, NULL) != EINPROGRESS)
        say('e');
}

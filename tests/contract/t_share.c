/* SPDX-License-Identifier: MIT */
/*
 * t_share.c - shares: units go round between clients in proportion to their weights.
 *
 * A scenario is a list of words, which are played one after the other on a semaphore without units:
 *
 *     a a*3 b:1   take tickets: two in share a, the second for 3 units, and one in share b with priority 1;
 *                 the shares are a and b of weight 1, c of weight 2, d of weight 4, and `-`, no share
 *     +5          release five units
 *     ~a          return the oldest ticket of share a
 *     $a=7        charge 7 units to share a
 *     #2          set the capacity to 2
 *     !           close
 *
 * The result has a letter for each ticket that left the queue, in order: the letter of the ticket's share, in
 * lower case if the ticket was granted, in upper case if its wait ended without a grant.
 */
#include "askers.h"
#include "children.h"
#include "suite.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 64, SHARES = 5 };

static const char names[] = "abcd-";

static struct world {
    fairsem_t        sem;
    fairsem_share_t  shares[SHARES];
    fairsem_ticket_t tickets[MOST];
    char             name[MOST];
    int              taken;
    char             left[MOST + 1];
    size_t           count;
} world;

static fairsem_share_t *share_named(char name)
{
    return name == '-' ? NULL : &world.shares[strchr(names, name) - names];
}

static void note_left(fairsem_ticket_t *ticket, void *arg)
{
    const char *name = arg;
    bool granted = fairsem_ticket_state(ticket) == FAIRSEM_TICKET_GRANTED;

    world.left[world.count++] = granted ? *name : (char)toupper(*name);
}

static void begin(int64_t capacity)
{
    static const uint32_t weights[] = { 1, 1, 2, 4 };
    const fairsem_attr_t attr = { .capacity = capacity };

    memset(&world, 0, sizeof world);
    ck_assert_int_eq(fairsem_init(&world.sem, 0, &attr), 0);
    for (int i = 0; i < SHARES - 1; i++)
        ck_assert_int_eq(fairsem_share_init(&world.shares[i], weights[i]), 0);
}

static void take(const char *word)
{
    const char *units = strchr(word, '*'), *priority = strchr(word, ':');
    const fairsem_request_t request = {
        &world.sem, units != NULL ? strtoll(units + 1, NULL, 10) : 1, share_named(*word),
    };
    int i = world.taken++;

    world.name[i] = *word;
    ck_assert_int_eq(fairsem_ticket_take_with(&world.tickets[i], &request,
                                              priority != NULL ? atoi(priority + 1) : 0,
                                              note_left, &world.name[i]), EINPROGRESS);
}

static void take_back(char name)
{
    for (int i = 0; i < world.taken; i++) {
        if (world.name[i] == name && fairsem_ticket_state(&world.tickets[i]) == FAIRSEM_TICKET_WAITING) {
            ck_assert_int_eq(fairsem_ticket_return(&world.tickets[i]), 0);
            return;
        }
    }
    ck_abort_msg("no ticket of %c waits", name);
}

static void play_word(const char *word)
{
    const char *value = strchr(word, '=');

    switch (*word) {
    case '+': ck_assert_int_eq(fairsem_release(&world.sem, strtoll(word + 1, NULL, 10)), 0); break;
    case '~': take_back(word[1]); break;
    case '$': ck_assert_int_eq(fairsem_share_charge(share_named(word[1]), strtoll(value + 1, NULL, 10)), 0); break;
    case '#': ck_assert_int_eq(fairsem_set_capacity(&world.sem, strtoll(word + 1, NULL, 10)), 0); break;
    case '!': ck_assert_int_eq(fairsem_close(&world.sem, 0), 0); break;
    default:  take(word);
    }
}

static void play(const char *words)
{
    char copy[512], *rest = NULL;

    ck_assert_uint_lt(strlen(words), sizeof copy);
    for (char *word = strtok_r(strcpy(copy, words), " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        play_word(word);
}

static void end_world(void)
{
    for (int i = 0; i < world.taken; i++)
        ck_assert_int_eq(fairsem_ticket_return(&world.tickets[i]), 0);
    for (int i = 0; i < SHARES - 1; i++)
        ck_assert_int_eq(fairsem_share_destroy(&world.shares[i]), 0);
    ck_assert_int_eq(fairsem_destroy(&world.sem), 0);
}

/* Each row has the name of a scenario, its words and the expected result. */
static const struct { const char *name, *words, *left; } order[] = {
    { "requests of one share are granted in order of arrival, units go round between the shares",
      "a a*2 a b b b +9", "abab" "ba" },
    { "requests without a share are a share, too", "- - - a a a +9", "-a-a-a" },
    { "a share of four times the weight gets four times the units", "a a a d d d d d d d d +11", "addddadddda" },
    { "weights count units, not requests", "a a a a c*4 c*4 +12", "acaac" "a" },
    { "requests that came before the first share count as they came", "- - - a +4", "-a--" },
    { "a newcomer waits for one request of each other share", "a a a b b b +2 c c +7", "ab" "acbc" "ab" },
    { "a share that was idle has no credit", "a b b b b +4 a a a +4", "abbb" "abaa" },
    { "a share that returns may pass one that has had more", "b b b b a +3 a +1", "bab" "a" },
    { "and only as often as it has had less", "a b*3 b*3 +1 a +3 a +1 a +1 a +3", "abaaa" },
    { "a share that was never granted does not pass the front", "b*3 +1 a c d +2 +3", "bdca" },
    { "a request that is canceled costs nothing", "a*9 a b b +1 ~a +3", "a" "b" "b" },
    { "a canceled request in the middle changes nothing", "a a a b b ~a +4", "abab" },
    { "a better priority comes first, whatever was granted", "a a a b b:1 c:1 +3 a:-1 +9", "aba" "a" "acb" },
    { "shares divide each priority", "a:1 a:1 b:1 b:1 c c +6", "ccabab" },
    { "what a share had at a better priority does not hold it up at a worse one",
      "b:1 b:1 a a a a a a +6 a:1 a:1 +4", "aaaaaa" "bab" "a" },
    { "urgent requests do not let a backlog pass", "a a a a a b a:-1 +1 +1 a:-1 +1 +1", "abaa" },
    { "a charge counts as if the units had been asked for", "a a a b b b b b $a=2 +8", "abbb" "abab" },
    { "a negative charge gives units back", "a*4 a*4 b b b b $a=-3 +12", "aba" "bbb" },
    { "but no credit", "a a a a b b b $a=-9 +7", "aababab" },
    { "a charge without a later request is forgotten with the queue", "a +1 $a=100 a b +2", "aab" },
    { "a close ends all, also where a share moves back when its first request ends",
      "a:-1 a:2 b:1 c:1 a:2 !", "AAABC" },
};

START_TEST(requests_are_granted_in_this_order)
{
    begin(0);
    play(order[_i].words);
    ck_assert_msg(strcmp(world.left, order[_i].left) == 0, "%s: %s, not %s", order[_i].name, world.left,
                  order[_i].left);
    end_world();
}
END_TEST

/* A smaller capacity ends large requests.  When its first request ends, a share moves to the place in the queue
 * that its next request has. */
START_TEST(a_smaller_capacity_ends_the_large_requests_of_all_shares)
{
    begin(9);
    play("a*9:-1 a:3 b*9:1 b:1 c*9 c #5 +9");
    ck_assert_str_eq(world.left, "ACBcba");
    end_world();
}
END_TEST

/* One request of share a and two of share b always wait: a new request replaces each granted request. */
START_TEST(a_client_with_one_request_at_a_time_gets_half)
{
    begin(0);
    play("b b a");
    for (int i = 0; i < 20; i++) {
        play("+1");
        play(world.left[world.count - 1] == 'a' ? "a" : "b");
    }
    ck_assert_str_eq(world.left, "babababababababababa");
    end_world();
}
END_TEST

START_TEST(a_share_is_destroyed_when_no_request_of_it_waits)
{
    begin(0);
    ck_assert_int_eq(fairsem_share_init(&world.shares[0], 0), EINVAL);
    ck_assert_int_eq(fairsem_share_init(&world.shares[0], FAIRSEM_MAX_WEIGHT + 1), EINVAL);
    ck_assert_int_eq(fairsem_share_init(&world.shares[0], FAIRSEM_MAX_WEIGHT), 0);
    play("a a b");
    ck_assert_int_eq(fairsem_share_destroy(&world.shares[0]), EBUSY);
    play("+2");
    ck_assert_int_eq(fairsem_share_destroy(&world.shares[0]), EBUSY);
    play("~a");
    ck_assert_int_eq(fairsem_share_destroy(&world.shares[0]), 0);
    ck_assert_int_eq(fairsem_share_charge(&world.shares[0], 1), EINVAL);
    ck_assert_int_eq(fairsem_share_init(&world.shares[0], 1), 0);
    end_world();
}
END_TEST

/* Request a unit in all ways, with the same share.  Returns the result of fairsem_acquire_with(). */
static int asks(fairsem_t *sem, fairsem_share_t *share)
{
    const fairsem_wait_t how = { .share = share, .timeout_ns = -1 };
    const fairsem_request_t request = { sem, 1, share };
    const fairsem_wait_t try = { .timeout_ns = -1 };
    fairsem_ticket_t ticket = { { 0 } };
    fairsem_units_t units = { 0 };
    int result = fairsem_acquire_with(sem, 1, &how);

    ck_assert_int_eq(fairsem_units_acquire(&units, sem, 1, &how), result);
    ck_assert_int_eq(fairsem_acquire_all(&request, 1, &try), result);
    ck_assert_int_eq(fairsem_ticket_take_with(&ticket, &request, 0, NULL, NULL),
                     result == ETIMEDOUT ? EINPROGRESS : result);
    ck_assert_int_eq(fairsem_ticket_return(&ticket), 0);
    if (result == EINVAL)
        ck_assert_int_eq(fairsem_drain(sem, 1, &how), EINVAL);
    ck_assert_int_eq(fairsem_closed(sem), 0);
    return result;
}

START_TEST(a_share_that_cannot_be_used_is_an_error_and_changes_nothing)
{
    const fairsem_attr_t others[] = {
        { .aging_ns = 1 }, { .flags = FAIRSEM_BOUNDED_BYPASS, .bypass_ns = 1 },
    };
    fairsem_share_t zero = { 0 };
    fairsem_t other = FAIRSEM_INITIALIZER(0), free_now = FAIRSEM_INITIALIZER(4);

    begin(0);
    play("a");
    ck_assert_int_eq(asks(&world.sem, &world.shares[0]), ETIMEDOUT);
    ck_assert_int_eq(asks(&other, &world.shares[0]), EINVAL);
    ck_assert_int_eq(asks(&free_now, &world.shares[0]), EINVAL);
    ck_assert_int_eq(asks(&other, &world.shares[1]), ETIMEDOUT);
    ck_assert_int_eq(asks(&world.sem, &zero), EINVAL);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        fairsem_t sem;

        ck_assert_int_eq(fairsem_init(&sem, 0, &others[i]), 0);
        ck_assert_int_eq(asks(&sem, &world.shares[1]), EINVAL);
        ck_assert_int_eq(fairsem_destroy(&sem), 0);
    }
    play("+1");
    ck_assert_str_eq(world.left, "a");
    ck_assert_int_eq(asks(&other, &world.shares[0]), ETIMEDOUT);    /* the share has no request any longer */
    ck_assert_int_eq(fairsem_available(&free_now), 4);
    ck_assert_int_eq(fairsem_waiters(&other), 0);
    end_world();
}
END_TEST

START_TEST(acquire_all_takes_one_share_for_each_semaphore)
{
    fairsem_t sems[] = { FAIRSEM_INITIALIZER(4), FAIRSEM_INITIALIZER(4) };
    fairsem_share_t shares[] = { FAIRSEM_SHARE_INITIALIZER(1), FAIRSEM_SHARE_INITIALIZER(65535) };
    const fairsem_request_t good[] = {
        { &sems[0], 1, NULL }, { &sems[1], 1, &shares[1] }, { &sems[0], 1, &shares[0] },
    };
    const fairsem_request_t two[] = { { &sems[0], 1, &shares[0] }, { &sems[0], 1, &shares[1] } };
    const fairsem_wait_t how = { .share = &shares[0] };

    ck_assert_int_eq(fairsem_acquire_all(good, 3, NULL), 0);
    ck_assert_int_eq(fairsem_acquire_all(two, 2, NULL), EINVAL);
    ck_assert_int_eq(fairsem_acquire_all(good, 1, &how), EINVAL);
    ck_assert_int_eq(fairsem_available(&sems[0]), 2);
    ck_assert_int_eq(fairsem_release_all(good, 3), 0);
}
END_TEST

START_TEST(the_statistics_count_the_shares_in_the_queue)
{
    fairsem_stat_t stat;

    begin(0);
    play("- a a:1 b - c:1 c:2");
    ck_assert_int_eq(fairsem_stat(&world.sem, &stat), 0);
    ck_assert_int_eq(stat.shares, 3);
    ck_assert_int_eq(stat.waiters, 7);
    play("~a ~a +1");
    ck_assert_int_eq(fairsem_stat(&world.sem, &stat), 0);
    ck_assert_int_eq(stat.shares, 2);
    end_world();
}
END_TEST

/* Threads with a share time out, are canceled, and are granted as tickets are. */
START_TEST(threads_wait_in_their_shares)
{
    struct asker asker[4] = { { .how = { .share = &world.shares[0] } }, { .how = { .share = &world.shares[0] } },
                              { .how = { .share = &world.shares[1] } }, { .how = { .share = &world.shares[1] } } };
    const fairsem_wait_t soon = { .share = &world.shares[2], .timeout_ns = 1000000 };

    begin(0);
    for (int i = 0; i < 4; i++)
        asker_queue(&asker[i], &world.sem, 1, i + 1);
    ck_assert_int_eq(fairsem_acquire_with(&world.sem, 1, &soon), ETIMEDOUT);
    ck_assert_int_eq(fairsem_share_destroy(&world.shares[2]), 0);
    ck_assert_int_eq(fairsem_share_init(&world.shares[2], 1), 0);
    pthread_cancel(asker[0].w.thread);
    ck_assert_int_eq(worker_join(&asker[0].w), STILL_WAITING);
    for (int i = 0; i < 3; i++) {
        static const int next[] = { 1, 2, 3 };

        ck_assert_int_eq(fairsem_release(&world.sem, 1), 0);
        ck_assert_int_eq(worker_join(&asker[next[i]].w), 0);
        ck_assert_int_eq(fairsem_waiters(&world.sem), 2 - i);
    }
    end_world();
}
END_TEST

/* The child has neither the parent's requests nor the tags of the shares (share.h). */
START_TEST(a_forked_child_has_empty_shares)
{
    pid_t child;

    begin(0);
    play("a a b b b +3");
    child = fork();
    if (child == 0) {
        world.taken = 0;
        world.count = 0;
        memset(world.left, 0, sizeof world.left);
        if (fairsem_share_destroy(&world.shares[0]) != 0 || fairsem_share_init(&world.shares[0], 1) != 0)
            _exit(1);
        memset(world.tickets, 0, sizeof world.tickets);
        play("a a b b +4");
        _exit(strcmp(world.left, "abab") == 0 && fairsem_share_destroy(&world.shares[1]) == 0 ? 0 : 2);
    }
    ck_assert_int_eq(status_of(child), 0);
    play("+2");
    ck_assert_str_eq(world.left, "abab" "b");
    end_world();
}
END_TEST

/* Requests for the largest number of units, again and again: the tags wrap around, and no request starves. */
START_TEST(requests_are_granted_in_order_after_the_tags_wrap_around)
{
    begin(0);
    for (int i = 0; i < 3000; i++) {
        world.taken = 0;
        world.count = 0;
        memset(world.left, 0, sizeof world.left);
        play("a*1152921504606846976 b*1152921504606846976 +1152921504606846976 +1152921504606846976");
        play("a*1152921504606846976 +1152921504606846976");
        ck_assert_str_eq(world.left, "aba");
        for (int t = 0; t < world.taken; t++)
            ck_assert_int_eq(fairsem_ticket_return(&world.tickets[t]), 0);
        ck_assert_int_eq(fairsem_consume(&world.sem, fairsem_available(&world.sem)), 0);
    }
    end_world();
}
END_TEST

/* Each charge returns 2^60 units to share a.  Without a limit, the tags of a and b would be too far apart to
 * compare. */
START_TEST(negative_charges_do_not_add_up)
{
    begin(0);
    play("a b");
    for (int i = 0; i < 20; i++) {
        world.count = 0;
        play("a $a=-1152921504606846976 +1");
        ck_assert_int_eq(fairsem_waiters(&world.sem), 2);
    }
    play("+2");
    end_world();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("share");

    tcase_add_loop_test(tcase, requests_are_granted_in_this_order, 0, sizeof order / sizeof order[0]);
    tcase_add_test(tcase, a_smaller_capacity_ends_the_large_requests_of_all_shares);
    tcase_add_test(tcase, a_client_with_one_request_at_a_time_gets_half);
    tcase_add_test(tcase, a_share_is_destroyed_when_no_request_of_it_waits);
    tcase_add_test(tcase, a_share_that_cannot_be_used_is_an_error_and_changes_nothing);
    tcase_add_test(tcase, acquire_all_takes_one_share_for_each_semaphore);
    tcase_add_test(tcase, the_statistics_count_the_shares_in_the_queue);
    tcase_add_test(tcase, threads_wait_in_their_shares);
    tcase_add_test(tcase, a_forked_child_has_empty_shares);
    tcase_add_test(tcase, requests_are_granted_in_order_after_the_tags_wrap_around);
    tcase_add_test(tcase, negative_charges_do_not_add_up);
    return run_case("share", tcase);
}

/* SPDX-License-Identifier: MIT */
/*
 * script.c - scenarios in words, and the threads that act them.
 *
 * Threads are separated by `|`, their operations by `;`.  A thread that begins with
 *
 *     !      may be hit by pthread_cancel at any moment, in one of its waits
 *
 * and the operations are
 *
 *     acquire n, timed n, for n, try n, upto n, release n, close, capacity n, consume n, destroy
 *     give               release all that this thread holds; nothing if that is nothing
 *     take n, claim, return, watch    with the ticket of this thread
 *     cancel             the token
 *     kill tN            pthread_cancel thread N
 *     after tN k         nothing, when thread N has done k operations; without k: has ended
 *
 * with, where it makes sense: pN (priority), tN (thread N, or its ticket), sN (semaphore N),
 * `token` (the wait carries it), `timed` (watch), `calls` (take, with a callback), `if` (only if
 * the thread holds units).
 *
 * A thread that is canceled gives back what it holds, and ends.
 */
#include "explore.h"

#include "park.h"

#include <string.h>

struct op script[THREADS_MAX][OPS_MAX];
int threads_count, ops_count[THREADS_MAX], sems_count;
bool script_cancelable[THREADS_MAX];
static bool quiet_parkers, used[VERBS];

/* Two places behind a thread's operations: for a signal handler, and for the end if canceled. */
enum { IN_HANDLER = OPS_MAX - 2, WHEN_CANCELED = OPS_MAX - 1 };

#define ERRNO_BEFORE 777        /* no function may change it */

const char *const verb_name[VERBS] = {
    "acquire", "timed", "for", "try", "upto", "release", "give", "close", "capacity", "consume",
    "destroy", "cancel", "take", "claim", "return", "watch", "kill",
    "after",
};

/* ---- Reading ---- */

static bool read_verb(const char *word, struct op *op)
{
    for (int verb = 0; verb < VERBS; verb++) {
        if (strcmp(word, verb_name[verb]) == 0) {
            op->verb = (enum verb)verb;
            return true;
        }
    }
    return false;
}

static bool read_argument(const char *word, struct op *op)
{
    if (strcmp(word, "token") == 0)
        op->token = true;
    else if (strcmp(word, "timed") == 0)
        op->timed = true;
    else if (strcmp(word, "if") == 0)
        op->if_held = true;
    else if (strcmp(word, "calls") == 0)
        op->calls = true;
    else if (word[0] == 'p')
        op->priority = atoi(word + 1);
    else if (word[0] == 't')
        op->ticket = atoi(word + 1);
    else if (word[0] == 's')
        op->sem = atoi(word + 1);
    else if (word[0] >= '0' && word[0] <= '9')
        op->n = atoi(word);
    else
        return false;
    return true;
}

static bool read_op(char *text, int id, struct op *op)
{
    char *rest, *word = strtok_r(text, " ", &rest);

    *op = (struct op){ .ticket = id };
    if (word == NULL || !read_verb(word, op))
        return false;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (!read_argument(word, op))
            return false;
    }
    used[op->verb] = true;
    if (op->sem >= sems_count)
        sems_count = op->sem + 1;
    return op->sem < SEMS_MAX && op->ticket < THREADS_MAX;
}

static bool read_thread(char *text, int id)
{
    char *rest, *one;

    text += strspn(text, " ");
    script_cancelable[id] = *text == '!';
    text += *text == '!';
    for (one = strtok_r(text, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        if (ops_count[id] == IN_HANDLER || !read_op(one, id, &script[id][ops_count[id]]))
            return false;
        ops_count[id]++;
    }
    script[id][WHEN_CANCELED] = (struct op){ .verb = GIVE };
    return true;
}

static bool read_threads(char *text)
{
    char *rest, *one;

    for (one = strtok_r(text, "|", &rest); one != NULL; one = strtok_r(NULL, "|", &rest)) {
        if (threads_count == THREADS_MAX || !read_thread(one, threads_count))
            return false;
        threads_count++;
    }
    return true;
}

bool script_read(const struct scenario *what)
{
    char text[400];

    memset(script, 0, sizeof script);
    memset(ops_count, 0, sizeof ops_count);
    memset(used, 0, sizeof used);
    threads_count = 0;
    sems_count = 1;
    snprintf(text, sizeof text, "%s", what->threads);
    if (!read_threads(text))
        return false;
    quiet_parkers = !what->cold && !used[AFTER];
    for (int i = 0; what->handler != NULL && i < threads_count; i++) {
        snprintf(text, sizeof text, "%s", what->handler);
        if (!read_op(text, i, &script[i][IN_HANDLER]))
            return false;
    }
    return true;
}

bool script_uses(enum verb verb)
{
    return used[verb];
}

const char *op_words(const struct op *op, char *text, size_t size)
{
    int length = snprintf(text, size, "%s %lld", verb_name[op->verb], (long long)op->n);

    if (op->priority != 0)
        length += snprintf(text + length, size - (size_t)length, " p%d", op->priority);
    if (op->verb >= TAKE)
        length += snprintf(text + length, size - (size_t)length, " t%d", op->ticket);
    if (op->sem != 0)
        length += snprintf(text + length, size - (size_t)length, " s%d", op->sem);
    snprintf(text + length, size - (size_t)length, "%s", op->token ? " token" : "");
    return text;
}

/* ---- Acting ---- */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000 };
}

static int64_t acquire(const struct op *op, bool timed)
{
    struct timespec at = timespec_of(self->op_deadline);
    const fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC, .deadline = timed ? &at : NULL, .priority = op->priority,
        .token = op->token ? &the_token : NULL,
    };

    if (!op->token && op->priority == 0)
        return timed ? fairsem_acquire_until(&sems[op->sem], op->n, CLOCK_MONOTONIC, &at)
                     : fairsem_acquire(&sems[op->sem], op->n);
    return fairsem_acquire_with(&sems[op->sem], op->n, &how);
}

static void note_callback(fairsem_ticket_t *of, void *arg)
{
    int t = (int)(of - tickets);

    (void)arg;
    step("is told by a callback of", of, NULL);
    if (run.told[t])
        fail("callback", "it is called twice, or after its ticket was returned");
    run.told[t] = true;
}

static int64_t take(const struct op *op)
{
    int t = op->ticket;
    int64_t result;

    run.ticket_units[t] = op->n;
    run.ticket_sem[t] = op->sem;
    run.told[t] = false;
    result = fairsem_ticket_take(&tickets[t], &sems[op->sem], op->n, op->priority,
                                 op->calls ? note_callback : NULL, NULL);
    return result;
}

static int64_t claim(const struct op *op, struct call *call)
{
    fairsem_units_t units = { 0 };
    int64_t result = fairsem_ticket_claim(&tickets[op->ticket], &units);

    call->n = units.n;
    return result;
}

static int64_t watch(const struct op *op)
{
    struct timespec at = timespec_of(self->op_deadline);
    const fairsem_wait_t how = {
        .clock = CLOCK_MONOTONIC, .deadline = op->timed ? &at : NULL,
        .token = op->token ? &the_token : NULL,
    };

    return fairsem_ticket_wait(&tickets[op->ticket], &how);
}

static int64_t kill_thread(const struct op *op)
{
    thread[op->ticket].cancel_pending = true;
    thread_change();
    return 0;
}

/* From here no callback may run: withdraw has seen to that. */
static int64_t return_ticket(const struct op *op)
{
    int64_t result = fairsem_ticket_return(&tickets[op->ticket]);

    run.told[op->ticket] = true;
    return result;
}

static int64_t destroy(const struct op *op)
{
    int64_t result = fairsem_destroy(&sems[op->sem]);

    if (result == 0)
        run.sem_dead[op->sem] = true;
    return result;
}

/* For `after`: how far is the other thread? */
bool script_turn(const struct thread *t)
{
    const struct op *op = &script[id_of(t)][t->op];
    uint32_t others = run.returned >> (op->ticket * OPS_MAX);

    return op->n == 0 ? thread[op->ticket].at == ENDED : (others >> (op->n - 1) & 1) != 0;
}

static int64_t wait_for_turn(void)
{
    stop(WAITS_ITS_TURN, "waits for its turn", NULL, NULL);
    return 0;
}

static int64_t act(const struct op *op, struct call *call)
{
    fairsem_t *s = &sems[op->sem];

    switch (op->verb) {
    case ACQUIRE:  return acquire(op, false);
    case TIMED:    return acquire(op, true);
    case FOR:      return fairsem_acquire_for(s, op->n, OP_TIME_NS);
    case TRY:      return fairsem_tryacquire(s, op->n);
    case UPTO:     return fairsem_tryacquire_upto(s, op->n);
    case RELEASE:  return fairsem_release(s, op->n);
    case GIVE:     return call->n > 0 ? fairsem_release(s, call->n) : 0;
    case CLOSE:    return fairsem_close(s, 0);
    case CAPACITY: return fairsem_set_capacity(s, op->n);
    case CONSUME:  return fairsem_consume(s, op->n);
    case DESTROY:  return destroy(op);
    case CANCEL:   return fairsem_token_cancel(&the_token, 0);
    case TAKE:     return take(op);
    case CLAIM:    return claim(op, call);
    case RETURN:   return return_ticket(op);
    case WATCH:    return watch(op);
    case KILL:     return kill_thread(op);
    case AFTER:    return wait_for_turn();
    default:       return 0;
    }
}

static struct call *call_of(const struct thread *t)
{
    return &run.call[id_of(t) * OPS_MAX + t->op];
}

static void begin(const struct op *op)
{
    struct thread *t = self;
    struct call *call = call_of(t);
    char words[60];

    call->phase = CALLED;
    call->after = run.returned;
    call->n = op->verb == GIVE ? run.held[id_of(t)][op->sem] : op->n;
    t->op_deadline = 0;
    if (op->verb == TIMED || op->verb == FOR || op->timed)
        t->op_deadline = run.now + OP_TIME_NS;
    run.capacity_changes += op->verb == CAPACITY;
    oracle_op_begins();
    errno = ERRNO_BEFORE;
    trace_words("T%d > %s\n", id_of(t), op_words(op, words, sizeof words));
}

static void finish(const struct op *op, int64_t result)
{
    int id = id_of(self);
    struct call *call = call_of(self);
    char words[60];

    if (errno != ERRNO_BEFORE && result != RESULT_CANCELED)
        fail("errno", "%s changes it", verb_name[op->verb]);
    call->phase = RETURNED;
    call->result = result;
    run.returned |= 1u << (id * OPS_MAX + self->op);
    if (op->verb <= TRY && result == 0)
        run.held[id][op->sem] += op->n;
    else if (op->verb == UPTO)
        run.held[id][op->sem] += result;
    else if (op->verb == GIVE && result == 0)
        run.held[id][op->sem] -= call->n;
    else if (op->verb == CLAIM && result == 0)
        run.held[id][run.ticket_sem[op->ticket]] += call->n;
    self->op_deadline = 0;
    oracle_op_ends();
    trace_words("T%d < %s = %lld\n", id, op_words(op, words, sizeof words), (long long)result);
}

static void perform(int k)
{
    const struct op *op = &script[id_of(self)][k];

    self->op = k;
    if (op->if_held && run.held[id_of(self)][op->sem] == 0)
        return;
    begin(op);
    finish(op, act(op, call_of(self)));
}

/* A signal handler, on top of what its thread was doing. */
void run_handler(void)
{
    int interrupted = self->op;
    int64_t deadline = self->op_deadline;

    if (scenario->handler == NULL)
        return;
    perform(IN_HANDLER);
    self->op = interrupted;
    self->op_deadline = deadline;
}

_Noreturn void thread_ends(void)
{
    struct thread *t = self;

    if (t->cancel_disabled) {
        finish(&script[id_of(t)][t->op], RESULT_CANCELED);
        if (run.held[id_of(t)][0] > 0)
            perform(WHEN_CANCELED);
    }
    threads_quiet = quiet_parkers;
    thread_destroys_keys();
    threads_quiet = false;
    thread_change();
    stop(ENDED, "has ended", NULL, NULL);
    __builtin_unreachable();
}

static void live(void)
{
    for (int k = 0; k < ops_count[id_of(self)]; k++) {
        if (k > 0)
            step("goes on", NULL, NULL);
        perform(k);
    }
    thread_ends();
}

static void make_things(void)
{
    const fairsem_attr_t attr = { .capacity = scenario->capacity, .flags = scenario->flags };

    for (int i = 0; i < sems_count; i++) {
        memset(&sems[i], 0, sizeof sems[i]);
        if (fairsem_init(&sems[i], scenario->units, &attr) != 0)
            fail("explorer", "fairsem_init");
    }
    memset(&the_token, 0, sizeof the_token);
    fairsem_token_init(&the_token);
    memset(tickets, 0, sizeof tickets);
}

/* As after an earlier wait. */
static void have_parker(void)
{
    threads_quiet = true;
    fs_parker_self();
    threads_quiet = false;
}

void script_start(void)
{
    make_things();
    for (int i = 0; i < threads_count; i++) {
        struct thread *t = &thread[i];

        t->doing = "starts";
        t->at = READY;
        t->cancelable = script_cancelable[i];
        self = t;
        if (quiet_parkers)
            have_parker();
        self = NULL;
        fibre_prepare(&t->fibre, stack_top(i), live);
    }
}

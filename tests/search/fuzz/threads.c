/* SPDX-License-Identifier: MIT */
/* threads.c - see threads.h. */
#include "threads.h"

#include "bytes.h"
#include "machine.h"
#include "steps.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#if MACHINE_CAN_UNWIND
#include <unwind.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif

enum { NEVER_S = 1000000000 };

struct thread {
    struct thread_call now;
    const void *asleep_on;              /* NULL if awake */
    bool        woken;                  /* the thread was woken after it fell asleep */
    int         aborts_for;             /* the reason to abort the thread's wait at its next lock, or 0 */
    void       *specific;
    jmp_buf     bottom;                 /* of the thread's stack */
    const void *bottom_frame;
    bool        was_canceled;
};

static struct thread threads[STACKED];
static int running;
static bool napping;         /* a sleep runs no steps: see use_up_wakeup() */
enum wakeup thread_wish;

int thread_running(void)
{
    return running;
}

struct thread_call *thread_call(void)
{
    return &threads[running].now;
}

bool thread_may_sleep(void)
{
    return running < STACKED - 1 && !calls_deep();
}

int thread_calls_back(void)
{
    int call = threads[running].now.calls_back;

    return call != 0 ? call : model_call;
}

void **thread_specific(void)
{
    return &threads[running].specific;
}

/* ---- The bottom of a thread's stack ---- */

#if MACHINE_CAN_UNWIND
/*
 * Unwind the stack as pthread_cancel does, but only to the bottom of this simulated thread: the frame of
 * thread_run().
 */
static _Unwind_Reason_Code at_frame(int version, _Unwind_Action actions,
                                    _Unwind_Exception_Class class, struct _Unwind_Exception *e,
                                    struct _Unwind_Context *context, void *arg)
{
    struct thread *self = arg;

    (void)version;
    (void)actions;
    (void)class;
    (void)e;
    if (_Unwind_GetCFA(context) > (_Unwind_Word)self->bottom_frame)
        longjmp(self->bottom, 1);
    return _URC_NO_REASON;
}

#if defined(ADDRESS_SANITIZER)
void __asan_handle_no_return(void);
#endif

void thread_is_canceled(void)
{
    static struct _Unwind_Exception exception;

    memset(&exception, 0, sizeof exception);
#if defined(ADDRESS_SANITIZER)
    __asan_handle_no_return();
#endif
    _Unwind_ForcedUnwind(&exception, at_frame, &threads[running]);
    finding("the stack of a canceled thread cannot be unwound");
}
#else
void thread_is_canceled(void)
{
    finding("no thread can be canceled here");
}
#endif

/* State that a call changes, and restores when it returns; a canceled call does not return. */
struct before {
    struct thread_call now;
    struct model_wait *waits;
    int                model_call;
    struct busy        busy;
};

static void remember(struct before *before)
{
    before->now = threads[running].now;
    before->waits = model_waits;
    before->model_call = model_call;
    before->busy = world.busy;
}

static void restore(const struct before *before)
{
    struct thread *self = &threads[running];
    int type;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);  /* for the next thread */
    for (; model_call > before->model_call; model_call--) {
        if (model_next_due(world.model_ticket, TICKETS) != NULL)
            finding("a canceled thread has not run a callback");
    }
    if (machine_locks != 0)
        finding("a canceled thread leaves %d mutexes locked", machine_locks);
    self->now = before->now;
    self->was_canceled = true;
    model_waits = before->waits;
    world.busy = before->busy;
    world_compare();
}

void thread_run(void (*step)(void))
{
    struct thread *self = &threads[running];
    struct before before;

    remember(&before);
    self->bottom_frame = __builtin_frame_address(0);
    if (setjmp(self->bottom) == 0)
        step();
    else
        restore(&before);
}

/* ---- Sleep ---- */

void thread_is_woken(const void *on)
{
    for (int i = 0; i < STACKED; i++) {
        if (threads[i].asleep_on == on)
            threads[i].woken = true;
    }
}

static bool time_may_come(const fairsem_wait_t *how)
{
    return how->deadline != NULL && how->deadline->tv_sec < NEVER_S;
}

static void let_time_pass(const fairsem_wait_t *how)
{
    int64_t to = (int64_t)how->deadline->tv_sec * 1000000000 + how->deadline->tv_nsec
                 - (how->clock == CLOCK_REALTIME ? model_ahead_ns : 0);

    if (to > model_now_ns)
        model_now_ns = to;
}

/* At the end of the input, the semaphore of a sleeper is closed so that the thread does not sleep for ever. */
static const struct model_sem *to_be_closed;

static void close_it(void)
{
    step_close((int)(to_be_closed - world.model_sem));
}

/* Run other threads until the sleeper goes on.  Returns why it goes on. */
static enum wakeup others_run(struct thread *sleeper)
{
    struct model_wait *wait = sleeper->now.wait;
    bool at_once = byte() % 2 == 0;

    for (;;) {
        enum wakeup wish = thread_wish;

        thread_wish = NOT_YET;
        if (wait->over && !sleeper->woken)
            finding("thread %d is not woken", running - 1);
        if (wait->over && (at_once || bytes_end() || wish == WOKEN))
            return WOKEN;
        if (wish == INTERRUPTED || wish == SPURIOUS || (wish == CANCELED && machine_can_cancel()))
            return wish;
        if ((wish == EXPIRED || bytes_end()) && time_may_come(sleeper->now.how)) {
            let_time_pass(sleeper->now.how);
            return EXPIRED;
        }
        if (bytes_end()) {
            to_be_closed = wait->request->sem;
            thread_run(close_it);
        } else {
            thread_run(step_any);
        }
    }
}

static void check_waits(const struct thread *self)
{
    if (self->now.wait == NULL || self->now.wait->over)
        finding("thread %d waits, and has no reason to", running);
    if (machine_locks != 0)
        finding("thread %d waits with a mutex locked", running);
}

static void check_sleep(const struct thread *self, clockid_t clock,
                        const struct timespec *deadline)
{
    const fairsem_wait_t *how = self->now.how;

    check_waits(self);
    if ((deadline != NULL) != (how->deadline != NULL))
        finding("thread %d sleeps %s deadline", running, deadline != NULL ? "with a" : "without");
    if (deadline != NULL
        && (clock != how->clock || deadline->tv_sec != how->deadline->tv_sec
            || deadline->tv_nsec != how->deadline->tv_nsec))
        finding("thread %d sleeps until another time, or by another clock", running);
}

/* Let the thread go on, for the reason `why`.  It reads the clock next, and so notices a passed deadline, too. */
static void goes_on(struct thread *self, enum wakeup why, bool interruptible)
{
    static const char *const words[] = {
        [NOT_YET] = "has spun", [WOKEN] = "is woken", [EXPIRED] = "wakes up, its time has passed",
        [SPURIOUS] = "wakes up for no reason", [INTERRUPTED] = "is interrupted by a signal",
        [CANCELED] = "is canceled",
    };
    struct model_wait *wait = self->now.wait;

    SAY(words[why], 0);
    if (why == CANCELED)
        model_abort(wait, MODEL_ABANDONED);
    else if (wait->over)
        return;
    else if (self->now.how->deadline != NULL
             && model_passed(self->now.how->clock, self->now.how->deadline))
        self->aborts_for = ETIMEDOUT;
    else if (why == INTERRUPTED && interruptible && wait->request->sem->interruptible)
        self->aborts_for = EINTR;
}

/* A thread that aborts its wait locks its semaphore's mutex next, so the model aborts the wait here. */
void thread_locks(void)
{
    struct thread *self = &threads[running];
    int reason = self->aborts_for;

    self->aborts_for = 0;
    if (reason != 0)
        model_abort(self->now.wait, reason);
}

enum wakeup thread_sleeps(const void *on, clockid_t clock, const struct timespec *deadline,
                          bool interruptible)
{
    struct thread *self = &threads[running];
    enum wakeup why;

    if (napping) {
        let_time_pass(&(const fairsem_wait_t){ .clock = clock, .deadline = deadline });
        return EXPIRED;
    }
    check_sleep(self, clock, deadline);
    self->asleep_on = on;
    self->woken = false;
    world_compare();
    running++;
    why = others_run(self);
    running--;
    self->asleep_on = NULL;
    goes_on(self, why, interruptible);
    errno = CALL_ERRNO;
    return why;
}

/* The thread is awake while other threads run, so nobody need wake it, whatever happens to its request. */
void thread_spins(void)
{
    struct thread *self = &threads[running];

    if (napping)
        return;
    check_waits(self);
    self->aborts_for = 0;         /* even if its deadline has passed: it reads the clock only later */
    SAY("  spins", 0);
    running++;
    for (int steps = below(3); steps > 0 && !bytes_end(); steps--)
        thread_run(step_any);
    running--;
    thread_wish = NOT_YET;
    goes_on(self, NOT_YET, false);
    errno = CALL_ERRNO;
}

/* ---- Before a sequence ---- */

/*
 * A thread may be woken after its cancellation: then its parker keeps the permit, and the thread's next sleep
 * would end at once.  The next sequence would run differently than when it is run alone.  So let each canceled
 * thread sleep once before.
 */
static void use_up_wakeup(void)
{
    fairsem_t nothing = FAIRSEM_INITIALIZER(0);

    napping = true;
    if (fairsem_acquire_for(&nothing, 1, 1) != ETIMEDOUT)
        finding("a nap does not end");
    napping = false;
    (void)!fairsem_destroy(&nothing);
}

void thread_reset(void)
{
    for (running = 0; running < STACKED; running++) {
        if (threads[running].was_canceled)
            use_up_wakeup();
        threads[running].was_canceled = false;
    }
    running = 0;
    thread_wish = NOT_YET;
}

/* SPDX-License-Identifier: MIT */
/*
 * interposed_stepped.c - two signals come before each instruction of a post that grants, of a wait that times
 * out, of sem_getvalue, and of sem_destroy.  Their handlers use the same semaphore.
 *
 * test_interpose.py runs this behavior under fairsem-run.  A child repeats the operation.  The parent steps
 * through the operation once (ptrace) and notes the address of each instruction.  In each later run, the parent
 * stops the child at the next instruction, by the processor's debug registers, which belong to one thread.  The
 * parent sends both signals, and lets the child go on.
 *
 * After each run the child checks that each handler has run once, with the sender's value, in a context that
 * blocks no signal except the other one of the two; that the mask is as before; and that the units add up.  A
 * handler that ran in a critical section would wait for the mutex of its own thread.
 *
 * Finally the first signal always interrupts the same critical section.  The second signal, a SIGBUS that no
 * instruction has raised, comes before each instruction that follows.
 */
#include "interposed.h"

#include <ucontext.h>

enum { FIRST = SIGUSR1 };

static int second;              /* the number of the second signal */
static sem_t sem;
static sem_t plain;             /* a number, until a handler moves it into a cell */
static int told[FS_NSIG], runs[FS_NSIG];
static int times;               /* number of operations so far */
static unsigned long long waits_of_helper;

/* ---- The child ---- */

static const struct operation {
    const char *name;
    void      (*call)(void);
    bool        helped;         /* another thread takes the posted units */
    bool        uses_plain;     /* the handlers use `plain`, too */
} *operation;

static void use(int sig, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    unsigned long long mask;
    int error = errno;

    memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
    mask &= ~(1ULL << (FIRST - 1) | 1ULL << (second - 1));
    MUST(mask == 0);
    MUST(info->si_signo == sig && info->si_code == SI_QUEUE);
    told[sig] = info->si_value.sival_int;
    runs[sig]++;
    MUST(sem_post(&sem) == 0);
    if (operation->uses_plain)
        MUST_FAIL(sem_timedwait(&plain, &past), ETIMEDOUT);
    errno = error;
}

static void *take(void *arg)
{
    for (;;) {
        MUST(sem_wait(&sem) == 0);
        __atomic_fetch_add(&waits_of_helper, 1, __ATOMIC_RELEASE);
    }
    return arg;
}

static void await_takes(unsigned long long number)
{
    while (__atomic_load_n(&waits_of_helper, __ATOMIC_ACQUIRE) < number)
        moment();
}

static void post_to_waiter(void)
{
    MUST(sem_post(&sem) == 0);
}

/* No other thread posts, so only a unit that a handler posts can end the wait early. */
static void wait_and_time_out(void)
{
    if (sem_timedwait(&sem, &past) == 0)
        MUST(sem_post(&sem) == 0);
}

static void ask_plain(void)
{
    MUST(value_of(&plain) == 0);
}

static void destroy(void)
{
    MUST(sem_destroy(&sem) == 0);
}

/* The child stops itself before and after each operation; the parent does the rest. */
static void repeat(void)
{
    unsigned long long takes = 0;

    for (;;) {
        raise(SIGSTOP);
        operation->call();
        raise(SIGSTOP);
        times++;
        MUST(runs[FIRST] == times && runs[second] == times);
        MUST(told[FIRST] == times && told[second] == times);
        MUST(blocks_no_signal());
        if (operation->helped) {
            await_takes(takes += 3);
        } else {
            MUST(value_of(&sem) == 2);
            MUST(sem_trywait(&sem) == 0 && sem_trywait(&sem) == 0);
            MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);   /* in a cell again */
            MUST(sem_destroy(&plain) == 0);
        }
    }
}

static const struct operation operations[] = {
    { "post", post_to_waiter, true, false }, { "wait", wait_and_time_out, false, false },
    { "getvalue", ask_plain, false, true }, { "destroy", destroy, false, true },
};

static void child(const void *arg)
{
    pthread_t helper;

    operation = arg;
    handle_info(FIRST, use, SA_RESTART);
    handle_info(second, use, SA_RESTART);
    MUST(sem_init(&sem, 0, 0) == 0);
    contend(&sem);
    MUST(sem_init(&plain, 0, 0) == 0);
    if (operation->helped)
        start(&helper, take, NULL);
    repeat();
}

/* ---- The parent ---- */

static void queue_signal(pid_t pid, int sig, int value)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = sig;
    info.si_code = SI_QUEUE;
    info.si_value.sival_int = value;
    MUST(syscall(SYS_rt_tgsigqueueinfo, pid, pid, sig, &info) == 0);
}

static uintptr_t address[STEPS_MOST];     /* of each instruction */
static uintptr_t after_interrupt[STEPS_MOST]; /* of each instruction after the first signal */

static void send_both(pid_t pid, int value)
{
    queue_signal(pid, FIRST, value);
    queue_signal(pid, second, value);
    run_to_stop(pid);
}

/* Returns a child that has done the operation twice, and is about to do it again. */
static pid_t begin(const struct operation *repeated, int *instructions)
{
    pid_t pid = begin_traced(child, repeated);
    int signals;

    /* The loader resolves symbols in the first run. */
    send_both(pid, 1);
    run_to_stop(pid);
    *instructions = note_all(pid, address, &signals);
    send_both(pid, 2);
    return pid;
}

static void step_through(const struct operation *repeated)
{
    int instructions, reached = 0;
    pid_t pid;

    second = SIGRTMIN + 3;
    pid = begin(repeated, &instructions);
    for (int i = 0; i < instructions; i++) {
        int inside = stop_before(pid, address, i);

        reached += inside;
        send_both(pid, i + 3);
        if (inside)
            run_to_stop(pid);
    }
    end_traced(pid);
    printf("%s: %d of %d instructions\n", repeated->name, reached, instructions);
    MUST(reached > instructions / 2);
}

/*
 * Find an instruction in a section: a signal that comes there is seen twice, because it is deferred, and sent
 * again at the end of the section.  Stores in *count how many instructions follow.
 */
static int find_section(pid_t pid, int instructions, int *value, int *count)
{
    for (int i = 0; i < instructions; i += 10) {
        int signals = 0;

        if (stop_before(pid, address, i)) {
            queue_signal(pid, FIRST, *value);
            *count = note_all(pid, after_interrupt, &signals);
            queue_signal(pid, second, (*value)++);
            run_to_stop(pid);
        } else {
            send_both(pid, (*value)++);
        }
        if (signals == 2)
            return i;
    }
    MUST(!"a section was found");
    return 0;
}

static void step_through_after_interrupt(void)
{
    int instructions, hit, reached = 0, value = 3, count = 0;
    pid_t pid;

    second = SIGBUS;
    pid = begin(&operations[1], &instructions);
    hit = find_section(pid, instructions, &value, &count);
    for (int i = 0; i < count; i++) {
        int inside = stop_before(pid, address, hit);

        if (inside) {
            queue_signal(pid, FIRST, value);
            inside = stop_before(pid, after_interrupt, i);
            queue_signal(pid, second, value++);
            run_to_stop(pid);
        } else {
            send_both(pid, value++);
        }
        reached += inside;
        if (inside)
            run_to_stop(pid);
    }
    end_traced(pid);
    printf("after a hit: %d of %d instructions\n", reached, count);
    MUST(reached > count / 2);
}

BEHAVIOR(stepped)
{
    needs_steps();
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        step_through(&operations[i]);
    step_through_after_interrupt(); /* the operation is a wait */
}

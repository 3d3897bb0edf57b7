/* SPDX-License-Identifier: MIT */
/* interposed_jumps.c - siglongjmp() out of a handler ends the interrupted wait, and loses no unit. */
/* Without fortification, siglongjmp() does not become __longjmp_chk(); this file calls __longjmp_chk() by name. */
#undef _FORTIFY_SOURCE
#include "interposed.h"

#include <dlfcn.h>
#include <setjmp.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)        /* linux/signal.h */
#endif

static sem_t sem;
static sigjmp_buf target;
static _Atomic int jumps_left, inside_jumps;
static char alternate[65536];
static stack_t alternate_stack = { .ss_sp = alternate, .ss_size = sizeof alternate };

/* The siglongjmp() of a program that is compiled with _FORTIFY_SOURCE. */
_Noreturn void __longjmp_chk(sigjmp_buf env, int value);

static void jump_out(int sig)
{
    (void)sig;
    if (atomic_fetch_sub(&jumps_left, 1) == 1)
        siglongjmp(target, 1);
}

static void jump_out_checked(int sig)
{
    (void)sig;
    if (atomic_fetch_sub(&jumps_left, 1) == 1)
        __longjmp_chk(target, 1);
}

/* A jump within the handler does not end the wait that the handler has interrupted. */
static void jump_inside(int sig)
{
    sigjmp_buf here;

    (void)sig;
    if (sigsetjmp(here, 1) == 0)
        siglongjmp(here, 1);
    atomic_fetch_add(&inside_jumps, 1);
}

/* This handler waits, too: a jump out of a second handler leaves both waits. */
static void wait_inside(int sig)
{
    (void)sig;
    sem_wait(&sem);
}

/* Wait until a jump leaves the wait, and overwrite the stack that the wait had. */
static void *wait_and_jump(void *arg)
{
    struct waiter *w = arg;

    MUST(sigaltstack(&alternate_stack, NULL) == 0);
    if (sigsetjmp(target, 1) == 0) {
        atomic_store(&w->tid, gettid());
        sem_wait(&sem);
        MUST(!"a jump should have left the wait");
    }
    MUST(atomic_load(&jumps_left) == 0);
    for (volatile char *at = alloca(16384), *p = at; p < at + 16384; p++)
        *p = 0x5a;
    atomic_store(&w->result, 0);
    return NULL;
}

static void jump_by(void (*handler)(int), int flags, int nested)
{
    struct waiter jumper = { .sem = &sem, .result = STILL_WAITING }, behind = { 0 };

    MUST(sem_init(&sem, 0, 0) == 0);
    handle(SIGUSR1, handler, flags);
    handle(SIGUSR2, wait_inside, flags);
    start(&jumper.thread, wait_and_jump, &jumper);
    MUST(await_sleep(&jumper));
    queue(&behind, &sem);
    if (nested) {
        MUST(pthread_kill(jumper.thread, SIGUSR2) == 0);
        for (int i = 0; i < 20; i++)
            MUST(await_sleep(&jumper));
    }
    atomic_store(&jumps_left, 1);
    MUST(pthread_kill(jumper.thread, SIGUSR1) == 0);
    MUST(join(&jumper) == 0);
    /* Post one unit, for the thread that still waits. */
    MUST(sem_post(&sem) == 0);
    MUST(join(&behind) == 0);
    MUST(value_of(&sem) == 0);
    MUST(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
}

/* The alternate stack is on the stack of the main thread, and so above all other stacks. */
static void jump_from_above(void (*handler)(int), int stack_flags, int nested)
{
    const stack_t before = alternate_stack;
    char above[sizeof alternate];

    alternate_stack.ss_sp = above;
    alternate_stack.ss_flags = stack_flags;
    jump_by(handler, SA_RESTART | SA_ONSTACK, nested);
    alternate_stack = before;
}

static void jump_from_everywhere(void (*handler)(int))
{
    for (int nested = 0; nested <= 1; nested++) {
        jump_by(handler, SA_RESTART, nested);
        jump_by(handler, 0, nested);
        jump_by(handler, SA_RESTART | SA_ONSTACK, nested);
        jump_from_above(handler, 0, nested);
    }
}

static void jump_and_stay(void)
{
    struct waiter w = { 0 };

    MUST(sem_init(&sem, 0, 0) == 0);
    handle(SIGUSR1, jump_inside, SA_RESTART);
    queue(&w, &sem);
    for (int i = 1; i <= 100; i++) {
        MUST(pthread_kill(w.thread, SIGUSR1) == 0);
        while (atomic_load(&inside_jumps) < i)
            continue;
        MUST(await_sleep(&w));
    }
    MUST(atomic_load(&w.result) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&w) == 0);
    MUST(sem_destroy(&sem) == 0);
}

static _Atomic int ended, jumped;

static void jump_always(int sig)
{
    (void)sig;
    if (atomic_load(&ended) == 0)
        siglongjmp(target, 1);
}

static void *post_and_signal(void *arg)
{
    pthread_t *thread = arg;

    for (int i = 0; i < 20000; i++) {
        sem_post(&sem);
        pthread_kill(*thread, SIGUSR1);
    }
    atomic_store(&ended, 1);
    sem_post(&sem);
    return NULL;
}

/*
 * The jump comes at any moment of a wait, even when the unit has been granted.  As with libc, the jump may lose
 * a unit that the wait has taken; otherwise the semaphore works on.
 */
static void jump_at_any_time(void)
{
    pthread_t self = pthread_self(), thread;

    MUST(sem_init(&sem, 0, 0) == 0);
    handle(SIGUSR1, jump_always, 0);
    sigsetjmp(target, 1);
    if (atomic_load(&jumped) == 0) {
        atomic_store(&jumped, 1);
        start(&thread, post_and_signal, &self);
        pthread_detach(thread);
    }
    while (atomic_load(&ended) == 0)
        sem_wait(&sem);
    handle(SIGUSR1, SIG_IGN, 0);
    for (int left = value_of(&sem); left > 0; left--)
        MUST(sem_trywait(&sem) == 0);
    MUST(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
}

/* The next lock of a mutex by this thread sends it SIGUSR2, or SIGUSR1 twice. */
static _Thread_local bool signal_in_lock __attribute__((tls_model("initial-exec")));
static _Thread_local bool two_in_lock __attribute__((tls_model("initial-exec")));

/* Replaces libc's function, even for the interposer. */
int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    static int (*libcs)(pthread_mutex_t *);

    if (libcs == NULL)
        *(void **)&libcs = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
    if (signal_in_lock) {
        signal_in_lock = false;
        raise(SIGUSR2);
    }
    if (two_in_lock) {
        two_in_lock = false;
        pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){ .sival_int = 1 });
        pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){ .sival_int = 2 });
    }
    return libcs(mutex);
}

static void post_and_jump(int sig)
{
    (void)sig;
    MUST(sem_post(&sem) == 0);
    signal_in_lock = true;
    siglongjmp(target, 1);
}

static void jump_too(int sig)
{
    (void)sig;
    siglongjmp(target, 2);
}

static void *signal_when_it_sleeps(void *arg)
{
    struct waiter *w = arg;

    MUST(await_sleep(w));
    MUST(pthread_kill(w->thread, SIGUSR1) == 0);
    return arg;
}

/* A handler posts and jumps out of the wait.
 * While the jump returns the granted unit, another handler jumps.
 */
static void jump_while_jumping(void)
{
    static struct waiter self;
    static pthread_t signaller;

    self = (struct waiter){ .thread = pthread_self(), .tid = gettid(), .result = STILL_WAITING };
    handle(SIGUSR1, post_and_jump, 0);
    handle(SIGUSR2, jump_too, 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    if (sigsetjmp(target, 1) == 0) {
        start(&signaller, signal_when_it_sleeps, &self);
        sem_wait(&sem);
        MUST(false);
    }
    signal_in_lock = false;
    MUST(pthread_join(signaller, NULL) == 0);
    MUST(value_of(&sem) == 1);
}

static _Atomic int calls_of_two;

static void jump_the_first_time(int sig)
{
    (void)sig;
    if (atomic_fetch_add(&calls_of_two, 1) == 0)
        siglongjmp(target, 1);
}

/* The handler of the first of two signals jumps out of the wait.  The second signal still comes. */
static void jump_before_another(void)
{
    const struct timespec at = soon(CLOCK_REALTIME, 1000000);

    handle(SIGUSR1, jump_the_first_time, 0);
    MUST(sem_init(&sem, 0, 0) == 0);
    if (sigsetjmp(target, 1) == 0) {
        two_in_lock = true;
        sem_timedwait(&sem, &at);
    }
    /* libc locks no mutex, so no signal comes. */
    MUST(two_in_lock || atomic_load(&calls_of_two) == 2);
    two_in_lock = false;
    MUST(sem_destroy(&sem) == 0);
}

BEHAVIOR(jumps)
{
    jump_and_stay();
#if !defined(__x86_64__) || !defined(__LP64__)
    exit(program_not_here("a jump out of a wait is noticed on x86-64 only"));
#endif
    jump_from_everywhere(jump_out);
    jump_from_everywhere(jump_out_checked);
    /*
     * Not jump_out_checked(): in a handler the kernel does not report an alternate stack with SS_AUTODISARM.
     * So __longjmp_chk() aborts, even with libc alone: it takes a jump down from this stack for a jump into a
     * frame that has returned ("longjmp causes uninitialized stack frame").
     */
    for (int nested = 0; nested <= 1; nested++)
        jump_from_above(jump_out, (int)SS_AUTODISARM, nested);
    jump_at_any_time();
    jump_while_jumping();
    jump_before_another();
}

/* SPDX-License-Identifier: MIT */
/*
 * interposed_actions.c - sigaction() and its relatives work in the same way with and without fairsem-run;
 * test_interpose.py runs this both ways.
 */
#include "interposed.h"

#include <dlfcn.h>

static volatile sig_atomic_t runs, depth, deepest;
static char alternate[65536];
static volatile uintptr_t ran_at;

static void note(int sig)
{
    int here;

    (void)sig;
    runs = runs + 1;
    ran_at = (uintptr_t)&here;
}

static void other(int sig)
{
    (void)sig;
}

static void again_inside(int sig)
{
    depth = depth + 1;
    deepest = depth > deepest ? depth : deepest;
    if (depth < 3)
        raise(sig);
    depth = depth - 1;
}

static void with_info(int sig, siginfo_t *info, void *context)
{
    MUST(sig == SIGUSR1 && info->si_signo == SIGUSR1 && info->si_pid == getpid());
    MUST(context != NULL);
    runs = runs + 1;
}

static struct sigaction now(int sig)
{
    struct sigaction action;

    MUST(sigaction(sig, NULL, &action) == 0);
    return action;
}

static void set(int sig, void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    MUST(sigaction(sig, &action, NULL) == 0);
}

/* sigaction() returns the action that was set, and the flags have their effects. */
static void flags(void)
{
    static const int each[] = { 0, SA_RESTART, SA_NOCLDSTOP, SA_NOCLDWAIT, (int)SA_NODEFER,
                                SA_ONSTACK, SA_RESTART | SA_NOCLDSTOP };
    struct sigaction found;

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        set(SIGCHLD, note, each[i]);
        found = now(SIGCHLD);
        MUST(found.sa_handler == note && (found.sa_flags & 0x7bffffff) == (each[i] & 0x7bffffff));
        MUST((found.sa_flags & (int)(SA_RESETHAND | SA_SIGINFO)) == 0);
        MUST(sigismember(&found.sa_mask, SIGUSR2) == 1 && sigismember(&found.sa_mask, SIGHUP) == 0);
    }
    set(SIGCHLD, SIG_DFL, 0);
    set(SIGUSR1, again_inside, (int)SA_NODEFER);
    raise(SIGUSR1);
    MUST(deepest == 3);
    set(SIGUSR1, again_inside, 0);
    depth = 2;
    raise(SIGUSR1);
    MUST(depth == 2);
}

static void handlers(void)
{
    struct sigaction action = { .sa_sigaction = with_info, .sa_flags = SA_SIGINFO }, found, old;
    struct sigaction *volatile same;

    runs = 0;
    set(SIGUSR1, note, 0);
    MUST(sigaction(SIGUSR1, &action, &old) == 0);
    MUST(old.sa_handler == note && (old.sa_flags & SA_SIGINFO) == 0);
    found = now(SIGUSR1);
    MUST(found.sa_sigaction == with_info && (found.sa_flags & SA_SIGINFO) != 0);
    raise(SIGUSR1);
    MUST(runs == 1);
    same = &old;                            /* one struct for both the new and the old action */
    MUST(sigaction(SIGUSR1, &old, same) == 0 && old.sa_sigaction == with_info);
    MUST(now(SIGUSR1).sa_handler == note);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == note);
    MUST(now(SIGUSR1).sa_handler == SIG_IGN);
    raise(SIGUSR1);
    MUST(runs == 1);
    action.sa_handler = SIG_DFL;
    MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == SIG_IGN);
    MUST(now(SIGUSR1).sa_handler == SIG_DFL);
    MUST_FAIL(sigaction(SIGKILL, &action, NULL), EINVAL);
    MUST_FAIL(sigaction(0, &action, NULL), EINVAL);
    MUST_FAIL(sigaction(65, &action, NULL), EINVAL);
    MUST_FAIL(sigaction(32, NULL, &old), EINVAL);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void once(void)
{
    struct sigaction found;
    pid_t child;
    int status;

    runs = 0;
    set(SIGUSR1, note, (int)SA_RESETHAND);
    MUST(siginterrupt(SIGUSR1, 0) == 0);    /* changes only SA_RESTART */
    found = now(SIGUSR1);
    MUST(found.sa_handler == note && (found.sa_flags & (int)SA_RESETHAND) != 0);
    raise(SIGUSR1);
    MUST(runs == 1);
    found = now(SIGUSR1);
    MUST(found.sa_handler == SIG_DFL && (found.sa_flags & (int)SA_RESETHAND) != 0);
    MUST(sigismember(&found.sa_mask, SIGUSR2) == 1);
    child = fork();
    if (child == 0) {
        raise(SIGUSR1);
        _exit(0);
    }
    status = child_status(child);
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

static void on_stack(void)
{
    const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };

    MUST(sigaltstack(&stack, NULL) == 0);
    set(SIGUSR1, note, SA_ONSTACK);
    raise(SIGUSR1);
    MUST(ran_at - (uintptr_t)alternate < sizeof alternate);
    set(SIGUSR1, note, 0);
    raise(SIGUSR1);
    MUST(ran_at - (uintptr_t)alternate >= sizeof alternate);
}

extern sighandler_t sysv_signal(int sig, sighandler_t handler);

static void relatives(void)
{
    struct sigaction found;

    MUST(signal(SIGUSR1, note) != SIG_ERR && signal(SIGUSR1, other) == note);
    found = now(SIGUSR1);
    MUST((found.sa_flags & SA_RESTART) != 0 && sigismember(&found.sa_mask, SIGUSR1) == 1);
    MUST(siginterrupt(SIGUSR1, 1) == 0);
    MUST((now(SIGUSR1).sa_flags & SA_RESTART) == 0 && now(SIGUSR1).sa_handler == other);
    MUST(signal(SIGUSR1, note) == other && (now(SIGUSR1).sa_flags & SA_RESTART) == 0);
    MUST(siginterrupt(SIGUSR1, 0) == 0 && (now(SIGUSR1).sa_flags & SA_RESTART) != 0);
    runs = 0;
    raise(SIGUSR1);
    MUST(runs == 1);
    MUST(signal(SIGUSR1, SIG_IGN) == note && signal(SIGUSR1, SIG_DFL) == SIG_IGN);
    MUST(signal(SIGKILL, note) == SIG_ERR && errno == EINVAL);
    MUST(signal(0, note) == SIG_ERR && signal(SIGUSR1, SIG_ERR) == SIG_ERR);
    MUST(sysv_signal(SIGUSR1, note) == SIG_DFL);
    found = now(SIGUSR1);
    MUST((found.sa_flags & (int)(SA_RESETHAND | SA_NODEFER)) == (int)(SA_RESETHAND | SA_NODEFER));
    raise(SIGUSR1);
    MUST(runs == 2 && now(SIGUSR1).sa_handler == SIG_DFL);
    MUST(sigset(SIGUSR1, note) == SIG_DFL && now(SIGUSR1).sa_handler == note);
    MUST(sigset(SIGUSR1, SIG_HOLD) == note && sigset(SIGUSR1, SIG_HOLD) == SIG_HOLD);
    raise(SIGUSR1);
    MUST(runs == 2);
    MUST(sigset(SIGUSR1, other) == SIG_HOLD && sigset(SIGUSR1, SIG_DFL) == other);
    MUST(sigset(SIGKILL, note) == SIG_ERR && sigset(0, SIG_HOLD) == SIG_ERR);
    MUST(sigset(SIGUSR1, note) == SIG_DFL && sigset(SIGUSR1, SIG_ERR) == note);
    MUST(now(SIGUSR1).sa_handler == SIG_ERR && sigset(SIGUSR1, SIG_DFL) == SIG_ERR);
    MUST(now(SIGUSR1).sa_handler == SIG_DFL);
}

/* A child of vfork has its own actions, but shares the memory of its parent. */
static void in_vfork(void)
{
    int status;
    pid_t child;

    runs = 0;
    set(SIGUSR1, note, 0);
    child = vfork();
    if (child == 0) {
        struct sigaction action = { .sa_handler = other };

        sigaction(SIGUSR1, &action, NULL);
        signal(SIGUSR1, SIG_DFL);
        _exit(0);
    }
    status = child_status(child);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    MUST(now(SIGUSR1).sa_handler == note);
    raise(SIGUSR1);
    MUST(runs == 1);
}

BEHAVIOR(actions)
{
    flags();
    handlers();
    once();
    on_stack();
    relatives();
    in_vfork();
}

/* ---- Events in the middle of sigaction() and other calls, by sigaction_hook.c ---- */

static bool (**in_sigaction)(int sig);
static void (**in_setcanceltype)(int type);
static _Atomic int inside, go_on;

static bool stay_inside(int sig)
{
    (void)sig;
    atomic_store(&inside, 1);
    while (!atomic_load(&go_on))
        moment();
    return true;
}

static void *set_other(void *arg)
{
    set(SIGUSR2, other, 0);
    return arg;
}

static pid_t bare_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* A child that is made while another thread is inside sigaction() can set actions. */
static void in_child_of(pid_t (*make_child)(void))
{
    pthread_t thread;
    pid_t child;

    set(SIGUSR1, note, (int)SA_RESETHAND);
    runs = 0;
    atomic_store(&inside, 0);
    atomic_store(&go_on, 0);
    *in_sigaction = stay_inside;
    start(&thread, set_other, NULL);
    while (!atomic_load(&inside))
        moment();
    child = make_child();
    if (child == 0) {
        *in_sigaction = NULL;
        hang_alarm();
        raise(SIGUSR1);
        MUST(runs == 1 && now(SIGUSR1).sa_handler == SIG_DFL);
        MUST(signal(SIGUSR1, note) == SIG_DFL && signal(SIGUSR1, SIG_IGN) == note);
        _exit(0);
    }
    MUST(child_status(child) == 0);
    *in_sigaction = NULL;
    atomic_store(&go_on, 1);
    MUST(pthread_join(thread, NULL) == 0);
}

static bool be_killed(int sig)
{
    (void)sig;
    kill((pid_t)syscall(SYS_getpid), SIGKILL);
    return true;
}

/* A child of vfork is killed inside sigaction(): after that, the parent can set actions, and handlers run. */
static void in_killed_vfork(void)
{
    int status;
    pid_t child;

    *in_sigaction = be_killed;
    child = vfork();
    if (child == 0) {
        set(SIGUSR1, SIG_DFL, 0);
        _exit(0);
    }
    *in_sigaction = NULL;
    status = child_status(child);
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    hang_alarm();
    set(SIGUSR1, note, 0);
    runs = 0;
    raise(SIGUSR1);
    MUST(runs == 1);
    hang_alarm();
}

static bool refuse(int sig)
{
    (void)sig;
    return false;
}

/* The kernel refuses the new action, as in a sandbox: the old action stays. */
static void refused(void)
{
    struct sigaction action = { .sa_handler = other, .sa_flags = (int)SA_RESETHAND };

    set(SIGUSR1, note, 0);
    *in_sigaction = refuse;
    MUST_FAIL(sigaction(SIGUSR1, &action, NULL), EPERM);
    *in_sigaction = NULL;
    runs = 0;
    raise(SIGUSR1);
    MUST(runs == 1 && now(SIGUSR1).sa_handler == note);
    MUST((now(SIGUSR1).sa_flags & (int)SA_RESETHAND) == 0);
}

/* ---- Signals come together, in the section of sigaction() ---- */

static void in_child(void (*run)(void))
{
    pid_t child = fork();

    if (child == 0) {
        run();
        _exit(0);
    }
    MUST(child_status(child) == 0);
}

enum { TOGETHER = 10 };

static int first_number;
static int values[TOGETHER], arrivals[TOGETHER];
static int sent_inside;         /* a signal to raise in the section, or 0 */
static bool defers;             /* the interposer defers signals; r/o */
static pid_t forked;

static void note_value(int sig, siginfo_t *info, void *context)
{
    (void)context;
    arrivals[sig - first_number]++;
    values[sig - first_number] += info->si_value.sival_int;
}

static void send_value(int sig, int value)
{
    MUST(pthread_sigqueue(pthread_self(), sig, (union sigval){ .sival_int = value }) == 0);
}

static void forget_arrivals(void)
{
    memset(values, 0, sizeof values);
    memset(arrivals, 0, sizeof arrivals);
}

/* Block the signals of this test: they come when open_in_sigaction() runs. */
static void hold_back(void)
{
    sigset_t all;

    first_number = SIGRTMIN + 1;
    forget_arrivals();
    sigemptyset(&all);
    for (int i = 0; i < TOGETHER; i++)
        sigaddset(&all, first_number + i);
    MUST(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
}

/* Unblock the signals.  libc runs their handlers now; under fairsem-run they run when the section has ended. */
static bool open_in_sigaction(int sig)
{
    sigset_t none;

    *in_sigaction = NULL;
    sigemptyset(&none);
    MUST(sig == SIGHUP && sigprocmask(SIG_SETMASK, &none, NULL) == 0);
    if (sent_inside != 0)
        raise(sent_inside);
    for (int i = 0; i < TOGETHER && defers; i++)
        MUST(arrivals[i] == 0);
    return true;
}

static void interrupt_section(void)
{
    *in_sigaction = open_in_sigaction;
    errno = 0;
    set(SIGHUP, other, 0);
    MUST(errno == 0);       /* even if the kernel refuses a re-raised signal */
}

/*
 * One signal of each number comes, and a second one of the first number: perhaps more than the module can
 * defer.  Each handler runs as often as its signal came, and the mask is empty again.
 */
static void together(int numbers)
{
    hold_back();
    for (int i = 0; i < numbers; i++) {
        handle_info(first_number + i, note_value, i == 0 ? (int)SA_NODEFER : 0);
        send_value(first_number + i, 100 + i);
    }
    send_value(first_number, 1000);
    interrupt_section();
    for (int i = 0; i < numbers; i++)
        MUST(arrivals[i] == 1 + (i == 0) && values[i] == 100 + i + (i == 0) * 1000);
    MUST(blocks_no_signal());
}

static void all_together(void)
{
    together(TOGETHER);
}

/* The kernel has called this handler, so it runs on its alternate stack. */
static void note_on_stack(int sig, siginfo_t *info, void *context)
{
    stack_t now_used;

    MUST(sigaltstack(NULL, &now_used) == 0 && (now_used.ss_flags & SS_ONSTACK) != 0);
    note_value(sig, info, context);
}

/* If no signal can be queued, a signal of kill() still comes. */
static void without_memory(void)
{
    const stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
    const struct rlimit nothing = { 0, 0 };

    hold_back();
    MUST(sigaltstack(&stack, NULL) == 0);
    handle_info(first_number, note_on_stack, SA_ONSTACK);
    MUST(setrlimit(RLIMIT_SIGPENDING, &nothing) == 0);
    MUST(kill(getpid(), first_number) == 0);
    interrupt_section();
    MUST(arrivals[0] == 1);
}

/* Send the signal once more: it must come after the end of this handler. */
static void send_again(int sig, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t running;

    MUST(running++ == 0);
    if (arrivals[sig - first_number] == 0)
        MUST(sigqueue(getpid(), sig, info->si_value) == 0);
    note_value(sig, info, context);
    running--;
}

/* A sandbox raises SIGSYS for tgkill(): all handlers run, and the mask is empty again. */
static void without_reraised_signal(void)
{
    hold_back();
    handle_info(first_number, send_again, 0);
    handle_info(first_number + 1, note_value, (int)SA_RESETHAND);
    handle_info(first_number + 2, note_value, 0);
    for (int i = 0; i < 3; i++)
        send_value(first_number + i, 100 + i);
    send_value(first_number + 2, 1000);
    set(SIGSYS, other, 0);
    if (!refuse_tgkill())
        return;
    interrupt_section();
    MUST(arrivals[0] == 2 && arrivals[1] == 1 && arrivals[2] == 2);
    MUST(values[0] == 200 && values[1] == 101 && values[2] == 1102);
    MUST(now(first_number + 1).sa_handler == SIG_DFL);
    MUST(blocks_no_signal());
}

static void ignore_the_other(int sig)
{
    (void)sig;
    signal(first_number, SIG_IGN);
}

static void fork_here(int sig)
{
    sigset_t the_other;

    (void)sig;
    sigemptyset(&the_other);
    sigaddset(&the_other, first_number);
    forked = fork();
    MUST(forked >= 0);
    if (forked == 0) {
        forget_arrivals();      /* with libc, the first signal came before the fork */
        send_value(first_number, 2);
        MUST(sigprocmask(SIG_UNBLOCK, &the_other, NULL) == 0);
        MUST(arrivals[0] == 1 && values[0] == 2);
        _exit(0);
    }
}

/* Two signals interrupt a section.  The handler of SIGBUS, `first`, runs first and blocks the other signal. */
static void interrupt_by_two(void (*first)(int))
{
    struct sigaction action = { .sa_handler = first };

    hold_back();
    sigaddset(&action.sa_mask, first_number);
    MUST(sigaction(SIGBUS, &action, NULL) == 0);
    handle_info(first_number, note_value, 0);
    send_value(first_number, 1);
    sent_inside = SIGBUS;
    interrupt_section();
    sent_inside = 0;
    MUST(signal(SIGBUS, SIG_DFL) == first);
}

/* A deferred signal that the program ignores in the meantime is gone. */
static void ignored_meanwhile(void)
{
    interrupt_by_two(ignore_the_other);
    forget_arrivals();
    handle_info(first_number, note_value, 0);
    send_value(first_number, 2);
    MUST(arrivals[0] == 1 && values[0] == 2);
}

/* A signal that was sent to the parent does not come in the child. */
static void forked_meanwhile(void)
{
    interrupt_by_two(fork_here);
    MUST(arrivals[0] == 1 && values[0] == 1);
    MUST(child_status(forked) == 0);
}

/* ---- A waiter is canceled while its handler is in the middle of a call ---- */

static sem_t never_posted, used_before;
static void (*call)(void);

static void call_sigaction(void)
{
    set(SIGHUP, other, 0);
}

static void call_sem_destroy(void)
{
    MUST(sem_destroy(&used_before) == 0);
}

/* The handler has interrupted a sleep, where cancellation is asynchronous: it takes effect in the middle of call(). */
static void end_in_call(int sig)
{
    (void)sig;
    call();
    pthread_cancel(pthread_self());
}

static bool cancel_in_sigaction(int sig)
{
    if (sig == SIGHUP)
        pthread_cancel(pthread_self());
    return true;
}

static void cancel_in_setcanceltype(int type)
{
    *in_setcanceltype = NULL;
    MUST(type == PTHREAD_CANCEL_DEFERRED);
    pthread_cancel(pthread_self());
}

static void see_handlers_run(void *arg)
{
    (void)arg;
    *in_sigaction = NULL;
    *in_setcanceltype = NULL;
    runs = 0;
    raise(SIGUSR1);
}

static void *wait_for_ever(void *arg)
{
    struct waiter *w = arg;

    pthread_cleanup_push(see_handlers_run, NULL);
    atomic_store(&w->tid, gettid());
    while (sem_wait(&never_posted) != 0)
        continue;
    pthread_cleanup_pop(0);
    return arg;
}

/* Handlers still run in the canceled thread while it ends, and other threads can make the same call. */
static void canceled_in(void (*function)(void), bool (*sigaction_hook)(int),
                        void (*setcanceltype_hook)(int))
{
    struct waiter w = { .result = STILL_WAITING };

    call = function;
    MUST(sem_init(&never_posted, 0, 0) == 0 && sem_init(&used_before, 0, 0) == 0);
    contend(&used_before);
    set(SIGUSR1, note, 0);
    set(SIGUSR2, end_in_call, 0);
    start(&w.thread, wait_for_ever, &w);
    MUST(await_sleep(&w));
    *in_sigaction = sigaction_hook;
    *in_setcanceltype = setcanceltype_hook;
    MUST(pthread_kill(w.thread, SIGUSR2) == 0);
    MUST(pthread_join(w.thread, NULL) == 0);
    MUST(runs == 1);
    hang_alarm();
    function();
    hang_alarm();
}

static void *hooks(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    MUST(found != NULL);
    return found;
}

BEHAVIOR(interrupted_actions)
{
    defers = is_interposed();
    in_sigaction = hooks("in_sigaction");
    in_setcanceltype = hooks("in_setcanceltype");
    in_child_of(bare_clone);    /* a bare clone runs no atfork handlers */
    in_child_of(fork);
    in_killed_vfork();
    refused();
    together(1);
    all_together();
    in_child(all_together);     /* the handlers that a child installs are deferred, too */
    in_child(without_memory);
    in_child(without_reraised_signal);
    ignored_meanwhile();
    forked_meanwhile();
    canceled_in(call_sigaction, cancel_in_sigaction, NULL);
    canceled_in(call_sigaction, NULL, cancel_in_setcanceltype);
    canceled_in(call_sem_destroy, NULL, cancel_in_setcanceltype);
}

/* ---- A library stores the second handler ---- */

static struct sigaction second;

static void first(int sig)
{
    note(sig);
    second.sa_handler(sig);
}

BEHAVIOR(chained_handlers)
{
    set(SIGUSR1, first, 0);
    *(struct sigaction **)hooks("second_action") = &second;
    set(SIGUSR1, note, 0);
    raise(SIGUSR1);
    MUST(runs == 2);
}

/* SPDX-License-Identifier: MIT */
/* interposed_processes.c - a program forks, runs other programs, and ends in every possible way. */
#include "interposed.h"

#include <sys/prctl.h>

/* ---- Threads of the parent wait, or are in the middle of calls ---- */

static sem_t waited_for, busy;

static void *make_and_destroy(void *arg)
{
    sem_t sem;

    while (!atomic_load(&stop)) {
        MUST(sem_init(&sem, 0, 0) == 0);
        MUST_FAIL(sem_timedwait(&sem, &past), ETIMEDOUT);
        MUST(sem_destroy(&sem) == 0);
    }
    return arg;
}

/* POSIX allows only async-signal-safe functions, such as sem_post.
 * libc's other semaphore functions work, too.
 */
static void use_in_child(void)
{
    int value = value_of(&busy);
    sem_t own;

    MUST(value == 0 || value == 1);
    MUST(sem_post(&busy) == 0 && value_of(&busy) == value + 1);
    for (; value >= 0; value--)
        MUST(sem_wait(&busy) == 0);
    MUST_FAIL(sem_trywait(&busy), EAGAIN);
    MUST_FAIL(sem_timedwait(&busy, &past), ETIMEDOUT);
    MUST(value_of(&waited_for) == 0);
    MUST(sem_init(&own, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&own, &past), ETIMEDOUT);
    MUST(sem_destroy(&own) == 0);
}

static void fork_among_threads(pid_t (*make)(void), int times, void (*more)(sem_t *))
{
    enum { TAKERS = 3 };
    struct waiter w = { 0 };
    pthread_t taker[TAKERS], maker;

    MUST(sem_init(&waited_for, 0, 0) == 0 && sem_init(&busy, 0, 1) == 0);
    queue(&w, &waited_for);
    start_all(taker, TAKERS, take_and_give, &busy);
    start(&maker, make_and_destroy, NULL);
    for (int i = 0; i < times; i++) {
        pid_t child = make();

        if (child == 0) {
            hang_alarm();
            use_in_child();
            if (more != NULL)
                more(&waited_for);
            _exit(0);
        }
        MUST(child_status(child) == 0);
    }
    stop_all(taker, TAKERS);
    stop_all(&maker, 1);
    MUST(atomic_load(&w.result) == STILL_WAITING);
    MUST(sem_post(&waited_for) == 0);
    MUST(join(&w) == 0);
}

/* The child has threads of its own. */
BEHAVIOR(fork_child)
{
    fork_among_threads(fork, 100, contend);
}

/* _Fork() does not run the handlers of pthread_atfork(). */
extern pid_t _Fork(void) __attribute__((weak));

BEHAVIOR(raw_fork)
{
    if (_Fork == NULL)
        exit(program_not_here("there is no _Fork() in this C library"));
    fork_among_threads(_Fork, 400, NULL);
}

/* ---- A signal comes right after the fork ---- */

static sem_t posted_there;
static pid_t parent;
static volatile sig_atomic_t has_posted;

static void post_in_child(int sig)
{
    (void)sig;
    if (getpid() != parent) {
        MUST(sem_post(&posted_there) == 0);
        has_posted = 1;
    }
}

static void *try_without_success(void *arg)
{
    while (!atomic_load(&stop))
        MUST_FAIL(sem_timedwait(arg, &past), ETIMEDOUT);
    return arg;
}

/* Send SIGUSR1 to the whole process group, so to the child: a child does not inherit pending signals. */
static void send_for_ever(void)
{
    const struct timespec moment = { 0, 20000 };

    signal(SIGUSR1, SIG_IGN);
    MUST(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    for (;;) {
        nanosleep(&moment, NULL);
        kill(-parent, SIGUSR1);
    }
}

/*
 * At the fork, another thread of the parent is often in a section of the same semaphore.  The handler may be
 * the first code that runs in the child.
 */
BEHAVIOR(signal_in_child)
{
    pid_t (*const make[])(void) = { fork, _Fork };
    sigset_t all, before;
    pthread_t thread;
    pid_t sender;

    MUST(setpgid(0, 0) == 0);
    parent = getpid();
    MUST(sem_init(&posted_there, 0, 0) == 0);
    handle(SIGUSR1, post_in_child, SA_RESTART);
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    start(&thread, try_without_success, &posted_there);
    MUST(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    sender = fork();
    if (sender == 0)
        send_for_ever();
    for (int i = 0; i < 600; i++) {
        pid_t child = make[i % 2] != NULL ? make[i % 2]() : fork();
        int status;

        if (child == 0) {
            while (!has_posted)
                continue;
            _exit(0);
        }
        while (waitpid(child, &status, 0) != child)
            MUST(errno == EINTR);
        MUST(status == 0);
    }
    MUST(kill(sender, SIGKILL) == 0);
    stop_all(&thread, 1);
}

static void live(int generations, sem_t *of_the_first)
{
    pid_t child;
    sem_t own;

    MUST(sem_init(&own, 0, 0) == 0);
    contend(&own);
    contend(of_the_first);
    if (generations == 0)
        return;
    child = fork();
    if (child == 0) {
        live(generations - 1, of_the_first);
        contend(&own);
        _exit(0);
    }
    MUST(child_status(child) == 0);
}

/* A chain of 20 descendants: each child forks the next one, and uses the semaphores of its ancestors. */
BEHAVIOR(generations)
{
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    live(20, &sem);
}

/* The child of vfork() shares the parent's memory until it executes a program.
 * The program is interposed, too.
 */
BEHAVIOR(vfork_exec)
{
    struct waiter w = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    queue(&w, &sem);
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();

        if (child == 0) {
            execl("/proc/self/exe", "interposed", "overflow", (char *)NULL);
            _exit(1);
        }
        MUST(child_status(child) == 0);
    }
    MUST(sem_post(&sem) == 0);
    MUST(join(&w) == 0);
}

static void *end_program(void *arg)
{
    (void)arg;
    exit(23);
}

/* (1 wait has ended; the other waits do not end.) */
BEHAVIOR(exit_in_thread)
{
    static sem_t sem;
    static struct waiter w[2];
    pthread_t thread;

    MUST(sem_init(&sem, 0, 0) == 0);
    contend(&sem);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    start(&thread, end_program, NULL);
    sem_wait(&sem);
    MUST(!"the program should have ended");
}

/* (1 wait has ended.) */
BEHAVIOR(die)
{
    static struct waiter w;
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    contend(&sem);
    queue(&w, &sem);
    if (strcmp(argument, "kill") == 0)
        kill(getpid(), SIGKILL);
    else
        raise(SIGSEGV);
    MUST(!"the program should have ended");
}

BEHAVIOR(exit)
{
    exit(atoi(argument));
}

BEHAVIOR(sleep)
{
    printf("ready\n");
    fflush(stdout);
    while (pause() == -1)
        continue;
}

/* The program still has its own limit for files, even if fairsem-run has raised the limit for itself. */
BEHAVIOR(fsize)
{
    struct rlimit limit;

    MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    MUST(limit.rlim_cur <= 1024);
}

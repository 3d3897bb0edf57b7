/* SPDX-License-Identifier: MIT */
/*
 * interposed_handlers.c - signal handlers run while threads contend for a semaphore: once for each
 * signal, in the order of the signals, each with its own siginfo.  They may use the same semaphore.
 */
#define _GNU_SOURCE
#include "interposed.h"
#include "emulated.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

enum { THREADS = 3 };

static sem_t contended;
static pthread_t contender[THREADS];

static void handle(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO };

    sigemptyset(&action.sa_mask);
    MUST(sigaction(sig, &action, NULL) == 0);
}

static void *contend(void *arg)
{
    while (!atomic_load(&stop)) {
        if (sem_wait(&contended) == 0) {
            moment();
            sem_post(&contended);
        }
    }
    return arg;
}

static void begin(int threads)
{
    MUST(sem_init(&contended, 0, 1) == 0);
    atomic_store(&stop, 0);
    for (int i = 0; i < threads; i++)
        start(&contender[i], contend, NULL);
}

static void end(int threads)
{
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++)
        MUST(pthread_join(contender[i], NULL) == 0);
}

/* ---- Queued signals ---- */

static _Atomic int arrived, out_of_order, wrong_mask;

static void expect_next(int sig, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    unsigned long long mask;

    (void)sig;
    /* The mask to return to is the thread's own: it has blocked nothing. */
    memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
    if (mask != 0)
        atomic_fetch_add(&wrong_mask, 1);
    if (info->si_code != SI_QUEUE || info->si_value.sival_int != atomic_load(&arrived))
        atomic_fetch_add(&out_of_order, 1);
    atomic_fetch_add(&arrived, 1);
}

/* Real-time signals are queued: none is lost, and they come in the order of sending. */
int queued_signals(void)
{
    enum { SIGNALS = 20000, AHEAD = 20 };

    handle(SIGRTMIN + 1, expect_next, SA_RESTART);
    begin(THREADS);
    for (int i = 0; i < SIGNALS; i++) {
        const union sigval value = { .sival_int = i };

        while (i - atomic_load(&arrived) > AHEAD)
            moment();
        MUST(pthread_sigqueue(contender[0], SIGRTMIN + 1, value) == 0);
    }
    while (atomic_load(&arrived) < SIGNALS)
        moment();
    end(THREADS);
    MUST(atomic_load(&out_of_order) == 0);
    MUST(atomic_load(&wrong_mask) == 0);
    MUST(atomic_load(&arrived) == SIGNALS);
    return 0;
}

static _Atomic int came[FS_NSIG];

static void count(int sig, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    atomic_fetch_add(&came[sig], 1);
    sem_post(&contended);
    while (sem_trywait(&contended) != 0 && errno == EINTR)
        continue;
}

/*
 * If no signal can be queued (ulimit -i 0), the kernel delivers signals without their siginfo.
 * Each must come all the same.
 */
int signals_without_memory(void)
{
    const struct rlimit none = { 0, 0 };
    static const int number[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGURG };

    MUST(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        handle(number[i], count, SA_RESTART);
    handle(SIGRTMIN + 2, count, SA_RESTART | (int)SA_NODEFER);
    begin(1);
    for (int round = 1; round <= 3000; round++) {
        for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
            pthread_kill(contender[0], number[i]);
        kill(getpid(), SIGRTMIN + 2);
        for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
            while (atomic_load(&came[number[i]]) < round)
                moment();
        }
        while (atomic_load(&came[SIGRTMIN + 2]) < round)
            moment();
    }
    end(1);
    return 0;
}

/* ---- A collector that stops the world ---- */

static sem_t stopped;
static _Atomic int may_go_on;

static void stop_here(int sig, siginfo_t *info, void *context)
{
    int before = errno, round = atomic_load(&may_go_on);

    (void)sig;
    (void)info;
    (void)context;
    sem_post(&stopped);
    while (atomic_load(&may_go_on) == round)
        moment();
    errno = before;
}

enum mode { TRIES, POSTS, WAITS };

/* The stopped threads may be anywhere, also in a call on this same semaphore. */
static void use_while_stopped(enum mode mode)
{
    struct timespec soon;

    switch (mode) {
    case TRIES:
        if (sem_trywait(&contended) == 0)
            MUST(sem_post(&contended) == 0);
        break;
    case POSTS:
        MUST(sem_post(&contended) == 0);
        value_of(&contended);
        break;
    case WAITS:
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        if (sem_timedwait(&contended, &soon) == 0)
            MUST(sem_post(&contended) == 0);
        break;
    }
}

int stop_the_world(void)
{
    enum { STOPS = 1000 };

    handle(SIGPWR, stop_here, SA_RESTART);
    MUST(sem_init(&stopped, 0, 0) == 0);
    for (enum mode mode = TRIES; mode <= WAITS; mode++) {
        begin(THREADS);
        for (int i = 0; i < STOPS; i++) {
            for (int t = 0; t < THREADS; t++)
                MUST(pthread_kill(contender[t], SIGPWR) == 0);
            for (int t = 0; t < THREADS; t++)
                MUST(sem_wait(&stopped) == 0);
            use_while_stopped(mode);
            atomic_fetch_add(&may_go_on, 1);
        }
        end(THREADS);
        MUST(sem_destroy(&contended) == 0);
    }
    return 0;
}

/* ---- A signal to the process ---- */

static pthread_t main_thread;
static _Atomic int by_main, by_others;
static _Atomic int *handled_so_far;    /* shared with the process that sends them */

static void note_thread(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
    atomic_fetch_add(pthread_equal(pthread_self(), main_thread) ? &by_main : &by_others, 1);
}

/* In another process: one signal after the other, each after the last has been handled. */
static void interrupt(pid_t whom, int times, const _Atomic int *handled)
{
    for (int i = 0; i < times; i++) {
        while (atomic_load(handled) < i)
            moment();
        kill(whom, SIGINT);
    }
    while (atomic_load(handled) < times)
        moment();
    _exit(0);
}

/*
 * Ctrl-C while the main thread waits and others contend: none is lost, and the main thread gets it.
 * The next one comes after the handler has returned: until then the main thread blocks SIGINT, and
 * the kernel chooses another.  (Once in some thousands it does so anyway, also without a semaphore:
 * it skips a thread that is falling asleep.)  Argument: how many times.
 */
int interrupts(const char *argument)
{
    int times = atoi(argument), status;
    sem_t never;
    pid_t child;

    if (emulated())
        return program_not_here("under an emulator any thread gets a signal to the process");
    main_thread = pthread_self();
    handled_so_far = mmap(NULL, sizeof *handled_so_far, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(handled_so_far != MAP_FAILED);
    atomic_store(handled_so_far, -1);    /* fork blocks signals: none before it has returned */
    handle(SIGINT, note_thread, 0);
    MUST(sem_init(&never, 0, 0) == 0);
    begin(2);
    child = fork();
    MUST(child >= 0);
    if (child == 0)
        interrupt(getppid(), times, handled_so_far);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec soon;

        atomic_store(handled_so_far, atomic_load(&by_main) + atomic_load(&by_others));
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 10000000;       /* the handler may have run before the wait */
        if (soon.tv_nsec >= 1000000000) {
            soon.tv_nsec -= 1000000000;
            soon.tv_sec++;
        }
        MUST(sem_timedwait(&never, &soon) == -1);
    }
    end(2);
    printf("%d of %d were taken by the main thread, %d by others\n", atomic_load(&by_main), times,
           atomic_load(&by_others));
    MUST(atomic_load(&by_main) + atomic_load(&by_others) == times);
    MUST(atomic_load(&by_others) <= times / 20);
    return 0;
}

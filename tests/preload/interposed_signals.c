/* SPDX-License-Identifier: MIT */
/*
 * interposed_signals.c - signals that a thread fetches instead of handling them, and handlers on
 * small stacks, while threads contend for a semaphore.
 */
#define _GNU_SOURCE
#include "interposed.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

enum { CONTENDERS = 3, SIGNALS = 5000 };

static sem_t contended, fetched;
static pthread_t contender[CONTENDERS];

static void begin(void)
{
    MUST(sem_init(&contended, 0, 1) == 0 && sem_init(&fetched, 0, 0) == 0);
    for (int i = 0; i < CONTENDERS; i++)
        start(&contender[i], take_and_give, &contended);
}

static void end(void)
{
    atomic_store(&stop, 1);
    for (int i = 0; i < CONTENDERS; i++)
        MUST(pthread_join(contender[i], NULL) == 0);
    MUST(value_of(&contended) == 1);
}

/* ---- sigwaitinfo() and signalfd() ---- */

static void tell(int expected, int value)
{
    MUST(value == expected);
    MUST(sem_wait(&contended) == 0 && sem_post(&contended) == 0);
    MUST(sem_post(&fetched) == 0);
}

static void *wait_for_signals(void *set)
{
    siginfo_t info;

    for (int i = 0; i < SIGNALS; i++) {
        while (sigwaitinfo(set, &info) < 0)
            MUST(errno == EINTR);
        tell(i, info.si_value.sival_int);
    }
    return NULL;
}

static void *read_signals(void *set)
{
    struct signalfd_siginfo info;
    int fd = signalfd(-1, set, SFD_CLOEXEC);

    MUST(fd >= 0);
    for (int i = 0; i < SIGNALS; i++) {
        MUST(read(fd, &info, sizeof info) == (ssize_t)sizeof info);
        tell(i, info.ssi_int);
    }
    close(fd);
    return NULL;
}

/* None is lost, and they come in order. */
int fetched_signals(void)
{
    const int numbers[2] = { SIGRTMIN + 2, SIGRTMIN + 3 };
    void *(*const fetch[2])(void *) = { wait_for_signals, read_signals };
    pthread_t fetcher[2];
    sigset_t set[2];

    for (int i = 0; i < 2; i++) {
        sigemptyset(&set[i]);
        sigaddset(&set[i], numbers[i]);
        MUST(pthread_sigmask(SIG_BLOCK, &set[i], NULL) == 0);
    }
    begin();
    for (int i = 0; i < 2; i++)
        start(&fetcher[i], fetch[i], &set[i]);
    for (int i = 0; i < SIGNALS; i++) {
        MUST(sigqueue(getpid(), numbers[0], (union sigval){ .sival_int = i }) == 0);
        MUST(sigqueue(getpid(), numbers[1], (union sigval){ .sival_int = i }) == 0);
        MUST(sem_wait(&fetched) == 0 && sem_wait(&fetched) == 0);
    }
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(fetcher[i], NULL) == 0);
    end();
    return 0;
}

/* ---- Stacks that overflow ---- */

static sigjmp_buf target;
static size_t page;

/* Memory for a stack, with pages below it that must not be touched. */
static char *stack_of(size_t size)
{
    char *map = mmap(NULL, 16 * page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);

    MUST(map != MAP_FAILED && mprotect(map, 16 * page, PROT_NONE) == 0);
    return map + 16 * page;
}

static void handle_on_stack(int sig, void (*handler)(int), char *memory, size_t size)
{
    const stack_t stack = { .ss_sp = memory, .ss_size = size };
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER };

    sigemptyset(&action.sa_mask);
    MUST(sigaltstack(&stack, NULL) == 0);
    MUST(sigaction(sig, &action, NULL) == 0);
}

static const struct timespec past = { 1, 0 };
static sem_t no_units;

/* Most of these overflows are in a call, in a section of the library. */
static int fill_stack(int bytes)
{
    volatile char *here = alloca((size_t)bytes);
    int error = sem_timedwait(&no_units, &past);

    here[0] = (char)error;
    return bytes != 0 ? fill_stack(bytes) + here[0] : 0;    /* which does not become a loop */
}

static void leave_overflow(int sig)
{
    (void)sig;
    sem_post(&fetched);
    siglongjmp(target, 1);
}

/* The handler of a thread whose stack is full posts, and leaves by a jump. */
static void *overflow_often(void *arg)
{
    enum { TIMES = 200, SIZE = 65536 };
    volatile int left = 0;

    handle_on_stack(SIGSEGV, leave_overflow, stack_of(SIZE), SIZE);
    sigsetjmp(target, 1);
    if (left++ < TIMES)
        MUST(fill_stack(1 + 37 * left % 1500) != 0);
    return arg;
}

static void fill_alternate(int sig)
{
    (void)sig;
    fill_stack(100);
}

/* The alternate stack is full, and there is no handler: the kernel ends the process. */
static void overflow_alternate(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        die_silently();
        MUST(sem_init(&no_units, 0, 0) == 0);
        handle_on_stack(SIGUSR1, fill_alternate, stack_of(page * 16), page * 16);
        raise(SIGUSR1);
        _exit(0);
    }
    status = child_status(child);
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static _Atomic int posted;

static void post_on_small(int sig)
{
    (void)sig;
    MUST(sem_post(&fetched) == 0);
    atomic_fetch_add(&posted, 1);
}

/* A post that wakes a thread, on a stack for which a program may have reckoned so many bytes. */
static void post_on_small_stack(void)
{
    const long least = sysconf(_SC_MINSIGSTKSZ);
    const size_t size = (size_t)(least > 0 ? least : 4096) + 2048;
    struct waiter w = { 0 };

    handle_on_stack(SIGUSR2, post_on_small, stack_of(16 * page) + 16 * page - size, size);
    for (int i = 0; i < 20; i++) {
        queue(&w, &fetched);
        raise(SIGUSR2);
        MUST(join(&w) == 0);
    }
    MUST(atomic_load(&posted) == 20);
}

int overflows(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    page = (size_t)sysconf(_SC_PAGESIZE);
    overflow_alternate();
    MUST(sem_init(&no_units, 0, 0) == 0 && sem_init(&fetched, 0, 0) == 0);
    MUST(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 32 * page) == 0);
    MUST(pthread_create(&thread, &attr, overflow_often, NULL) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    MUST(value_of(&fetched) == 200);
    while (sem_trywait(&fetched) == 0)
        continue;
    MUST_FAIL(sem_timedwait(&no_units, &past), ETIMEDOUT);
    post_on_small_stack();
    return 0;
}

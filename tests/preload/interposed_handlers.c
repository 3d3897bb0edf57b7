/* SPDX-License-Identifier: MIT */
/*
 * interposed_handlers.c - signals come while threads contend for a semaphore.  A handler runs once for each
 * signal, in the order of the signals, with the right siginfo.  It may use the same semaphore, even on a small
 * stack.  A thread may also fetch signals instead of handling them.
 */
#include "interposed.h"
#include "emulated.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/signalfd.h>
#include <ucontext.h>

enum { THREADS = 3 };

static sem_t contended;
static pthread_t contender[THREADS];

static void begin(void)
{
    MUST(sem_init(&contended, 0, 1) == 0);
    atomic_store(&stop, 0);
    start_all(contender, THREADS, take_and_give, &contended);
}

/* ---- Queued signals ---- */

static _Atomic int arrived, out_of_order;

static void expect_next(int sig, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t inside;
    ucontext_t *interrupted = context;
    unsigned long long mask;

    (void)sig;
    /* The mask to return to is the thread's own mask, which is empty. */
    memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
    if (inside++ != 0 || mask != 0 || info->si_code != SI_QUEUE
        || info->si_value.sival_int != atomic_load(&arrived))
        atomic_fetch_add(&out_of_order, 1);
    atomic_fetch_add(&arrived, 1);
    MUST(sem_post(&contended) == 0 && sem_wait(&contended) == 0);
    inside--;
}

enum { SIGNALS = 20000, AHEAD = 20 };

static void *send_all(void *arg)
{
    for (int i = 0; i < SIGNALS; i++) {
        while (i - atomic_load(&arrived) > AHEAD)
            moment();
        MUST(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ .sival_int = i }) == 0);
    }
    return arg;
}

/* Real-time signals are queued: none is lost, and they come in the order of sending, to this thread. */
static void queue_signals(bool (*prepare)(void))
{
    pthread_t sender;
    sigset_t ours;

    handle_info(SIGRTMIN + 1, expect_next, SA_RESTART);
    sigemptyset(&ours);
    sigaddset(&ours, SIGRTMIN + 1);
    MUST(pthread_sigmask(SIG_BLOCK, &ours, NULL) == 0);
    begin();
    if (prepare != NULL && !prepare())
        exit(skip_program("seccomp does not work here"));
    start(&sender, send_all, NULL);
    MUST(pthread_sigmask(SIG_UNBLOCK, &ours, NULL) == 0);
    while (atomic_load(&arrived) < SIGNALS)
        MUST(sem_wait(&contended) == 0 && sem_post(&contended) == 0);
    join_all(&sender, 1);
    stop_all(contender, THREADS);
    MUST(atomic_load(&out_of_order) == 0 && value_of(&contended) == 1);
}

BEHAVIOR(queued_signals)
{
    queue_signals(NULL);
}

static _Atomic int refused;

static void on_refused(int sig)
{
    (void)sig;
    atomic_fetch_add(&refused, 1);
}

/* A filter raises SIGSYS for tgkill(): still, every handler runs. */
BEHAVIOR(without_tgkill)
{
    handle(SIGSYS, on_refused, 0);
    queue_signals(refuse_tgkill);
    printf("%d signals, %d calls were refused\n", SIGNALS, atomic_load(&refused));
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

/* If no signal can be queued (ulimit -i 0), the kernel delivers signals without siginfo.  Each must still come. */
BEHAVIOR(signals_without_memory)
{
    const struct rlimit none = { 0, 0 };
    const int number[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGURG, SIGRTMIN + 2 };
    enum { NUMBERS = sizeof number / sizeof number[0] };

    MUST(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    for (int i = 0; i < NUMBERS; i++)
        handle_info(number[i], count, SA_RESTART | (i == NUMBERS - 1 ? (int)SA_NODEFER : 0));
    begin();
    for (int round = 1; round <= 3000; round++) {
        for (int i = 0; i < NUMBERS - 1; i++)
            pthread_kill(contender[0], number[i]);
        kill(getpid(), number[NUMBERS - 1]);
        for (int i = 0; i < NUMBERS; i++) {
            while (atomic_load(&came[number[i]]) < round)
                moment();
        }
    }
    stop_all(contender, THREADS);
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

/* The stopped threads may be anywhere, even in a call on the same semaphore. */
static void try_here(void)
{
    if (sem_trywait(&contended) == 0)
        MUST(sem_post(&contended) == 0);
}

static void post_here(void)
{
    MUST(sem_post(&contended) == 0);
    value_of(&contended);
}

static void wait_here(void)
{
    const struct timespec at = soon(CLOCK_REALTIME, 100);

    if (sem_timedwait(&contended, &at) == 0)
        MUST(sem_post(&contended) == 0);
}

BEHAVIOR(stop_the_world)
{
    static void (*const use[])(void) = { try_here, post_here, wait_here };
    enum { USES = sizeof use / sizeof use[0], STOPS = 1000 };

    handle_info(SIGPWR, stop_here, SA_RESTART);
    MUST(sem_init(&stopped, 0, 0) == 0);
    for (int i = 0; i < USES; i++) {
        begin();
        for (int k = 0; k < STOPS; k++) {
            for (int t = 0; t < THREADS; t++)
                MUST(pthread_kill(contender[t], SIGPWR) == 0);
            for (int t = 0; t < THREADS; t++)
                MUST(sem_wait(&stopped) == 0);
            use[i]();
            atomic_fetch_add(&may_go_on, 1);
        }
        stop_all(contender, THREADS);
        MUST(sem_destroy(&contended) == 0);
    }
}

/* ---- A signal to the process ---- */

static pthread_t main_thread;
static _Atomic int by_main, by_others;
static _Atomic int *handled_so_far;    /* signals; shared with the process that sends them */

static void note_thread(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    (void)context;
    atomic_fetch_add(pthread_equal(pthread_self(), main_thread) ? &by_main : &by_others, 1);
}

/* In another process: send `times` signals, each after the one before has been handled. */
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
 * Ctrl-C while the main thread waits and others contend: no signal is lost, and the main thread gets each.  The
 * next signal is sent after the handler has returned: in its handler the main thread blocks SIGINT, so the
 * kernel would choose another thread.  (Once in some thousands the kernel does so anyway, even without a
 * semaphore: it skips a thread that is falling asleep.)  The argument is the number of signals.
 */
BEHAVIOR(interrupts)
{
    int times = atoi(argument), status;
    sem_t never;
    pid_t child;

    if (emulated())
        exit(program_not_here("under an emulator any thread gets a signal to the process"));
    main_thread = pthread_self();
    handled_so_far = mmap(NULL, sizeof *handled_so_far, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(handled_so_far != MAP_FAILED);
    atomic_store(handled_so_far, -1);    /* no signal yet: fork() blocks signals until it has returned */
    handle_info(SIGINT, note_thread, 0);
    MUST(sem_init(&never, 0, 0) == 0);
    begin();
    child = fork();
    MUST(child >= 0);
    if (child == 0)
        interrupt(getppid(), times, handled_so_far);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec at;

        atomic_store(handled_so_far, atomic_load(&by_main) + atomic_load(&by_others));
        at = soon(CLOCK_REALTIME, 10000);       /* the handler may have run before the wait */
        MUST(sem_timedwait(&never, &at) == -1);
    }
    stop_all(contender, THREADS);
    printf("%d of %d were taken by the main thread, %d by others\n", atomic_load(&by_main), times,
           atomic_load(&by_others));
    MUST(atomic_load(&by_main) + atomic_load(&by_others) == times);
    MUST(atomic_load(&by_others) <= times / 20);
}
/* ---- sigwaitinfo() and signalfd() ---- */

enum { FETCHED = 5000 };

static sem_t fetched;

static void tell(int expected, int value)
{
    MUST(value == expected);
    MUST(sem_wait(&contended) == 0 && sem_post(&contended) == 0);
    MUST(sem_post(&fetched) == 0);
}

static void *wait_for_signals(void *set)
{
    siginfo_t info;

    for (int i = 0; i < FETCHED; i++) {
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
    for (int i = 0; i < FETCHED; i++) {
        MUST(read(fd, &info, sizeof info) == (ssize_t)sizeof info);
        tell(i, info.ssi_int);
    }
    close(fd);
    return NULL;
}

/* No signal is lost, and they come in order. */
BEHAVIOR(fetched_signals)
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
    MUST(sem_init(&fetched, 0, 0) == 0);
    begin();
    for (int i = 0; i < 2; i++)
        start(&fetcher[i], fetch[i], &set[i]);
    for (int i = 0; i < FETCHED; i++) {
        MUST(sigqueue(getpid(), numbers[0], (union sigval){ .sival_int = i }) == 0);
        MUST(sigqueue(getpid(), numbers[1], (union sigval){ .sival_int = i }) == 0);
        MUST(sem_wait(&fetched) == 0 && sem_wait(&fetched) == 0);
    }
    join_all(fetcher, 2);
    stop_all(contender, THREADS);
    MUST(value_of(&contended) == 1);
}

/* ---- Stacks that overflow ---- */

static sigjmp_buf target;
static size_t page;

/* Memory for a stack.  The pages below the stack fault when they are touched. */
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

    MUST(sigaltstack(&stack, NULL) == 0);
    handle(sig, handler, SA_ONSTACK | (int)SA_NODEFER);
}

static sem_t no_units;

/* Most of these overflows are in a section of the library. */
static int fill_stack(int bytes)
{
    volatile char *here = alloca((size_t)bytes);
    int error = sem_timedwait(&no_units, &past);

    here[0] = (char)error;
    return bytes != 0 ? fill_stack(bytes) + here[0] : 0;    /* the compiler cannot make this a loop */
}

static void leave_overflow(int sig)
{
    (void)sig;
    sem_post(&fetched);
    siglongjmp(target, 1);
}

/* The stack of this thread overflows; the handler of SIGSEGV posts, and leaves by a jump. */
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

/* A post that wakes a thread works on a stack of the least size for a handler plus 2 KB. */
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

BEHAVIOR(overflows)
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
}

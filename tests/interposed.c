/* SPDX-License-Identifier: MIT */
/*
 * interposed.c - a program of somebody else's: <semaphore.h>, one behavior per subcommand.
 *
 * interpose.sh runs it under fairsem-run.  What glibc's own semaphores do, too, passes without
 * fairsem-run as well; `fifo` and `destroyed` do not.
 *
 * Exit status 0, or 1 and a message; 77: not here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A hang ends, too. */
#define TIMEOUT_S 120

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "interposed: line %d: %s does not hold (errno: %s)\n", __LINE__, \
                    #condition, strerror(errno));                                         \
            _exit(1);                                                                     \
        }                                                                                 \
    } while (0)

#define MUST_FAIL(call, error) \
    do {                       \
        errno = 0;             \
        MUST((call) == -1);    \
        MUST(errno == (error)); \
    } while (0)

/* ---- Threads that wait, and how to see that they do ---- */

#define STILL_WAITING (-1)

struct waiter {
    pthread_t    thread;
    sem_t       *sem;
    _Atomic int *service;       /* counts up as waiters are served; may be NULL */
    int          place;
    _Atomic int  tid;
    _Atomic int  result;        /* STILL_WAITING, 0 or errno */
};

static void *wait_once(void *arg)
{
    struct waiter *w = arg;
    int result;

    atomic_store(&w->tid, (int)syscall(SYS_gettid));
    result = sem_wait(w->sem);
    if (result == 0 && w->service != NULL)
        w->place = atomic_fetch_add(w->service, 1);
    atomic_store(&w->result, result == 0 ? 0 : errno);
    return NULL;
}

static char state_of(int tid)
{
    char path[64], text[512], *state;
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '?';
    length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    state = strrchr(text, ')');     /* the name before may contain anything */
    return state != NULL && state[1] == ' ' ? state[2] : '?';
}

/* There is nothing else it could sleep in; a few looks, should the kernel have put it there. */
static void await_sleep(struct waiter *w)
{
    int seen = 0;

    while (atomic_load(&w->tid) == 0)
        sched_yield();
    while (seen < 5) {
        seen = state_of(atomic_load(&w->tid)) == 'S' ? seen + 1 : 0;
        sched_yield();
    }
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int error = pthread_create(thread, NULL, run, arg);

    errno = error;
    MUST(error == 0);
}

static void queue(struct waiter *w, sem_t *sem)
{
    w->sem = sem;
    atomic_store(&w->result, STILL_WAITING);
    start(&w->thread, wait_once, w);
    await_sleep(w);
}

/* Returns its result, or STILL_WAITING if it was canceled. */
static int join(struct waiter *w)
{
    MUST(pthread_join(w->thread, NULL) == 0);
    return atomic_load(&w->result);
}

static int value_of(sem_t *sem)
{
    int value = -1;

    MUST(sem_getvalue(sem, &value) == 0);
    return value;
}

static int child_status(pid_t child)
{
    int status;

    MUST(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* ---- One behavior each ---- */

/* A unit goes to the oldest, not back to who posted it.  (5 waits.) */
static int fifo(void)
{
    struct waiter w[5] = { { 0 } };
    _Atomic int service = 0;
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    MUST(sem_wait(&sem) == 0);
    for (int i = 0; i < 5; i++) {
        w[i].service = &service;
        queue(&w[i], &sem);
    }
    MUST(value_of(&sem) == 0);
    for (int i = 0; i < 5; i++) {
        MUST(sem_post(&sem) == 0);
        MUST_FAIL(sem_trywait(&sem), EAGAIN);
        MUST(join(&w[i]) == 0);
        MUST(w[i].place == i);
    }
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

static void do_nothing(int sig)
{
    (void)sig;
}

static int eintr(void)
{
    struct sigaction action = { .sa_handler = do_nothing };
    struct waiter w = { 0 }, restarted = { 0 };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_RESTART;
    MUST(sigaction(SIGUSR2, &action, NULL) == 0);
    queue(&w, &sem);
    while (atomic_load(&w.result) == STILL_WAITING) {
        pthread_kill(w.thread, SIGUSR1);
        sched_yield();
    }
    MUST(join(&w) == EINTR);
    queue(&restarted, &sem);
    for (int i = 0; i < 100; i++) {
        pthread_kill(restarted.thread, SIGUSR2);
        await_sleep(&restarted);
    }
    MUST(atomic_load(&restarted.result) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&restarted) == 0);
    MUST(value_of(&sem) == 0);
    return 0;
}

static void *cancel_self_and_wait(void *arg)
{
    pthread_cancel(pthread_self());
    sem_wait(arg);
    return NULL;
}

static void *cancel_self_and_post(void *arg)
{
    pthread_cancel(pthread_self());
    MUST(sem_post(arg) == 0);
    MUST(sem_trywait(arg) == 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return arg;
}

static int cancel(void)
{
    struct waiter w = { 0 }, behind = { 0 };
    pthread_t thread;
    void *result;
    sem_t sem;

    MUST(sem_init(&sem, 0, 1) == 0);
    start(&thread, cancel_self_and_wait, &sem);
    MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    MUST(value_of(&sem) == 1);
    start(&thread, cancel_self_and_post, &sem);
    MUST(pthread_join(thread, &result) == 0 && result == &sem);
    MUST(sem_wait(&sem) == 0);
    queue(&w, &sem);
    queue(&behind, &sem);
    MUST(pthread_cancel(w.thread) == 0);
    MUST(join(&w) == STILL_WAITING);
    MUST(sem_post(&sem) == 0);
    MUST(join(&behind) == 0);
    MUST(value_of(&sem) == 0);
    return 0;
}

static sem_t handlers_sem;
static _Atomic int handled;

static void post(int sig)
{
    (void)sig;
    MUST(sem_post(&handlers_sem) == 0);
    atomic_fetch_add(&handled, 1);
}

static _Atomic int stop;

static void *take_and_give(void *arg)
{
    while (!atomic_load(&stop)) {
        if (sem_wait(arg) == 0)
            sem_post(arg);
    }
    return NULL;
}

/* The handler interrupts waits and posts on the same semaphore. */
static int handler_post(void)
{
    struct sigaction action = { .sa_handler = post };
    pthread_t thread[3];
    int taken;

    sigemptyset(&action.sa_mask);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    MUST(sem_init(&handlers_sem, 0, 1) == 0);
    for (int i = 0; i < 3; i++)
        start(&thread[i], take_and_give, &handlers_sem);
    for (taken = 0; taken < 5000; taken++) {
        struct timespec soon;

        do {
            pthread_kill(thread[taken % 3], SIGUSR1);
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_sec += soon.tv_nsec >= 999000000;
            soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
        } while (sem_timedwait(&handlers_sem, &soon) != 0);
    }
    atomic_store(&stop, 1);
    MUST(sem_post(&handlers_sem) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    MUST(value_of(&handlers_sem) == 2 + atomic_load(&handled) - taken);
    return 0;
}

/* Threads of the parent wait, and one is busy; the child has threads of its own. */
static int fork_child(void)
{
    struct waiter w = { 0 };
    sem_t waited_for, busy;
    pthread_t thread[2];

    MUST(sem_init(&waited_for, 0, 0) == 0);
    MUST(sem_init(&busy, 0, 1) == 0);
    queue(&w, &waited_for);
    for (int i = 0; i < 2; i++)
        start(&thread[i], take_and_give, &busy);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct waiter own = { 0 };
            sem_t new_one;

            alarm(TIMEOUT_S);
            MUST(value_of(&waited_for) == 0);
            queue(&own, &waited_for);
            MUST(sem_post(&waited_for) == 0);
            MUST(join(&own) == 0);
            if (value_of(&busy) == 0)
                MUST(sem_post(&busy) == 0);
            MUST(sem_wait(&busy) == 0);
            MUST_FAIL(sem_trywait(&busy), EAGAIN);
            MUST(sem_init(&new_one, 0, 1) == 0);
            MUST(sem_wait(&new_one) == 0);
            MUST(sem_destroy(&new_one) == 0);
            _exit(0);
        }
        MUST(child_status(child) == 0);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    MUST(atomic_load(&w.result) == STILL_WAITING);
    MUST(sem_post(&waited_for) == 0);
    MUST(join(&w) == 0);
    return 0;
}

/* The program that is run there is interposed, too; meanwhile the memory was one. */
static int vfork_exec(void)
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
    return 0;
}

static _Atomic(sem_t *) offered;

static void *post_what_comes(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop)) {
        sem_t *sem = atomic_exchange(&offered, NULL);

        if (sem != NULL)
            sem_post(sem);
        else
            sched_yield();
    }
    return NULL;
}

/* The memory goes as soon as the wait has returned, every second time without sem_destroy. */
enum { LATE_ROUNDS = 5000 };
static sem_t        posted_late;
static _Atomic int  late_round, late_ack;

static void *post_until_destroyed(void *arg)
{
    for (int round = 1; round <= LATE_ROUNDS; round++) {
        while (atomic_load(&late_round) < round)
            sched_yield();
        while (sem_post(&posted_late) == 0)
            continue;               /* EINVAL: it has been destroyed */
        atomic_store(&late_ack, round);
    }
    return arg;
}

/* No program should, but libc lets it pass: a post on its way while the semaphore is destroyed. */
static int late_post(void)
{
    pthread_t thread;

    start(&thread, post_until_destroyed, NULL);
    for (int round = 1; round <= LATE_ROUNDS; round++) {
        MUST(sem_init(&posted_late, 0, 0) == 0);
        atomic_store(&late_round, round);
        MUST(sem_wait(&posted_late) == 0);
        MUST(sem_destroy(&posted_late) == 0);
        while (atomic_load(&late_ack) < round)
            sched_yield();
    }
    pthread_join(thread, NULL);
    return 0;
}

static int unmap(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    pthread_t thread;

    start(&thread, post_what_comes, NULL);
    for (int i = 0; i < 20000; i++) {
        sem_t *sem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        MUST(sem != MAP_FAILED);
        MUST(sem_init(sem, 0, 0) == 0);
        atomic_store(&offered, sem);
        MUST(sem_wait(sem) == 0);
        if (i % 2 == 0)
            MUST(sem_destroy(sem) == 0);
        munmap(sem, size);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    return 0;
}

static int destroy_with_waiters(void)
{
    struct waiter w[2] = { { 0 } };
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(join(&w[0]) == 0 && join(&w[1]) == 0);
    MUST(sem_post(&sem) == 0);
    MUST(sem_wait(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

/* libc would go on; a reference to what is gone must not be followed.  (7 calls refused.) */
static int destroyed(void)
{
    const struct timespec past = { 0, 0 };
    sem_t sem, other;
    int value;

    MUST(sem_init(&sem, 0, 3) == 0);
    MUST(sem_destroy(&sem) == 0);
    MUST(sem_init(&other, 0, 1) == 0);      /* where the first one was, perhaps */
    MUST_FAIL(sem_wait(&sem), EINVAL);
    MUST_FAIL(sem_trywait(&sem), EINVAL);
    MUST_FAIL(sem_timedwait(&sem, &past), EINVAL);
    MUST_FAIL(sem_clockwait(&sem, CLOCK_MONOTONIC, &past), EINVAL);
    MUST_FAIL(sem_post(&sem), EINVAL);
    MUST_FAIL(sem_getvalue(&sem, &value), EINVAL);
    MUST_FAIL(sem_destroy(&sem), EINVAL);
    MUST(value_of(&other) == 1);
    MUST(sem_init(&sem, 0, 2) == 0);
    MUST(value_of(&sem) == 2 && value_of(&other) == 1);
    MUST(sem_destroy(&sem) == 0 && sem_destroy(&other) == 0);
    return 0;
}

/* Not allowed, and done: structures that contain one are filled in and copied to their place. */
static int copy_unused(void)
{
    struct thing { int number; sem_t sem; } *things;
    struct waiter w = { 0 };

    things = calloc(2, sizeof *things);
    MUST(things != NULL);
    MUST(sem_init(&things[0].sem, 0, 2) == 0);
    memcpy(&things[1], &things[0], sizeof things[0]);
    memset(&things[0], 0x5a, sizeof things[0]);
    MUST(value_of(&things[1].sem) == 2);
    MUST(sem_wait(&things[1].sem) == 0);
    MUST(sem_trywait(&things[1].sem) == 0);
    queue(&w, &things[1].sem);
    MUST(sem_post(&things[1].sem) == 0);
    MUST(join(&w) == 0);
    MUST(sem_destroy(&things[1].sem) == 0);
    free(things);
    return 0;
}

static long resident_bytes(void)
{
    char text[128] = "";
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "re");

    MUST(file != NULL && fgets(text, sizeof text, file) != NULL);
    fclose(file);
    MUST(sscanf(text, "%ld %ld", &size, &resident) == 2);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Many programs never destroy.  What that costs is printed, and is not what fails. */
static int never_destroy(void)
{
    enum { MANY = 100000 };
    long before = resident_bytes();
    sem_t sem;

    for (int i = 0; i < MANY; i++) {
        MUST(sem_init(&sem, 0, 1) == 0);
        MUST(sem_wait(&sem) == 0);
    }
    MUST(value_of(&sem) == 0);
    printf("%ld bytes of memory for each semaphore that was not destroyed\n",
           (resident_bytes() - before) / MANY);
    return 0;
}

/* All zero is what sem_init(&sem, 0, 0) makes in libc.  (8 calls of libc's.) */
static int static_zero(void)
{
    static sem_t sem;
    struct waiter w = { 0 };

    MUST(value_of(&sem) == 0);
    MUST_FAIL(sem_trywait(&sem), EAGAIN);
    MUST(sem_post(&sem) == 0);
    MUST(sem_wait(&sem) == 0);
    queue(&w, &sem);
    MUST(sem_post(&sem) == 0);
    MUST(join(&w) == 0);
    MUST(value_of(&sem) == 0);
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

/* (1 process-shared; 7 calls of libc's in this process, 2 in the child.) */
static int pshared(void)
{
    sem_t *sem = mmap(NULL, 2 * sizeof *sem, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
    pid_t child;

    MUST(sem != MAP_FAILED);
    MUST_FAIL(sem_init(sem, 1, SEM_VALUE_MAX + 1u), EINVAL);
    MUST(sem_init(sem, 1, 1) == 0);
    MUST(sem_wait(sem) == 0);
    child = fork();
    if (child == 0) {
        MUST(sem_post(sem) == 0);
        MUST(sem_post(sem) == 0);
        _exit(0);
    }
    MUST(sem_wait(sem) == 0);
    MUST(sem_wait(sem) == 0);
    MUST(child_status(child) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST(sem_post(sem) == 0);
    MUST(value_of(sem) == 1);
    MUST(sem_destroy(sem) == 0);
    return 0;
}

/* (3 opened by name, 4 calls of libc's.) */
static int named(void)
{
    char name[64];
    sem_t *sem, *again;

    snprintf(name, sizeof name, "/fairsem-interposed-%ld", (long)getpid());
    sem = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
    if (sem == SEM_FAILED && (errno == ENOSYS || errno == EACCES || errno == ENOENT))
        return 77;
    MUST(sem != SEM_FAILED);
    again = sem_open(name, 0);
    MUST(again == sem);
    MUST(value_of(sem) == 2);
    MUST(sem_wait(sem) == 0);
    MUST(sem_wait(again) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST(sem_close(again) == 0);
    MUST(sem_close(sem) == 0);
    MUST(sem_unlink(name) == 0);
    errno = 0;
    MUST(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    return 0;
}

static sem_t early;

__attribute__((constructor)) static void use_early(void)
{
    MUST(sem_init(&early, 0, 2) == 0);
    MUST(sem_wait(&early) == 0);
}

static int constructor(void)
{
    MUST(value_of(&early) == 1);
    MUST(sem_wait(&early) == 0);
    MUST_FAIL(sem_trywait(&early), EAGAIN);
    return 0;
}

/* The module initializes a semaphore when it is loaded; what it used is gone with it. */
static int load(const char *path)
{
    for (int i = 0; i < 20; i++) {
        void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found;
        int (*use)(sem_t *);
        sem_t ours;

        if (module == NULL)
            fprintf(stderr, "interposed: %s\n", dlerror());
        MUST(module != NULL);
        found = dlsym(module, "use_semaphores");
        MUST(found != NULL);
        memcpy(&use, &found, sizeof use);
        MUST(sem_init(&ours, 0, 0) == 0);
        MUST(use(&ours) == 0);
        MUST(dlclose(module) == 0);
        MUST(sem_wait(&ours) == 0);
        MUST(sem_destroy(&ours) == 0);
    }
    return 0;
}

/* (1 created, and that of the constructor, as everywhere.) */
static int overflow(void)
{
    sem_t sem;

    MUST_FAIL(sem_init(&sem, 0, SEM_VALUE_MAX + 1u), EINVAL);
    MUST(sem_init(&sem, 0, SEM_VALUE_MAX) == 0);
    MUST_FAIL(sem_post(&sem), EOVERFLOW);
    MUST(value_of(&sem) == SEM_VALUE_MAX);
    MUST(sem_destroy(&sem) == 0);
    return 0;
}

/* One thread has waited, so that there is something to tell. */
static void wait_for_once(sem_t *sem)
{
    struct waiter w = { 0 };

    queue(&w, sem);
    MUST(sem_post(sem) == 0);
    MUST(join(&w) == 0);
}

static void *end_program(void *arg)
{
    (void)arg;
    exit(23);
}

/* (1 wait ended, others do not.) */
static int exit_in_thread(void)
{
    static sem_t sem;
    static struct waiter w[2];
    pthread_t thread;

    MUST(sem_init(&sem, 0, 0) == 0);
    wait_for_once(&sem);
    queue(&w[0], &sem);
    queue(&w[1], &sem);
    start(&thread, end_program, NULL);
    sem_wait(&sem);
    return 1;
}

/* (1 wait ended.) */
static int die(const char *how)
{
    static struct waiter w;
    sem_t sem;

    MUST(sem_init(&sem, 0, 0) == 0);
    wait_for_once(&sem);
    queue(&w, &sem);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    else
        raise(SIGSEGV);
    sem_wait(&sem);
    return 1;
}

static int leave(const char *status)
{
    return atoi(status);
}

static int sleep_until_killed(void)
{
    printf("ready\n");
    fflush(stdout);
    while (pause() == -1)
        continue;
    return 1;
}

/* Was it a signal that ended the command, as it must be, and not a status that looks so? */
static int ends_by(const char *signal_number, char **command)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    status = child_status(child);
    MUST(WIFSIGNALED(status));
    MUST(WTERMSIG(status) == atoi(signal_number));
    return 0;
}

/* ---- The hog and its victim ---- */

static sem_t only_unit;
static double longest_ms;
static int served;

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void pin(int core)
{
    cpu_set_t one;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *hold_and_retake(void *arg)
{
    pin(0);
    while (!atomic_load(&stop)) {
        double until;

        sem_wait(&only_unit);
        until = now_ms() + 0.2;
        while (now_ms() < until)
            continue;
        sem_post(&only_unit);
    }
    return arg;
}

static void *want_it_now_and_then(void *arg)
{
    unsigned random = 1;

    pin(1);
    while (!atomic_load(&stop)) {
        struct timespec pause_for = { 0, 0 };
        double start_ms, waited;

        random = random * 1103515245u + 12345u;
        pause_for.tv_nsec = (long)(random >> 16) % 1000 * 1000;
        nanosleep(&pause_for, NULL);
        start_ms = now_ms();
        sem_wait(&only_unit);
        waited = now_ms() - start_ms;
        sem_post(&only_unit);
        served++;
        if (waited > longest_ms)
            longest_ms = waited;
    }
    return arg;
}

static int hog(void)
{
    const struct timespec duration = { 1, 500000000 };
    pthread_t thread[2];

    MUST(sem_init(&only_unit, 0, 1) == 0);
    start(&thread[0], hold_and_retake, NULL);
    start(&thread[1], want_it_now_and_then, NULL);
    nanosleep(&duration, NULL);
    atomic_store(&stop, 1);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    printf("longest wait of the victim: %.3f ms, served %d times\n", longest_ms, served);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int       (*run)(void);
    } plain[] = {
        { "fifo", fifo }, { "eintr", eintr }, { "cancel", cancel },
        { "handler-post", handler_post }, { "fork-child", fork_child },
        { "vfork-exec", vfork_exec }, { "unmap", unmap }, { "late-post", late_post },
        { "destroy-with-waiters", destroy_with_waiters }, { "destroyed", destroyed },
        { "copy-unused", copy_unused }, { "never-destroy", never_destroy },
        { "static-zero", static_zero }, { "pshared", pshared }, { "named", named },
        { "constructor", constructor }, { "overflow", overflow },
        { "exit-in-thread", exit_in_thread }, { "sleep", sleep_until_killed }, { "hog", hog },
    };
    static const struct {
        const char *name;
        int       (*run)(const char *);
    } with_argument[] = { { "dlopen", load }, { "die", die }, { "exit", leave } };

    alarm(TIMEOUT_S);
    for (size_t i = 0; argc == 2 && i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(argv[1], plain[i].name) == 0)
            return plain[i].run();
    }
    for (size_t i = 0; argc == 3 && i < sizeof with_argument / sizeof with_argument[0]; i++) {
        if (strcmp(argv[1], with_argument[i].name) == 0)
            return with_argument[i].run(argv[2]);
    }
    if (argc > 3 && strcmp(argv[1], "ends-by") == 0)
        return ends_by(argv[2], argv + 3);
    fputs("usage: interposed BEHAVIOUR, see the end of interposed.c\n", stderr);
    return 2;
}

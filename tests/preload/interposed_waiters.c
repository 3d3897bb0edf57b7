/* SPDX-License-Identifier: MIT */
/* interposed_waiters.c - threads that wait, a way to see that they sleep, and other helpers. */
#include "interposed.h"

const struct timespec past = { 1, 0 };
_Atomic int stop;

void die_silently(void)
{
    const struct rlimit none = { 0, 0 };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    MUST(null >= 0 && dup2(null, STDERR_FILENO) == STDERR_FILENO);
    MUST(setrlimit(RLIMIT_CORE, &none) == 0);
}

static void *wait_once(void *arg)
{
    struct waiter *w = arg;
    int result;

    atomic_store(&w->tid, gettid());
    errno = 0;
    result = sem_wait(w->sem);
    if (result == 0 && w->service != NULL)
        w->place = atomic_fetch_add(w->service, 1);
    atomic_store(&w->result, errno);        /* success leaves errno 0 */
    return NULL;
}

bool sleeps(pid_t process, pid_t thread)
{
    char path[64], text[512], *state;
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process, (long)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    state = strrchr(text, ')');     /* the name of the thread may contain any character, even ')' */
    return state != NULL && strncmp(state, ") S", 3) == 0;
}

/* The thread makes no other call that sleeps.
 * Take several samples, as the kernel may make it sleep for a moment.
 */
bool await_sleep(struct waiter *w)
{
    int seen = 0;

    while (atomic_load(&w->tid) == 0)
        moment();
    while (seen < 5 && atomic_load(&w->result) == STILL_WAITING) {
        seen = sleeps(getpid(), atomic_load(&w->tid)) ? seen + 1 : 0;
        moment();
    }
    return seen == 5;
}

void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int error = pthread_create(thread, NULL, run, arg);

    errno = error;
    MUST(error == 0);
}

void queue(struct waiter *w, sem_t *sem)
{
    w->sem = sem;
    atomic_store(&w->tid, 0);
    atomic_store(&w->result, STILL_WAITING);
    start(&w->thread, wait_once, w);
    MUST(await_sleep(w));
}

int join(struct waiter *w)
{
    MUST(pthread_join(w->thread, NULL) == 0);
    return atomic_load(&w->result);
}

void contend(sem_t *sem)
{
    struct waiter w = { 0 };

    queue(&w, sem);
    MUST(sem_post(sem) == 0);
    MUST(join(&w) == 0);
}

int value_of(sem_t *sem)
{
    int value = -1;

    MUST(sem_getvalue(sem, &value) == 0);
    return value;
}

/* The first word of a libc semaphore of value 3 is 3; the interposer stores something else. */
bool is_interposed(void)
{
    sem_t sem;
    uint64_t word;

    MUST(sem_init(&sem, 0, 3) == 0);
    memcpy(&word, &sem, sizeof word);
    return word != 3;
}

int child_status(pid_t child)
{
    int status;

    MUST(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

void start_all(pthread_t *thread, int count, void *(*run)(void *), void *arg)
{
    for (int i = 0; i < count; i++)
        start(&thread[i], run, arg);
}

void join_all(pthread_t *thread, int count)
{
    for (int i = 0; i < count; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

void stop_all(pthread_t *thread, int count)
{
    atomic_store(&stop, 1);
    join_all(thread, count);
}

/* A thread that takes the unit again and again, and keeps it for a moment so that others must wait. */
void *take_and_give(void *arg)
{
    while (!atomic_load(&stop)) {
        if (sem_wait(arg) == 0) {
            moment();
            sem_post(arg);
        }
    }
    return NULL;
}

struct timespec soon(clockid_t clock, long us)
{
    struct timespec at;

    clock_gettime(clock, &at);
    at.tv_nsec += us * 1000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

void handle(int sig, void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    MUST(sigaction(sig, &action, NULL) == 0);
}

void handle_info(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO };

    sigemptyset(&action.sa_mask);
    MUST(sigaction(sig, &action, NULL) == 0);
}

bool blocks_no_signal(void)
{
    sigset_t blocked;
    int count = 0;

    MUST(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
    for (int sig = 1; sig < FS_NSIG; sig++)
        count += sigismember(&blocked, sig) == 1;
    return count == 0;
}

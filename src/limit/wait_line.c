/* SPDX-License-Identifier: MIT */
/*
 * wait_line.c - see wait_line.h.
 *
 * A wait in the library blocks its thread, and no signal ends it.  So a second thread receives the
 * signals, shows the progress, and cancels the wait of the first with a token.
 */
#include "wait_line.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct watcher {
    const struct line *line;
    fairsem_token_t    token;
    sigset_t           before;      /* the mask of the process */
    int                signals;     /* a descriptor for the signals that end the process */
    int                over;        /* a descriptor that is readable when the wait is over */
    int                signal;      /* the signal that has come; 0: none */
    pthread_t          thread;
};

/* Not the signals that the process ignores or blocks, because the command inherits that. */
static void choose_signals(sigset_t *chosen)
{
    static const int candidates[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
    struct sigaction action;
    sigset_t blocked;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sigemptyset(chosen);
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (!sigismember(&blocked, candidates[i])
            && sigaction(candidates[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(chosen, candidates[i]);
    }
}

/* Die by the signal, which is blocked. */
static void die(struct watcher *w)
{
    kill(getpid(), w->signal);      /* arrives with the next line, and ends the process */
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    /* The first process of a container: the kernel ends it by no signal that it does not handle. */
    exit(128 + w->signal);
}

static void *watch_signals(void *arg)
{
    struct watcher *w = arg;
    struct pollfd ready[2] = { { .fd = w->over, .events = POLLIN },
                               { .fd = w->signals, .events = POLLIN } };
    struct signalfd_siginfo info;
    struct progress progress;

    progress_begin(&progress, w->line->name, w->line->ask, w->line->arg);
    while (poll(ready, 2, progress_show(&progress)) >= 0 || errno == EINTR) {
        if (ready[0].revents != 0)
            break;
        if (ready[1].revents == 0 || read(w->signals, &info, sizeof info) != sizeof info)
            continue;
        w->signal = (int)info.ssi_signo;
        fairsem_token_cancel(&w->token, ECANCELED);
        break;
    }
    progress_end(&progress);
    if (w->signal != 0 && poll(ready, 1, w->line->patience_ms) == 0)
        die(w);
    return NULL;
}

/*
 * Before Linux 5.11 an exec loses the record lock of a process with several threads, and for the
 * kernel a thread that was joined may still be one.
 */
static void wait_until_alone(void)
{
    static const struct timespec pause = { .tv_nsec = 1000000 };
    struct stat st;

    for (int i = 0; i < 1000 && stat("/proc/self/task", &st) == 0 && st.st_nlink > 3; i++)
        nanosleep(&pause, NULL);
}

static bool start_watcher(struct watcher *w)
{
    sigset_t chosen;

    choose_signals(&chosen);
    w->over = eventfd(0, EFD_CLOEXEC);
    w->signals = signalfd(-1, &chosen, SFD_CLOEXEC | SFD_NONBLOCK);
    pthread_sigmask(SIG_BLOCK, &chosen, &w->before);
    if (w->over >= 0 && w->signals >= 0 && pthread_create(&w->thread, NULL, watch_signals, w) == 0)
        return true;
    /* Without the thread, a signal kills the process, and the others notice a moment later. */
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    return false;
}

static void stop(struct watcher *w)
{
    static const uint64_t one = 1;

    while (write(w->over, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(w->thread, NULL);
    if (w->line->exec)
        wait_until_alone();
    if (w->signal != 0) {
        w->line->leave(w->line->arg);
        die(w);
    }
}

int wait_line(const struct line *line, const fairsem_wait_t *how)
{
    struct watcher watcher = { .line = line, .token = FAIRSEM_TOKEN_INITIALIZER };
    fairsem_wait_t cancelable = *how;
    bool started;
    int error;

    cancelable.token = &watcher.token;
    started = start_watcher(&watcher);
    error = line->acquire(line->arg, &cancelable);
    if (started)
        stop(&watcher);
    if (error == 0 && line->mask != NULL) {
        *line->mask = watcher.before;
        sigfillset(&watcher.before);
    }
    pthread_sigmask(SIG_SETMASK, &watcher.before, NULL);
    close(watcher.over);
    close(watcher.signals);
    fairsem_token_destroy(&watcher.token);
    return error;
}

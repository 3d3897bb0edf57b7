/* SPDX-License-Identifier: MIT */
/*
 * wait_line.c - see wait_line.h.
 *
 * The first thread waits in the library, where signals do not interrupt a wait.  A second thread receives the
 * signals, prints the progress line, and after a signal cancels the wait by a token.
 */
#include "wait_line.h"

#include "output.h"
#include "run/duration.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ERASE "\r\033[K"

struct watcher {
    const struct wait *wait;
    fairsem_token_t    token;
    sigset_t           before;      /* the signal mask before the wait */
    int                signals;     /* a descriptor for the signals that end the process */
    int                over;        /* a descriptor that is readable when the wait is over */
    int                signal;      /* the signal that has arrived, or 0 */
    pthread_t          thread;
    int                terminal;    /* a descriptor for the progress line, or -1 if stderr is not a terminal */
    bool               shown;       /* the terminal shows the progress line now */
    struct timespec    began;
};

/* ---- The progress line ---- */

/* Returns how many bytes of the text fit.  A character of three or more bytes counts as two columns. */
static size_t bytes_in(const char *text, int columns)
{
    size_t length = 0;

    for (; text[length] != '\0'; length++) {
        unsigned char c = (unsigned char)text[length];

        columns -= c >= 0xe0 ? 2 : (c & 0xc0) != 0x80;
        if (columns < 0)
            break;
    }
    return length;
}

/*
 * Returns the number of columns minus one: some terminals wrap after the last column, and a wrapped line cannot
 * be erased.
 */
static int columns_of(int terminal)
{
    struct winsize size;

    return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : 79;
}

/*
 * Open the terminal again, because O_NONBLOCK on stderr would affect every process that shares stderr.  A write
 * must not block the second thread, even if Ctrl-S stops the output: the second thread also receives the
 * signals, and the first thread, which may already hold the units, joins the second.  Text that the terminal
 * does not accept at once is lost.
 */
static int open_terminal(void)
{
    return terminal_can_erase(STDERR_FILENO)
           ? open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
}

/* Returns the milliseconds until the next call, or -1 if no call is needed. */
static int show_progress(struct watcher *w)
{
    struct queue_position position = { 0 };
    char waited[DURATION_SIZE], place[40] = "", running[30] = "", text[600];
    int columns, less = 0;

    if (w->terminal < 0)
        return -1;
    /* The line of a background process would disturb the output of other programs. */
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !w->wait->position(w->wait->arg, &position))
        return 1000;
    duration_text(duration_since(&w->began), waited);
    if (position.number > 0) {
        snprintf(place, sizeof place, "%" PRId64 "%s in line, ", position.number,
                 ordinal_suffix(position.number));
        snprintf(running, sizeof running, "%d running, ", position.running);
    }
    columns = columns_of(w->terminal);
    do
        snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", less < 1 ? w->wait->name : "", less < 1 ? ": " : "",
                 place, less < 2 ? running : "", less < 2 ? "waited " : "", waited,
                 position.trouble != NULL ? "; " : "",
                 position.trouble != NULL ? position.trouble : "");
    while (text[bytes_in(text, columns)] != '\0' && ++less <= 2);
    dprintf(w->terminal, ERASE "%.*s", (int)bytes_in(text, columns), text);
    w->shown = true;
    return 1000;
}

/* ---- The signals ---- */

/*
 * Choose the signals for the second thread.  A signal that this process ignores or blocks, as under nohup(1),
 * is left out, because such a signal must not end the wait.
 */
static void choose_signals(sigset_t *chosen)
{
    static const int candidates[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
                                      SIGUSR1, SIGUSR2 };
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

/* Die by w->signal, which is blocked until the old mask is restored. */
static void die(struct watcher *w)
{
    kill(getpid(), w->signal);      /* pending until the next statement, which ends the process */
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    /* Only the first process of a container comes here: a signal without a handler does not kill it. */
    exit(128 + w->signal);
}

static bool signal_came(struct watcher *w)
{
    struct signalfd_siginfo info;

    if (w->signal == 0 && read(w->signals, &info, sizeof info) == sizeof info)
        w->signal = (int)info.ssi_signo;
    return w->signal != 0;
}

static void *watch_signals(void *arg)
{
    struct watcher *w = arg;
    struct pollfd ready[2] = { { .fd = w->over, .events = POLLIN },
                               { .fd = w->signals, .events = POLLIN } };

    w->terminal = open_terminal();
    clock_gettime(CLOCK_MONOTONIC, &w->began);
    while (poll(ready, 2, show_progress(w)) >= 0 || errno == EINTR) {
        if (ready[0].revents != 0)
            break;
        if (signal_came(w)) {
            fairsem_token_cancel(&w->token, ECANCELED);
            break;
        }
    }
    if (w->shown)
        dprintf(w->terminal, ERASE);
    if (w->terminal >= 0)
        close(w->terminal);
    if (w->signal != 0 && poll(ready, 1, w->wait->leave_timeout_ms) == 0)
        die(w);
    return NULL;
}

/*
 * Wait until the kernel no longer counts the joined thread.  Before Linux 5.11, an exec with several threads
 * loses the record locks of the process, and thus its units.
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
    /* Without the second thread, a signal kills the process, and failure detection returns its units. */
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    return false;
}

static void stop(struct watcher *w)
{
    static const uint64_t one = 1;

    while (write(w->over, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(w->thread, NULL);
    if (w->wait->exec)
        wait_until_alone();
    if (signal_came(w)) {           /* a signal may also have arrived after the end of the wait */
        w->wait->leave(w->wait->arg);
        die(w);
    }
}

int wait_line(const struct wait *wait, const fairsem_wait_t *how)
{
    struct watcher watcher = { .wait = wait, .token = FAIRSEM_TOKEN_INITIALIZER };
    fairsem_wait_t cancelable = *how;
    bool started;
    int error;

    cancelable.token = &watcher.token;
    started = start_watcher(&watcher);
    error = wait->acquire(wait->arg, &cancelable);
    if (started)
        stop(&watcher);
    if (error == 0 && wait->mask != NULL) {
        *wait->mask = watcher.before;
        sigfillset(&watcher.before);
    }
    pthread_sigmask(SIG_SETMASK, &watcher.before, NULL);
    close(watcher.over);
    close(watcher.signals);
    fairsem_token_destroy(&watcher.token);
    return error;
}

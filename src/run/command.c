/* SPDX-License-Identifier: MIT */
/* command.c - see command.h. */
#define _GNU_SOURCE
#include "command.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int command_failed(const struct command *command, int error)
{
    warnx("%s: %s", command->words[0], strerror(error));
    return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

/* ---- Find the command ---- */

/*
 * May this process execute the file?  Returns 0 or an errno value.  EPERM says nothing about the file: old
 * container engines reject the system call faccessat2 with EPERM, and after EPERM libc tries no other call.
 * So after EPERM the exec decides.
 */
static int can_execute(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 || errno == EPERM ? 0 : errno;
}

/* Search the directories of PATH, as execvp does.  Returns 0 or an errno value. */
static int search(struct command *command, const char *directories)
{
    const char *name = command->words[0];
    int error, result = ENOENT;

    for (const char *at = directories;; at++) {
        size_t length = strcspn(at, ":");

        if (length < PATH_MAX && *name != '\0' && strlen(name) <= NAME_MAX) {
            snprintf(command->path, sizeof command->path, "%.*s%s%s", (int)length, at,
                     length > 0 ? "/" : "", name);
            error = can_execute(command->path);
            if (error == 0)
                return 0;
            if (error == EACCES)
                result = EACCES;
        }
        at += length;
        if (*at == '\0')
            return result;
    }
}

int find_command(struct command *command, char **words)
{
    const char *directories = getenv("PATH");
    int error;

    *command = (struct command){ .words = words };
    if (strchr(*words, '/') == NULL) {
        error = search(command, directories != NULL ? directories : "/usr/local/bin:/bin:/usr/bin");
    } else if (strlen(*words) < sizeof command->path) {
        strcpy(command->path, *words);
        error = can_execute(command->path);
    } else {
        error = ENAMETOOLONG;
    }
    return error != 0 ? command_failed(command, error) : 0;
}

/* ---- Become the command ---- */

/* execvp() also runs a script without "#!", and a command that has moved since the search. */
int command_exec(const struct command *command)
{
    execv(command->path, command->words);
    execvp(command->words[0], command->words);
    return errno;
}

int run_here(const struct command *command)
{
    return command_failed(command, command_exec(command));
}

/* ---- Stay as its parent ---- */

enum { TIMERS = ITIMER_PROF + 1 };

struct before {
    sigset_t         mask;
    struct sigaction on_child;
    struct itimerval timers[TIMERS];
};

/*
 * Variables in which systemd passes the process ID of the service: only the process with this ID uses the
 * passed descriptors and the watchdog (sd_listen_fds(3), sd_watchdog_enabled(3)).  The child, which shares
 * our memory, writes its own ID into these strings.
 */
static const char *const pid_names[] = { "LISTEN_PID", "WATCHDOG_PID" };
enum { PID_NAMES = sizeof pid_names / sizeof pid_names[0] };
static char pid_strings[PID_NAMES][40];

static void write_pids(pid_t pid)
{
    for (int i = 0; i < PID_NAMES; i++)
        snprintf(pid_strings[i], sizeof pid_strings[i], "%s=%ld", pid_names[i], (long)pid);
}

static void pass_pids_on(pid_t self)
{
    char number[24];

    snprintf(number, sizeof number, "%ld", (long)self);
    write_pids(self);
    for (int i = 0; i < PID_NAMES; i++) {
        const char *value = getenv(pid_names[i]);

        if (value != NULL && strcmp(value, number) == 0) {
            putenv(pid_strings[i]);
            unsetenv("LISTEN_PIDFDID");     /* optional; it names this process by a pidfd */
        }
    }
}

/*
 * Start the child by vfork: to copy our memory would take as long as everything else.  Until the exec, the
 * child uses our memory, and this process is suspended.
 */
static pid_t start_child(struct command *command, const struct before *before, bool outlived)
{
    const pid_t self = getpid();
    pid_t child;

    pass_pids_on(self);
    child = vfork();
    if (child != 0)
        return child;
    write_pids(getpid());
    if (!outlived)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!outlived && getppid() != self)     /* the parent was killed before the prctl */
        kill(getpid(), SIGKILL);
    sigaction(SIGCHLD, &before->on_child, NULL);
    sigprocmask(SIG_SETMASK, command->mask != NULL ? command->mask : &before->mask, NULL);
    for (int i = 0; i < TIMERS; i++)
        setitimer(i, &before->timers[i], NULL);
    command->error = command_exec(command);
    _exit(CANNOT_RUN);
}

/*
 * Must the signal be forwarded?  Signals from the terminal reach the child without us, with two exceptions:
 * on a hangup the kernel sends SIGHUP and then SIGCONT only to the leader of the session.  Other signals
 * from the kernel are meant for the command: an alarm from before the fork, SIGIO, SIGXCPU.
 */
static bool must_forward(const siginfo_t *info)
{
    if (info->si_code <= 0)     /* another process has sent it */
        return true;
    switch (info->si_signo) {
    case SIGINT: case SIGQUIT: case SIGTSTP: case SIGTTIN: case SIGTTOU: case SIGWINCH:
        return false;
    case SIGHUP: case SIGCONT:
        return getsid(0) == getpid();
    default:
        return true;
    }
}

/*
 * Stop by the signal that has stopped the child, so that the shell that waits for us sees a stopped job.
 * This process stops after the child, because the child may have to restore the terminal first, or may
 * ignore Ctrl-Z.  If SIGSTOP has stopped the child, this process goes on: no terminal sends SIGSTOP, and
 * perhaps no process would continue us.
 */
static void stop_too(pid_t child, int signal)
{
    static const struct timespec at_once;
    sigset_t go_on, stop;

    sigemptyset(&go_on);
    sigaddset(&go_on, SIGCONT);
    sigemptyset(&stop);
    sigaddset(&stop, signal);
    if (sigtimedwait(&go_on, NULL, &at_once) == SIGCONT) {
        kill(child, SIGCONT);
    } else if (signal != SIGSTOP) {
        raise(signal);
        sigprocmask(SIG_UNBLOCK, &stop, NULL);      /* this process stops here */
        sigprocmask(SIG_BLOCK, &stop, NULL);
    }
}

/*
 * Wait for a signal.  If there is a check(), call it first, and wait only until the supervisor's fd is readable
 * or the next call of check() is due.  Returns the signal, or -1 if none has come.
 */
static int next_signal(pid_t child, const sigset_t *signals, struct supervisor *supervisor, siginfo_t *info)
{
    static const struct timespec at_once;
    struct pollfd ready[2] = { { .events = POLLIN }, { .events = POLLIN } };

    if (supervisor->check == NULL)
        return sigwaitinfo(signals, info);
    ready[0].fd = supervisor->signals;
    ready[1].fd = supervisor->fd;
    poll(ready, 2, supervisor->check(supervisor, child));
    return sigtimedwait(signals, info, &at_once);
}

/* Forward signals until the child has ended.  Returns its wait status. */
static int supervise(pid_t child, const sigset_t *signals, struct supervisor *supervisor)
{
    siginfo_t info;
    pid_t ended;
    int status;

    for (;;) {
        int signal = next_signal(child, signals, supervisor, &info);

        if (signal == SIGCHLD) {
            /* Reap orphans, too: this process adopts them as a subreaper, or as process 1 of a container. */
            while ((ended = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
                if (ended != child)
                    continue;
                if (!WIFSTOPPED(status))
                    return status;
                stop_too(child, WSTOPSIG(status));
            }
        } else if (signal > 0 && must_forward(&info)) {
            kill(child, signal);
        }
    }
}

/* Only the child dumps core, not this process. */
int end_like(int status)
{
    const struct rlimit none = { 0, 0 };
    sigset_t mask;

    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return 128 + WTERMSIG(status);
}

/*
 * Block all signals, and start the command.  Returns its process ID, or -1 with command->error set.  The
 * command gets the timers of alarm() and setitimer(), as after an exec; a fork does not copy timers.
 */
static pid_t start_as_child(struct command *command, sigset_t *signals, bool outlived)
{
    const struct sigaction to_default = { .sa_handler = SIG_DFL };
    const struct itimerval none = { .it_value = { 0 } };
    struct before before;
    pid_t child;

    sigfillset(signals);
    sigprocmask(SIG_BLOCK, signals, &before.mask);
    sigaction(SIGCHLD, &to_default, &before.on_child);  /* if SIGCHLD is ignored, waitpid fails */
    for (int i = 0; i < TIMERS; i++)
        setitimer(i, &none, &before.timers[i]);
    child = start_child(command, &before, outlived);
    if (child < 0)
        command->error = errno;
    return child;
}

int run_as_child(struct command *command, struct supervisor *supervisor)
{
    sigset_t signals;
    pid_t child = start_as_child(command, &signals, supervisor->outlived);
    int status = -1;

    if (child >= 0) {
        if (supervisor->check != NULL)
            supervisor->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        status = supervise(child, &signals, supervisor);
        if (supervisor->check != NULL)
            close(supervisor->signals);
    }
    if (!supervisor->ended(supervisor, status))
        return OWN_FAILURE;
    if (child < 0)
        warnx("fork: %s", strerror(command->error));
    else if (command->error != 0)
        return command_failed(command, command->error);
    return child < 0 ? OWN_FAILURE : end_like(status);
}

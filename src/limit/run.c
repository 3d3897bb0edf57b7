/* SPDX-License-Identifier: MIT */
/* run.c - see run.h. */
#define _GNU_SOURCE
#include "run.h"

#include "request.h"
#include "turn.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int become(char **command)
{
    int error;

    execvp(command[0], command);
    error = errno;
    warn("%s", command[0]);
    return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

int run_here(fairsem_shared_t *slots, const char *name, char **command)
{
    int error = fairsem_shared_keep_on_exec(slots, true);

    if (error != 0) {
        warnx("%s: %s", name, turn_error(error));
        return OWN_FAILURE;
    }
    return become(command);
}

/* ---- With --fork ---- */

/* All signals except those by which the terminal stops us: it also stops the child. */
static void choose_signals(sigset_t *chosen)
{
    sigfillset(chosen);
    sigdelset(chosen, SIGTSTP);
    sigdelset(chosen, SIGTTIN);
    sigdelset(chosen, SIGTTOU);
}

static void become_child(char **command, pid_t parent, const sigset_t *mask,
                         const struct sigaction *on_child)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)        /* the parent was killed before the prctl */
        raise(SIGKILL);
    sigaction(SIGCHLD, on_child, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    _exit(become(command));
}

/*
 * Signals that other processes send.  Those of the terminal reach the child anyway, except one:
 * when the terminal is gone, the kernel tells only the leader of the session.
 */
static bool must_forward(const siginfo_t *info)
{
    return info->si_code <= 0 || (info->si_signo == SIGHUP && getsid(0) == getpid());
}

/* Forward signals until the child has ended. */
static int accompany(pid_t child, const sigset_t *signals)
{
    siginfo_t info;
    int status;

    for (;;) {
        int signal = sigwaitinfo(signals, &info);

        if (signal == SIGCHLD) {
            if (waitpid(child, &status, WNOHANG) == child)
                return status;
        } else if (signal > 0 && must_forward(&info)) {
            kill(child, signal);
        }
    }
}

/* Die by the signal that killed the child, without a core dump of our own. */
static int end_like(int status)
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

int run_as_child(fairsem_shared_t *slots, char **command)
{
    const struct sigaction to_default = { .sa_handler = SIG_DFL };
    struct sigaction on_child;
    const pid_t self = getpid();
    sigset_t signals, before;
    pid_t child;
    int status;

    choose_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before);
    sigaction(SIGCHLD, &to_default, &on_child);     /* if it is ignored, waitpid fails */
    child = fork();
    if (child == 0)
        become_child(command, self, &before, &on_child);
    if (child < 0) {
        warn("fork");
        return OWN_FAILURE;
    }
    status = accompany(child, &signals);
    fairsem_shared_close(slots);    /* so the next one need not first find that we are dead */
    return end_like(status);
}

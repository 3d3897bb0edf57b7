/* SPDX-License-Identifier: MIT */
/* keeper.c - see keeper.h. */
#include "keeper.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

int fs_keeper_open(struct fs_keeper *keeper, const struct fs_options *options)
{
    int error = 0;

    keeper->options = *options;
    keeper->process = getpid();
    keeper->jobs = NULL;
    keeper->claims = 0;
    keeper->runs = keeper->joinable = keeper->quits = false;
    keeper->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (keeper->event < 0)
        return errno;
    keeper->alarm = fs_alarm_open();
    if (keeper->alarm < 0)
        error = errno;
    if (error == 0) {
        error = fs_engine_open(&keeper->engine, &keeper->options);
        if (error != 0)
            close(keeper->alarm);
    }
    if (error == 0) {
        error = pthread_mutex_init(&keeper->mutex, NULL);
        if (error != 0) {
            fs_engine_close(keeper->engine);
            close(keeper->alarm);
        }
    }
    if (error != 0)
        close(keeper->event);
    return error;
}

void fs_keeper_close(struct fs_keeper *keeper)
{
    int state;

    fs_keeper_lock(keeper, &state);
    keeper->quits = true;
    fs_keeper_unlock(keeper, PTHREAD_CANCEL_DISABLE);
    if (keeper->joinable)
        pthread_join(keeper->thread, NULL);
    fs_engine_close(keeper->engine);
    fs_options_free(&keeper->options);
    close(keeper->alarm);
    close(keeper->event);
    pthread_mutex_destroy(&keeper->mutex);
    pthread_setcancelstate(state, &state);
}

bool fs_keeper_is_foreign(const struct fs_keeper *keeper)
{
    return keeper->process != getpid();
}

void fs_keeper_lock(struct fs_keeper *keeper, int *cancel_state)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel_state);
    pthread_mutex_lock(&keeper->mutex);
}

void fs_keeper_unlock(struct fs_keeper *keeper, int cancel_state)
{
    int ignored;

    pthread_mutex_unlock(&keeper->mutex);
    fs_engine_wake(keeper->engine);
    pthread_setcancelstate(cancel_state, &ignored);
}

void fs_keeper_tell(struct fs_keeper *keeper)
{
    eventfd_write(keeper->event, 1);
}

/* One turn of all jobs.  It returns the time of the next. */
static int64_t turn(struct fs_keeper *keeper)
{
    int64_t now = fs_boot_now();
    int64_t next = fs_engine_turn(keeper->engine, now);

    for (struct fs_job **link = &keeper->jobs; *link != NULL;) {
        struct fs_job *job = *link, *behind = job->next;
        int64_t at = job->turn(job, now);

        if (at == FS_JOB_OVER) {
            *link = behind;
        } else {
            next = fs_earlier(next, at);
            link = &job->next;
        }
    }
    return next;
}

static void *keep(void *arg)
{
    struct fs_keeper *keeper = arg;

    pthread_mutex_lock(&keeper->mutex);
    for (;;) {
        int64_t next = turn(keeper);

        if (keeper->jobs == NULL)
            break;
        fs_alarm_set(keeper->alarm, next);
        pthread_mutex_unlock(&keeper->mutex);
        fs_engine_wait(keeper->engine, keeper->alarm);
        pthread_mutex_lock(&keeper->mutex);
    }
    keeper->runs = false;
    pthread_mutex_unlock(&keeper->mutex);
    return NULL;
}

/* Signals are for the program's own threads. */
static int start(struct fs_keeper *keeper)
{
    sigset_t all, old;
    int error;

    if (keeper->joinable)
        pthread_join(keeper->thread, NULL);     /* it has ended, or is about to */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&keeper->thread, NULL, keep, keeper);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    keeper->joinable = keeper->runs = error == 0;
    return error == 0 ? 0 : EAGAIN;
}

int fs_keeper_add(struct fs_keeper *keeper, struct fs_job *job)
{
    int error = 0;

    job->next = keeper->jobs;
    keeper->jobs = job;
    if (!keeper->runs)
        error = start(keeper);
    if (error != 0)
        keeper->jobs = job->next;
    return error;
}

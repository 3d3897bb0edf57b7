/* SPDX-License-Identifier: MIT */
/* loop.c - see loop.h. */
#include "loop.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int fs_loop_open(fairsem_cluster_t *handle)
{
    int error;

    handle->process = getpid();
    handle->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    handle->alarm = handle->event < 0 ? -1 : timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    error = handle->alarm < 0 ? errno : fs_engine_open(&handle->engine, &handle->options);
    if (error != 0) {
        close(handle->alarm);
        close(handle->event);
        fs_options_free(&handle->options);
    }
    pthread_mutex_init(&handle->mutex, NULL);
    return error;
}

void fs_loop_close(fairsem_cluster_t *handle)
{
    int state;

    fs_loop_lock(handle, &state);
    handle->quits = true;
    fs_loop_unlock(handle, PTHREAD_CANCEL_DISABLE);
    if (handle->joinable)
        pthread_join(handle->thread, NULL);
    fs_engine_close(handle->engine);
    fs_options_free(&handle->options);
    close(handle->alarm);
    close(handle->event);
    pthread_mutex_destroy(&handle->mutex);
    pthread_setcancelstate(state, &state);
}

bool fs_loop_is_inherited(const fairsem_cluster_t *handle)
{
    return handle->process != getpid();
}

void fs_loop_lock(fairsem_cluster_t *handle, int *cancel_state)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel_state);
    pthread_mutex_lock(&handle->mutex);
}

void fs_loop_unlock(fairsem_cluster_t *handle, int cancel_state)
{
    int ignored;

    pthread_mutex_unlock(&handle->mutex);
    fs_engine_wake(handle->engine);
    pthread_setcancelstate(cancel_state, &ignored);
}

void fs_loop_notify(fairsem_cluster_t *handle)
{
    eventfd_write(handle->event, 1);
}

static int64_t iterate_all(fairsem_cluster_t *handle)
{
    int64_t now = fs_boot_now();
    int64_t next = fs_engine_iterate(handle->engine, now);

    for (struct fs_task **link = &handle->tasks; *link != NULL;) {
        struct fs_task *task = *link, *behind = task->next;
        int64_t at = task->iterate(task, now);

        if (at == FS_TASK_OVER) {
            *link = behind;
        } else {
            next = fs_earlier(next, at);
            link = &task->next;
        }
    }
    return next;
}

static void *loop_thread(void *arg)
{
    fairsem_cluster_t *handle = arg;

    pthread_mutex_lock(&handle->mutex);
    for (;;) {
        int64_t next = iterate_all(handle);

        if (handle->tasks == NULL)
            break;
        fs_alarm_set(handle->alarm, next);
        pthread_mutex_unlock(&handle->mutex);
        fs_engine_wait(handle->engine, handle->alarm);
        pthread_mutex_lock(&handle->mutex);
    }
    handle->runs = false;
    pthread_mutex_unlock(&handle->mutex);
    return NULL;
}

/* Create the thread, with all signals blocked: signals are for the program's own threads. */
static int start_loop(fairsem_cluster_t *handle)
{
    sigset_t all, old;
    int error;

    if (handle->joinable)
        pthread_join(handle->thread, NULL);     /* the thread has ended, or is about to end */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&handle->thread, NULL, loop_thread, handle);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    handle->joinable = handle->runs = error == 0;
    return error == 0 ? 0 : EAGAIN;
}

int fs_loop_add(fairsem_cluster_t *handle, struct fs_task *task)
{
    int error = 0;

    task->next = handle->tasks;
    handle->tasks = task;
    if (!handle->runs)
        error = start_loop(handle);
    if (error != 0)
        handle->tasks = task->next;
    return error;
}

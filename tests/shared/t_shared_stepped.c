/* SPDX-License-Identifier: MIT */
/*
 * t_shared_stepped.c - a process is killed before any instruction of a call.  No unit is lost.
 *
 * ../search/shared/ kills a simulated process before each store.  This test runs real processes, and counts
 * their instructions with ptrace.  A system call counts as one instruction.
 */
#define _GNU_SOURCE             /* syscall */
#include "crowd.h"
#include "emulated.h"

#include "shared/attach.h"

#include <limits.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { UNITS = 2 };

static fairsem_shared_t *sem;

/* ---- The calls that are cut short ---- */

static void use_and_return(void)
{
    CHILD_CHECK(fairsem_shared_acquire(sem, 1) == 0);
    CHILD_CHECK(fairsem_shared_release(sem, 1) == 0);
}

static void grant(void)
{
    CHILD_CHECK(fairsem_shared_release(sem, 1) == 0);
}

static void time_out(void)
{
    CHILD_CHECK(fairsem_shared_acquire_for(sem, UNITS, 1) == ETIMEDOUT);
}

static void close_it(void)
{
    CHILD_CHECK(fairsem_shared_close(sem) == 0);
}

/* The first call after a death in a section repairs the segment. */
static void repair(void)
{
    CHILD_CHECK(fairsem_shared_available(sem) >= 0);
}

static const struct call {
    const char *name;
    int  held;              /* units that the child acquires before its steps are counted */
    bool others;            /* another child waits for all units meanwhile */
    bool ours;              /* the test holds a unit */
    void (*run)(void);
} calls[] = {
    { "attach, acquire, release", 0, false, false, use_and_return },
    { "acquire, release",         1, false, false, use_and_return },
    { "release, granted",         1, true,  false, grant },
    { "wait, time out",           0, false, true,  time_out },
    { "close",                    1, true,  false, close_it },
};

/* ---- Step by step ---- */

/* Returns a child that stops before its call, or -1 if it cannot be traced here. */
static pid_t begin(const struct call *call)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        CHILD_CHECK(call->held == 0 || fairsem_shared_acquire(sem, call->held) == 0);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(SKIPPED);
        raise(SIGSTOP);
        call->run();
        /* Not _exit(): in a build for coverage, it takes half a million instructions. */
        syscall(SYS_exit_group, 0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        return -1;
    ck_assert_msg(WIFSTOPPED(status), "%s: status %x", call->name, (unsigned)status);
    return child;
}

/* Let the child run one instruction.  Returns false if it has ended. */
static bool step(const struct call *call, pid_t child)
{
    int status;

    ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status))
        return true;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %x", call->name,
                  (unsigned)status);
    return false;
}

/* Kill the child after k instructions, or let it end.  Returns how many instructions the child ran. */
static long kill_after(const struct call *call, pid_t child, long k)
{
    for (long done = 0; done < k; done++) {
        if (!step(call, child))
            return done;
    }
    kill_child(child);
    return k;
}

static void check_whole(const struct call *call, long k)
{
    int64_t units = 0;

    while (fairsem_shared_tryacquire(sem, 1) == 0)
        units++;
    ck_assert_msg(units == UNITS, "%s: killed after %ld instructions, %d units are left",
                  call->name, k, (int)units);
    ck_assert_int_eq(fairsem_shared_waiters(sem), 0);
    ck_assert_int_eq(fairsem_shared_close(sem), 0);
}

/* Returns as kill_after(). */
static long cut(const struct call *call, long k)
{
    pid_t child, other = 0;
    long done;

    sem = make_small_segment(UNITS, 0, 4, 4);
    if (call->ours)
        ck_assert_int_eq(fairsem_shared_acquire(sem, 1), 0);
    child = begin(call);
    if (call->others) {
        other = queue_user(sem, UNITS);
    }
    done = kill_after(call, child, k);
    if (call->ours)
        ck_assert_int_eq(fairsem_shared_release(sem, 1), 0);
    if (call->others)
        ck_assert_int_eq(status_of(other), 0);
    check_whole(call, k);
    return done;
}

/* One child dies in a release, with the segment's lock.  Another child dies while it repairs the segment. */
static long cut_repair(const struct call *call, long k)
{
    static const struct call first = { "release", 1, true, false, grant };
    pid_t child, other, healer;
    long done;

    sem = make_small_segment(UNITS, 0, 4, 4);
    child = begin(&first);
    other = queue_user(sem, UNITS);
    healer = begin(call);
    while (FS_GET(&sem->segment->lock) == 0)
        ck_assert(step(&first, child));
    kill_child(child);
    done = kill_after(call, healer, k);
    ck_assert_int_eq(status_of(other), 0);
    check_whole(call, k);
    return done;
}

static bool can_step(void)
{
    pid_t child;

    sem = make_small_segment(UNITS, 0, 4, 4);
    child = begin(&calls[0]);
    if (child != -1) {
        bool works = ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0;

        if (works)
            waitpid(child, NULL, 0);
        kill_child(child);
        ck_assert_int_eq(fairsem_shared_close(sem), 0);
        return works;
    }
    return false;
}

static void cut_everywhere(long (*cut_once)(const struct call *, long), const struct call *call)
{
    const long places = setting("FAIRSEM_SHARED_TIMES", 1, 1) > 1 ? 200 : 5;
    const long all = cut_once(call, LONG_MAX);

    ck_assert_int_gt(all, 100);
    for (long i = 0; i < places; i++)
        cut_once(call, 1 + i * (all - 1) / (places - 1));
}

START_TEST(a_death_before_any_instruction_loses_no_unit)
{
    if (UNDER_TSAN || UNDER_ASAN || emulated())
        NOT_HERE("no single steps under a sanitizer or an emulator");
    if (!can_step())
        SKIP_TEST("ptrace does not work here");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        cut_everywhere(cut, &calls[i]);
}
END_TEST

START_TEST(a_repair_can_be_killed_before_any_instruction)
{
    static const struct call healing = { "repair", 0, true, false, repair };

    if (UNDER_TSAN || UNDER_ASAN || emulated())
        NOT_HERE("no single steps under a sanitizer or an emulator");
    if (!can_step())
        SKIP_TEST("ptrace does not work here");
    cut_everywhere(cut_repair, &healing);
}
END_TEST

int main(void)
{
    RUN_SUITE("shared stepped", a_death_before_any_instruction_loses_no_unit,
              a_repair_can_be_killed_before_any_instruction);
}

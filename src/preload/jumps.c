/* SPDX-License-Identifier: MIT */
/*
 * jumps.c - signal handlers that leave a wait by a jump: step 7 of the life of a signal, in handlers.c.
 *
 * While a thread waits in sem_wait, a handler may run and jump to the place where the program called
 * sigsetjmp().  In libc nothing of the wait remains.  Here the waiter is a structure on the stack that the jump
 * releases.  The waiter would stay in the queue, and the next post would write to that stack.
 *
 * So this module wraps the functions that jump.  Each thread has a list of its waits, and a jump over a wait
 * abandons the wait, as a cancellation does: the waiter is dequeued, and a unit that was already granted goes
 * to the next waiter.  A jump inside a handler abandons nothing.  The stack pointer that a jump restores tells
 * whether the jump goes over a wait.  glibc stores this pointer in the jmp_buf, scrambled, and jump_target.h
 * can decode it only on x86-64.  On other processors a program must not leave a wait by a jump.
 *
 * Jumps by setcontext(), and jumps that do not use glibc, are not detected.
 */
#define _GNU_SOURCE
/* Some distributions always define _FORTIFY_SOURCE; glibc's header then renames the functions below. */
#undef _FORTIFY_SOURCE
#include "jumps.h"

#include "handlers.h"
#include "jump_target.h"
#include "next.h"
#include "posix/sem_calls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>

static _Thread_local struct fs_wait_place *innermost __attribute__((tls_model("initial-exec")));

static struct {
    void (*longjmp)(struct __jmp_buf_tag *, int);
    void (*longjmp_chk)(struct __jmp_buf_tag *, int);
} libc;

static _Thread_local volatile unsigned interruptions __attribute__((tls_model("initial-exec")));

unsigned fs_interruptions(void)
{
    return interruptions;
}

/* Called before each handler, which may have interrupted a wait. */
static void note_handler(bool restarts)
{
    if (!restarts)
        interruptions++;
    if (innermost != NULL && innermost->wait != NULL)
        fs_interrupt_wait(innermost->wait, restarts);
}

static _Atomic bool jumps_found;

static void find_jumps(void)
{
    fs_note_handler = note_handler;
    fs_find_next(&libc.longjmp, "siglongjmp");
    fs_find_next(&libc.longjmp_chk, "__longjmp_chk");
}

void fs_jumps_prepare(void)
{
    fs_find_once(&jumps_found, find_jumps);
}

/* ---- The waits of this thread.  A handler leaves the list as it found it ---- */

void fs_wait_place_enter(struct fs_wait_place *place)
{
    place->wait = NULL;
    place->outer = innermost;
    atomic_signal_fence(memory_order_seq_cst);
    innermost = place;
}

void fs_wait_place_leave(struct fs_wait_place *place)
{
    innermost = place->outer;
    atomic_signal_fence(memory_order_seq_cst);
}

void fs_wait_begins(void *wait)
{
    innermost->wait = wait;
    atomic_signal_fence(memory_order_seq_cst);
}

void fs_wait_ends(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    innermost->wait = NULL;
}

/* ---- Which waits does a jump go over? ---- */

/*
 * Stacks grow down.  A jump within one stack goes over everything from the current frame up to the target.
 * A jump from an alternate stack to another stack goes over everything on the alternate stack above the
 * current frame, and everything on the other stack below the target.
 *
 * In both cases the jump goes over one interval of addresses, from the current frame up to the target.  The
 * interval wraps around the end of the address space if the alternate stack is the higher one.
 */
static bool goes_over(uintptr_t from, uintptr_t to, const struct fs_wait_place *place)
{
    return (uintptr_t)place - from < to - from;
}

static void leave_waits(const struct __jmp_buf_tag *env)
{
    struct fs_wait_place *place = innermost;
    const uintptr_t from = (uintptr_t)__builtin_frame_address(0), to = fs_jump_target(env);
    int before = errno;

    while (to != 0 && place != NULL && goes_over(from, to, place)) {
        void *wait;

        /*
         * Abandon the wait inside a section.  If a signal comes now, its handler runs after the section, and
         * may jump, too.
         */
        fs_section_enter();
        wait = place->wait;
        place->wait = NULL;
        if (wait != NULL)
            fs_abandon_wait(wait);
        fs_section_leave();
        place = place->outer;
    }
    innermost = place;
    errno = before;
}

/* ---- The functions ---- */

EXPORT _Noreturn void siglongjmp(struct __jmp_buf_tag env[1], int value)
{
    fs_jumps_prepare();
    leave_waits(env);
    libc.longjmp(env, value);
    __builtin_unreachable();
}

EXPORT _Noreturn void longjmp(struct __jmp_buf_tag env[1], int value)
    __attribute__((alias("siglongjmp"), nothrow, leaf));
EXPORT _Noreturn void _longjmp(struct __jmp_buf_tag env[1], int value)
    __attribute__((alias("siglongjmp"), nothrow, leaf));

/* The function that a program compiled with _FORTIFY_SOURCE calls. */
EXPORT _Noreturn void __longjmp_chk(struct __jmp_buf_tag env[1], int value);
EXPORT _Noreturn void __longjmp_chk(struct __jmp_buf_tag env[1], int value)
{
    fs_jumps_prepare();
    leave_waits(env);
    libc.longjmp_chk(env, value);
    __builtin_unreachable();
}

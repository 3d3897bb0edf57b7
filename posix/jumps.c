/* SPDX-License-Identifier: MIT */
/*
 * jumps.c - see jumps.h.
 *
 * A thread waits in sem_wait, a handler runs and jumps to where the program called sigsetjmp().
 * With libc nothing is left of the wait.  Here its waiter, which lies on the stack that the jump
 * releases, is still in the queue: the next post would write to whatever is there then.
 *
 * So this module wraps the functions that jump.  Each thread lists the waits that it is in, and a
 * jump over a wait abandons it, as a cancellation would: the waiter leaves the queue, and a unit
 * that was granted already goes to the next one.  A jump inside a handler abandons nothing.  The
 * stack pointer that the jump restores shows whether it goes over a wait.  glibc stores it in the
 * jmp_buf, scrambled.  jump_target.h can decode it only on x86-64; elsewhere a program must not
 * leave a wait by a jump.
 *
 * setcontext() is not detected, nor any jump that is not glibc's.
 */
#define _GNU_SOURCE
/* Some distributions always define it; glibc's header then renames the functions below. */
#undef _FORTIFY_SOURCE
#include "jumps.h"

#include "jump_target.h"
#include "next.h"
#include "sem_calls.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

static _Thread_local struct fs_wait_place *innermost __attribute__((tls_model("initial-exec")));

static struct {
    void (*longjmp)(struct __jmp_buf_tag *, int);
    void (*longjmp_chk)(struct __jmp_buf_tag *, int);
} libc;

static _Atomic bool found_all;

static void find(void)
{
    fs_find_next(&libc.longjmp, "siglongjmp");
    fs_find_next(&libc.longjmp_chk, "__longjmp_chk");
}

void fs_jumps_prepare(void)
{
    fs_find_once(&found_all, find);
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
 * Stacks grow down.  If the jump stays on one stack, it goes over everything between the current
 * frame and the target.  If a handler leaves its alternate stack, the jump goes over everything on
 * that stack, and over everything below the target on the other stack.
 *
 * With SS_AUTODISARM the kernel does not say that there is an alternate stack.  If that lies below
 * the target, the jump looks like one on a single stack.  If it lies above, the jump goes down,
 * which shows that there are two stacks.
 */
struct jump {
    uintptr_t from, to;
    uintptr_t alternate, size;  /* the alternate stack, if the jump leaves it; else 0 */
};

static bool is_within(uintptr_t address, uintptr_t begin, uintptr_t size)
{
    return address - begin < size;
}

static struct jump describe(uintptr_t from, uintptr_t to)
{
    struct jump jump = { .from = from, .to = to };
    stack_t stack;

    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0
        && !is_within(to, (uintptr_t)stack.ss_sp, stack.ss_size)) {
        jump.alternate = (uintptr_t)stack.ss_sp;
        jump.size = stack.ss_size;
    }
    return jump;
}

static bool goes_over(const struct jump *jump, const struct fs_wait_place *place)
{
    uintptr_t at = (uintptr_t)place;

    if (is_within(at, jump->alternate, jump->size))
        return true;
    if (jump->from > jump->to)
        return at < jump->to || (jump->size == 0 && at >= jump->from);
    return at < jump->to && (jump->size != 0 || at >= jump->from);
}

static void leave_waits(const struct __jmp_buf_tag *env)
{
    struct fs_wait_place *place = innermost;
    int before = errno;
    struct jump jump;

    if (place == NULL)
        return;
    jump = describe((uintptr_t)__builtin_frame_address(0), fs_jump_target(env));
    while (place != NULL && goes_over(&jump, place)) {
        if (place->wait != NULL)
            fs_abandon_wait(place->wait);
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

/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - ends a program after a usage error, for instance a call with something that is not a semaphore.
 *
 * The message names the caller of the library: FUNCTION in OBJECT+OFFSET, which addr2line turns into a
 * line.  The message does not name the library's function, which may have left the stack, because
 * compilers turn a last call into a jump.
 *
 * In a static program, the caller cannot be told from the library: the message has only the address of
 * the semaphore.  Without glibc, the message is just as short: musl is often linked by a compiler made
 * for glibc, and the unwinder of such a compiler does not run with musl.
 */
#define _GNU_SOURCE
#include "tools/invariant.h"

enum { FS_CALLER_SIZE = 300 };

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <stdint.h>
#include <unwind.h>

static _Unwind_Reason_Code look_for_caller(struct _Unwind_Context *frame, void *caller)
{
    /* The address of the call itself: the return address may be on another line, or in another function. */
    void *at = (char *)(uintptr_t)_Unwind_GetIP(frame) - 1;
    Dl_info library, info;

    if (dladdr((void *)(uintptr_t)look_for_caller, &library) == 0 || dladdr(at, &info) == 0
        || info.dli_fbase == library.dli_fbase)
        return _URC_NO_REASON;
    snprintf(caller, FS_CALLER_SIZE, " (called by %s in %s+0x%jx)",
             info.dli_sname != NULL ? info.dli_sname : "a function", info.dli_fname,
             (uintmax_t)((uintptr_t)at - (uintptr_t)info.dli_fbase));
    return _URC_END_OF_STACK;
}
#endif

void fs_usage_error(const void *sem, const char *what)
{
    char where[40], message[FS_CALLER_SIZE + 100], caller[FS_CALLER_SIZE] = "";

#if defined(__GLIBC__)
    _Unwind_Backtrace(look_for_caller, caller);
#endif
    snprintf(where, sizeof where, "%p: ", sem);
    snprintf(message, sizeof message, "%s%s", what, caller);
    fs_stop(where, message);
}

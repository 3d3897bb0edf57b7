/* SPDX-License-Identifier: MIT */
/* jump_target.h - the target of a jump of glibc, on processors for which this module can decode it. */
#ifndef FS_JUMP_TARGET_H
#define FS_JUMP_TARGET_H

#include <setjmp.h>
#include <stdint.h>

/*
 * Returns the stack pointer that the jump restores, or 0 if it is unknown.  On x86-64 glibc stores the pointer
 * XORed with a secret of the process and rotated (PTR_MANGLE).
 */
static inline uintptr_t fs_jump_target(const struct __jmp_buf_tag *env)
{
#if defined(__x86_64__) && defined(__LP64__)
    enum { STACK_POINTER = 6 };
    uintptr_t secret, scrambled = (uintptr_t)env->__jmpbuf[STACK_POINTER];

    __asm__("mov %%fs:0x30, %0" : "=r"(secret));
    return (scrambled >> 17 | scrambled << 47) ^ secret;
#else
    (void)env;
    return 0;
#endif
}

#endif

/* SPDX-License-Identifier: MIT */
/* fibre.c - switches stacks with 15 instructions; swapcontext(3) would make a system call each time. */
#include "fibre.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

__asm__(
    ".text\n"
    ".globl fibre_switch\n"
    ".type fibre_switch, @function\n"
    "fibre_switch:\n"
    "    push %rbp\n"
    "    push %rbx\n"
    "    push %r12\n"
    "    push %r13\n"
    "    push %r14\n"
    "    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov (%rsi), %rsp\n"
    "    pop %r15\n"
    "    pop %r14\n"
    "    pop %r13\n"
    "    pop %r12\n"
    "    pop %rbx\n"
    "    pop %rbp\n"
    "    ret\n"
    ".size fibre_switch, .-fibre_switch\n"
    ".section .note.GNU-stack,\"\",@progbits\n"
    ".text\n");

void fibre_prepare(struct fibre *fibre, char *top, void (*fn)(void))
{
    uintptr_t frame[8] = { 0 };     /* six registers, fn as the return address, and a return address for fn */

    frame[6] = (uintptr_t)fn;
    fibre->sp = top - sizeof frame;
    memcpy(fibre->sp, frame, sizeof frame);
}

#else
#error "the explorer is for x86-64"
#endif

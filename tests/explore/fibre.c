/* SPDX-License-Identifier: MIT */
/* fibre.c - switching stacks by hand: some ten instructions, where swapcontext(3) has two
 * system calls. */
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
    uintptr_t frame[8] = { 0 };     /* six registers, where to return to, and its caller */

    frame[6] = (uintptr_t)fn;
    fibre->sp = top - sizeof frame;
    memcpy(fibre->sp, frame, sizeof frame);
}

#elif defined(__aarch64__)

__asm__(
    ".text\n"
    ".globl fibre_switch\n"
    ".type fibre_switch, %function\n"
    "fibre_switch:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp, #0]\n"
    "    stp x21, x22, [sp, #16]\n"
    "    stp x23, x24, [sp, #32]\n"
    "    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n"
    "    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n"
    "    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n"
    "    str x9, [x0]\n"
    "    ldr x9, [x1]\n"
    "    mov sp, x9\n"
    "    ldp x19, x20, [sp, #0]\n"
    "    ldp x21, x22, [sp, #16]\n"
    "    ldp x23, x24, [sp, #32]\n"
    "    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n"
    "    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n"
    "    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size fibre_switch, .-fibre_switch\n"
    ".section .note.GNU-stack,\"\",%progbits\n"
    ".text\n");

void fibre_prepare(struct fibre *fibre, char *top, void (*fn)(void))
{
    uintptr_t frame[20] = { 0 };

    frame[11] = (uintptr_t)fn;      /* x30: where to return to */
    fibre->sp = top - sizeof frame;
    memcpy(fibre->sp, frame, sizeof frame);
}

#else
#error "fibre.c does not know this processor: build.sh skips the explorer there"
#endif

/* SPDX-License-Identifier: MIT */
/*
 * fibre.h - a thread without the kernel: a stack, and a place in a function.
 *
 * fibre_switch() saves the callee-saved registers on the stack of the fibre that stops.  So the whole state of
 * a stopped fibre is between fibre.sp and the top of its stack, and can be compared with its state in another
 * schedule (seen.c).
 */
#ifndef XP_FIBRE_H
#define XP_FIBRE_H

struct fibre {
    char *sp;           /* while it is stopped */
};

/* Prepare to run fn, which must not return, on the stack that ends at `top` (16-aligned). */
void fibre_prepare(struct fibre *fibre, char *top, void (*fn)(void));

/* Stop the running fibre `from`, and continue `to` where it stopped. */
void fibre_switch(struct fibre *from, struct fibre *to);

#endif

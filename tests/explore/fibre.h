/* SPDX-License-Identifier: MIT */
/*
 * fibre.h - a stack and a place in a function: what a thread is, without a kernel.
 *
 * fibre_switch() saves the registers a call preserves on the stack it leaves.  So everything
 * that a stopped fibre knows lies between fibre.sp and the top of its stack, where it can be
 * compared with what another schedule has led to (states.c).
 */
#ifndef XP_FIBRE_H
#define XP_FIBRE_H

struct fibre {
    char *sp;           /* while it is stopped */
};

/* Ready to run fn, which must not return, on the stack that ends at `top` (16-aligned). */
void fibre_prepare(struct fibre *fibre, char *top, void (*fn)(void));

/* Stop here, as `from`, and go on where `to` has stopped. */
void fibre_switch(struct fibre *from, struct fibre *to);

#endif

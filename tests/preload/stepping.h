/* SPDX-License-Identifier: MIT */
/*
 * stepping.h - stop a child before a chosen instruction of an operation that it repeats.
 *
 * The child stops itself, by SIGSTOP, before and after each operation.  Only its main thread is traced:
 * the others run on while it is stopped.
 */
#ifndef STEPPING_H
#define STEPPING_H

#include <stdint.h>
#include <sys/types.h>

/* Not on other processors than x86-64, nor where breakpoints of the processor are never hit. */
int can_step(void);

/* A traced child that runs this and has stopped itself.  It ends when its parent does. */
pid_t begin_traced(void (*run)(const void *), const void *arg);
void end_traced(pid_t pid);

/* Let it go on until it stops itself, and deliver the signals that come. */
void run_to_stop(pid_t pid);

enum { STEPS_MOST = 20000 };

/*
 * Step through the rest of the operation, and note the address of each instruction.  Returns their
 * number, and in *signals that of the signals that came.
 */
int note_all(pid_t pid, uintptr_t *list, int *signals);

/*
 * Stop before this instruction, by the processor's debug registers, which belong to one thread.
 * False: the operation ended before it.
 */
int stop_before(pid_t pid, const uintptr_t *list, int instruction);

#endif

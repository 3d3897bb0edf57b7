# SPDX-License-Identifier: MIT
# src/core/local.mk - the semaphore of one process; included by ../../Makefile.am.

libcore_la_SOURCES = \
	src/core/all.c \
	src/core/annotate.c src/core/annotate.h \
	src/core/annotate_valgrind.c src/core/annotate_valgrind.h \
	src/core/acquire.c src/core/acquire.h \
	src/core/age.c src/core/age.h \
	src/core/ahead.c src/core/ahead.h \
	src/core/bypass.c src/core/bypass.h \
	src/core/callbacks.c src/core/callbacks.h \
	src/core/about.c \
	src/core/awake.c src/core/awake.h \
	src/core/capacity.c \
	src/core/cleanup.h \
	src/core/compiler.h \
	src/core/cond_clock.h src/core/cond_clock_generic.c src/core/cond_clock_posix.c \
	src/core/count.c src/core/count.h \
	src/core/cpu.h src/core/cpu_generic.c src/core/cpu_linux.c \
	src/core/deadline.c src/core/deadline.h \
	src/core/deferred.c src/core/deferred.h \
	src/core/fast_path.h \
	src/core/fork.c src/core/fork.h \
	src/core/invariant.h \
	src/core/list.h \
	src/core/misuse.c \
	src/core/mutex.c src/core/mutex.h \
	src/core/park_cond.c src/core/park_futex.c src/core/futex.h src/core/parking.h \
	src/core/probes.h \
	src/core/queue.c src/core/queue.h \
	src/core/quota.h src/core/quota_linux.c \
	src/core/real_time.h src/core/real_time_generic.c src/core/real_time_linux.c \
	src/core/section.c src/core/section.h \
	src/core/sem.c src/core/sem.h \
	src/core/sem_check.c src/core/sem_check.h \
	src/core/semaphore.c \
	src/core/signals.c src/core/signals.h \
	src/core/stat.c \
	src/core/thread.h src/core/thread_generic.c src/core/thread_linux.c \
	src/core/ticket.c src/core/ticket.h \
	src/core/ticket_wait.c \
	src/core/token.c src/core/token.h \
	src/core/units.c \
	src/core/wait.c src/core/wait.h \
	src/core/waiter.h \
	src/core/waitq.c src/core/waitq.h \
	src/core/word.h

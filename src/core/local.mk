# SPDX-License-Identifier: MIT
# src/core/local.mk - the semaphore of one process; included by ../../Makefile.am.

# The heart: one word, one section, one queue, and how a thread waits.
libcore_la_SOURCES += \
	src/core/acquire.c src/core/acquire.h \
	src/core/count.c src/core/count.h \
	src/core/deferred.c src/core/deferred.h \
	src/core/fast_path.h \
	src/core/list.h \
	src/core/queue.c src/core/queue.h \
	src/core/resolve.c src/core/resolve.h \
	src/core/section.c src/core/section.h \
	src/core/sem.c src/core/sem.h \
	src/core/sem_check.c src/core/sem_check.h \
	src/core/semaphore.c \
	src/core/tree.h \
	src/core/wait.c src/core/wait.h \
	src/core/waiter.h \
	src/core/waitq.c src/core/waitq.h \
	src/core/word.h

# Options of a semaphore: a call tests which of them the semaphore has.
libcore_la_SOURCES += \
	src/core/age.c src/core/age.h \
	src/core/ahead.c src/core/ahead.h \
	src/core/bypass.c src/core/bypass.h \
	src/core/share.c src/core/share.h \
	src/core/signals.c src/core/signals.h \
	src/core/tag.h

# Clients of the heart.
libcore_la_SOURCES += \
	src/core/about.c \
	src/core/all.c \
	src/core/callbacks.c src/core/callbacks.h \
	src/core/capacity.c \
	src/core/stat.c \
	src/core/ticket.c src/core/ticket.h \
	src/core/ticket_wait.c \
	src/core/token.c src/core/token.h \
	src/core/units.c

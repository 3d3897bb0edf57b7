# SPDX-License-Identifier: MIT
# src/shared/local.mk - the semaphore between processes; included by ../../Makefile.am.

if HAVE_SHARED
libcore_la_SOURCES += \
	src/shared/attach.c src/shared/attach.h \
	src/shared/change.c src/shared/change.h \
	src/shared/detect.c src/shared/detect.h \
	src/shared/handle.h \
	src/shared/kernel.c src/shared/kernel.h \
	src/shared/layout.h \
	src/shared/liveness.c src/shared/liveness.h \
	src/shared/lock.c src/shared/lock.h \
	src/shared/registry.c src/shared/registry.h \
	src/shared/repair.c src/shared/repair.h \
	src/shared/segment.c src/shared/segment.h \
	src/shared/shared.c \
	src/shared/shared_acquire.c src/shared/shared_acquire.h \
	src/shared/shared_awake.c src/shared/shared_awake.h \
	src/shared/shared_flow.c src/shared/shared_flow.h \
	src/shared/shared_queue.c src/shared/shared_queue.h \
	src/shared/shared_section.c src/shared/shared_section.h \
	src/shared/shared_stat.c \
	src/shared/shared_wait.c src/shared/shared_wait.h \
	src/shared/trust.h
else
libcore_la_SOURCES += src/shared/absent.c
endif

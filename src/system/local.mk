# SPDX-License-Identifier: MIT
# src/system/local.mk - clocks, forks, cores, and how a thread sleeps; included by ../../Makefile.am.

libcore_la_SOURCES += \
	src/system/cond_clock.c src/system/cond_clock.h \
	src/system/deadline.c src/system/deadline.h \
	src/system/fork.c src/system/fork.h \
	src/system/futex.h \
	src/system/mutex.c src/system/mutex.h \
	src/system/park_cond.c src/system/park_futex.c src/system/parking.h \
	src/system/quota.h src/system/quota_linux.c \
	src/system/system.h src/system/system_generic.c src/system/system_linux.c

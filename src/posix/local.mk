# SPDX-License-Identifier: MIT
# src/posix/local.mk - sem_t made fair, for programs that are recompiled; included by
# ../../Makefile.am.

# The functions of fairsem/posix.h are part of the library.
libcore_la_SOURCES += \
	src/posix/sem_calls.c src/posix/sem_calls.h \
	src/posix/sem_real_time.h src/posix/sem_real_time_generic.c src/posix/sem_real_time_linux.c \
	src/posix/sem_source.c \
	src/posix/sem_zeroed.c src/posix/sem_zeroed.h

dist_man_MANS = doc/man/fairsem_posix.7

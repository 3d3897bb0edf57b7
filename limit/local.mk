# SPDX-License-Identifier: MIT
# limit/local.mk - fairsem-limit, the semaphore between processes for the shell; included by
# ../Makefile.am.

fairsem_limit_sources = \
	limit/duration.c limit/duration.h \
	limit/limit.c \
	limit/names.c limit/names.h \
	limit/options.c limit/options.h \
	limit/progress.c limit/progress.h \
	limit/request.h \
	limit/run.c limit/run.h \
	limit/status.c limit/status.h \
	limit/turn.c limit/turn.h \
	limit/wait_line.c limit/wait_line.h

if HAVE_SHARED
bin_PROGRAMS += fairsem-limit
fairsem_limit_SOURCES = $(fairsem_limit_sources)
fairsem_limit_CPPFLAGS = $(AM_CPPFLAGS) -D_DEFAULT_SOURCE
fairsem_limit_LDADD = libfairsem.la

dist_man_MANS += man/fairsem-limit.1
else
EXTRA_DIST += $(fairsem_limit_sources) man/fairsem-limit.1
endif

# SPDX-License-Identifier: MIT
# src/limit/local.mk - fairsem-limit, the semaphore between processes for the shell; included by
# ../../Makefile.am.

fairsem_limit_sources = \
	src/limit/arguments.c src/limit/arguments.h \
	src/limit/duration.c src/limit/duration.h \
	src/limit/held.c src/limit/held.h \
	src/limit/json.c src/limit/json.h \
	src/limit/limit.c \
	src/limit/names.c src/limit/names.h \
	src/limit/options.c src/limit/options.h \
	src/limit/process.c src/limit/process.h \
	src/limit/progress.c src/limit/progress.h \
	src/limit/request.h \
	src/limit/run.c src/limit/run.h \
	src/limit/shown.h \
	src/limit/status.c src/limit/status.h \
	src/limit/table.c src/limit/table.h \
	src/limit/tidy.c src/limit/tidy.h \
	src/limit/turn.c src/limit/turn.h \
	src/limit/wait_line.c src/limit/wait_line.h

if HAVE_SHARED
bin_PROGRAMS += fairsem-limit
fairsem_limit_SOURCES = $(fairsem_limit_sources)
fairsem_limit_CPPFLAGS = $(AM_CPPFLAGS) -D_DEFAULT_SOURCE
# Statically, if there is a static library: the dynamic linker would take a third of the time that a
# short command costs.
fairsem_limit_LDFLAGS = -static
fairsem_limit_LDADD = libfairsem.la

dist_man_MANS += doc/man/fairsem-limit.1
dist_bashcompletion_DATA += packaging/completion/fairsem-limit.bash
dist_zshcompletion_DATA += packaging/completion/_fairsem-limit
else
EXTRA_DIST += $(fairsem_limit_sources) doc/man/fairsem-limit.1 \
	packaging/completion/fairsem-limit.bash packaging/completion/_fairsem-limit
endif

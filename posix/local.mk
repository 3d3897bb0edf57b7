# SPDX-License-Identifier: MIT
# posix/local.mk - sem_t made fair, for programs that are recompiled and for programs that are not;
# included by ../Makefile.am.

EXTRA_DIST += posix/interpose.map

# The functions of fairsem/posix.h are part of the library.
libcore_la_SOURCES += \
	posix/sem_calls.c posix/sem_calls.h \
	posix/sem_real_time.h posix/sem_real_time_generic.c posix/sem_real_time_linux.c \
	posix/sem_source.c \
	posix/sem_zeroed.c posix/sem_zeroed.h

# The interposer is a module with a copy of the library inside.  So it does not depend on the shared
# library, and it exports only the names that it replaces.
interpose_sources = \
	posix/actions.c posix/actions.h \
	posix/handlers.c posix/handlers.h \
	posix/interpose.c \
	posix/jump_target.h \
	posix/jumps.c posix/jumps.h \
	posix/next.h \
	posix/priority.c posix/priority.h \
	posix/private_memory.c posix/private_memory.h \
	posix/record.c posix/record.h \
	posix/records.h \
	posix/slots.c posix/slots.h
fairsem_run_sources = \
	posix/complain.c posix/complain.h \
	posix/fairsem_run.c \
	posix/preload.c posix/preload.h \
	posix/program.c posix/program.h \
	posix/records_print.c posix/records_print.h \
	posix/stats_run.c posix/stats_run.h

dist_man_MANS = man/fairsem_posix.7

if BUILD_INTERPOSER
pkglib_LTLIBRARIES = fairsem-interpose.la
fairsem_interpose_la_SOURCES = $(interpose_sources)
fairsem_interpose_la_CFLAGS = $(lib_cflags)
fairsem_interpose_la_LIBADD = libcore.la $(DL_LIBS)
fairsem_interpose_la_LDFLAGS = $(LIB_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/posix/interpose.map
fairsem_interpose_la_DEPENDENCIES = libcore.la posix/interpose.map

bin_PROGRAMS += fairsem-run
fairsem_run_SOURCES = $(fairsem_run_sources)
fairsem_run_CPPFLAGS = $(AM_CPPFLAGS) -DFAIRSEM_MODULE_PATH='"$(pkglibdir)/fairsem-interpose.so"'
fairsem_run_LDADD = $(DL_LIBS)
# The path is compiled in, and configure may have been run again with another prefix.
posix/fairsem_run-preload.$(OBJEXT): Makefile

dist_man_MANS += man/fairsem-run.1
else
EXTRA_DIST += $(interpose_sources) $(fairsem_run_sources) man/fairsem-run.1
endif

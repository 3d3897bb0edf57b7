# SPDX-License-Identifier: MIT
# src/preload/local.mk - sem_t made fair, for programs that are not recompiled; included by
# ../../Makefile.am.

EXTRA_DIST += src/preload/interpose.map

# The interposer is a module with a copy of the library inside.  So it does not depend on the shared
# library, and it exports only the names that it replaces.
interpose_sources = \
	src/preload/actions.c src/preload/actions.h \
	src/preload/handlers.c src/preload/handlers.h \
	src/preload/interpose.c \
	src/preload/jump_target.h \
	src/preload/jumps.c src/preload/jumps.h \
	src/preload/next.h \
	src/preload/priority.c src/preload/priority.h \
	src/preload/private_memory.c src/preload/private_memory.h \
	src/preload/record.c src/preload/record.h \
	src/preload/records.h \
	src/preload/cell_pool.c src/preload/cell_pool.h \
	src/preload/cells.c src/preload/cells.h
fairsem_run_sources = \
	src/preload/complain.c src/preload/complain.h \
	src/preload/fairsem_run.c \
	src/preload/preload.c src/preload/preload.h \
	src/preload/program.c src/preload/program.h \
	src/preload/records_print.c src/preload/records_print.h \
	src/preload/stats_run.c src/preload/stats_run.h

if BUILD_INTERPOSER
pkglib_LTLIBRARIES = fairsem-interpose.la
fairsem_interpose_la_SOURCES = $(interpose_sources)
fairsem_interpose_la_CFLAGS = $(lib_cflags)
fairsem_interpose_la_LIBADD = libcore.la $(DL_LIBS)
fairsem_interpose_la_LDFLAGS = $(LIB_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/src/preload/interpose.map
fairsem_interpose_la_DEPENDENCIES = libcore.la src/preload/interpose.map

bin_PROGRAMS += fairsem-run
fairsem_run_SOURCES = $(fairsem_run_sources)
fairsem_run_CPPFLAGS = $(AM_CPPFLAGS) -DFAIRSEM_MODULE_PATH='"$(pkglibdir)/fairsem-interpose.so"'
fairsem_run_LDADD = $(DL_LIBS)
# The path is compiled in, and configure may have been run again with another prefix.
src/preload/fairsem_run-preload.$(OBJEXT): Makefile

dist_man_MANS += doc/man/fairsem-run.1
dist_bashcompletion_DATA += packaging/completion/fairsem-run.bash
dist_zshcompletion_DATA += packaging/completion/_fairsem-run
else
EXTRA_DIST += $(interpose_sources) $(fairsem_run_sources) doc/man/fairsem-run.1 \
	packaging/completion/fairsem-run.bash packaging/completion/_fairsem-run
endif

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
	src/preload/record.c src/preload/record.h \
	src/preload/records.h \
	src/preload/cell_pool.c src/preload/cell_pool.h \
	src/preload/cells.c src/preload/cells.h

if BUILD_INTERPOSER
pkglib_LTLIBRARIES = fairsem-interpose.la
fairsem_interpose_la_SOURCES = $(interpose_sources)
fairsem_interpose_la_CFLAGS = $(lib_cflags)
fairsem_interpose_la_LIBADD = libcore.la $(DL_LIBS)
fairsem_interpose_la_LDFLAGS = $(LIB_LDFLAGS) -module -avoid-version -shared \
	-Wl,--version-script=$(srcdir)/src/preload/interpose.map
fairsem_interpose_la_DEPENDENCIES = libcore.la src/preload/interpose.map
else
EXTRA_DIST += $(interpose_sources)
endif

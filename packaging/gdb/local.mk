# SPDX-License-Identifier: MIT
# packaging/gdb/local.mk - what gdb loads together with the library; included by ../../Makefile.am.
#
# gdb looks for a script that is named after the file of the library, with its whole path, below
# its own $(datadir)/gdb/auto-load, and where it is told to.

EXTRA_DIST += packaging/gdb/fairsem-gdb.py

if BUILD_SHARED
gdbdir = $(datadir)/gdb/auto-load$(libdir)
nodist_gdb_DATA = packaging/gdb/$(LIBRARY_FILE)-gdb.py
CLEANFILES += $(nodist_gdb_DATA)
packaging/gdb/$(LIBRARY_FILE)-gdb.py: packaging/gdb/fairsem-gdb.py
	$(AM_V_at)$(MKDIR_P) packaging/gdb
	$(AM_V_GEN)cp "$(srcdir)/packaging/gdb/fairsem-gdb.py" $@
endif

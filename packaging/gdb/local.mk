# SPDX-License-Identifier: MIT
# packaging/gdb/local.mk - the script that gdb loads together with the library; included by ../../Makefile.am.
#
# The script is named after the file of the library, with the whole path of that file.  gdb looks for it below
# gdb's own $(datadir)/gdb/auto-load, and below directories that the user has added.

EXTRA_DIST += packaging/gdb/fairsem-gdb.py

if BUILD_SHARED
gdbdir = $(datadir)/gdb/auto-load$(libdir)
nodist_gdb_DATA = packaging/gdb/$(LIBRARY_FILE)-gdb.py
CLEANFILES += $(nodist_gdb_DATA)
packaging/gdb/$(LIBRARY_FILE)-gdb.py: packaging/gdb/fairsem-gdb.py
	$(AM_V_at)$(MKDIR_P) packaging/gdb
	$(AM_V_GEN)cp "$(srcdir)/packaging/gdb/fairsem-gdb.py" $@
endif

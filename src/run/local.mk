# SPDX-License-Identifier: MIT
# src/run/local.mk - fairsem-run, which runs a program with the module; and sources for all commands that run
# another command.  Included by ../../Makefile.am.

# src/limit/ uses these files, too.  They include nothing else of this project.
commands = \
	src/run/command.c src/run/command.h \
	src/run/duration.c src/run/duration.h \
	src/run/printable.h
fairsem_run_sources = $(commands) \
	src/run/fairsem_run.c \
	src/run/preload.c src/run/preload.h \
	src/run/program.c src/run/program.h \
	src/run/records_print.c src/run/records_print.h \
	src/run/stats_run.c src/run/stats_run.h

if BUILD_INTERPOSER
bin_PROGRAMS += fairsem-run
fairsem_run_SOURCES = $(fairsem_run_sources)
fairsem_run_CPPFLAGS = $(AM_CPPFLAGS) -DFAIRSEM_MODULE_PATH='"$(pkglibdir)/fairsem-interpose.so"'
fairsem_run_LDADD = $(DL_LIBS)
# The module's path is compiled in, and configure may have been run again with another prefix.
src/run/fairsem_run-preload.$(OBJEXT): Makefile

dist_man_MANS += doc/man/fairsem-run.1
dist_bashcompletion_DATA += packaging/completion/fairsem-run.bash
dist_zshcompletion_DATA += packaging/completion/_fairsem-run
else
EXTRA_DIST += $(fairsem_run_sources) doc/man/fairsem-run.1 \
	packaging/completion/fairsem-run.bash packaging/completion/_fairsem-run
endif

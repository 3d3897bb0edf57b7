# SPDX-License-Identifier: MIT
# tests/api/preload/local.mk - programs under fairsem-run; included by ../../local.mk.

test_scripts += \
	tests/api/preload/interpose.sh \
	tests/api/preload/names.sh
EXTRA_DIST += tests/api/preload/programs.sh tests/api/preload/sigaction_hook.c

# What interpose.sh runs: a program that uses neither this library nor Check.
if BUILD_INTERPOSER
check_PROGRAMS += tests/api/preload/interposed tests/api/preload/met tests/api/preload/stepped
endif
tests_api_preload_interposed_SOURCES = \
	tests/api/preload/interposed.c tests/api/preload/interposed.h \
	tests/api/preload/interposed_actions.c \
	tests/api/preload/interposed_cells.c \
	tests/api/preload/interposed_faults.c \
	tests/api/preload/interposed_handlers.c \
	tests/api/preload/interposed_hog.c \
	tests/api/preload/interposed_jumps.c \
	tests/api/preload/interposed_memory.c \
	tests/api/preload/interposed_origins.c \
	tests/api/preload/interposed_processes.c \
	tests/api/preload/interposed_sandbox.c \
	tests/api/preload/interposed_signals.c \
	tests/api/preload/interposed_two.c \
	tests/api/preload/interposed_waiters.c \
	tests/api/preload/interposed_waits.c
tests_api_preload_interposed_LDADD = $(DL_LIBS)
tests_api_preload_stepped_SOURCES = \
	tests/api/preload/stepped.c tests/api/preload/stepping.c tests/api/preload/stepping.h \
	tests/api/preload/interposed.h tests/api/preload/interposed_waiters.c
tests_api_preload_stepped_LDADD =
tests_api_preload_met_SOURCES = \
	tests/api/preload/met.c tests/api/preload/stepping.c tests/api/preload/stepping.h \
	tests/api/preload/interposed.h tests/api/preload/interposed_waiters.c
tests_api_preload_met_LDADD =

.PHONY: check-programs
check-programs: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/api/preload/programs.sh

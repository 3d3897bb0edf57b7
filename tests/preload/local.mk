# SPDX-License-Identifier: MIT
# tests/preload/local.mk - programs under fairsem-run; included by ../local.mk.

test_scripts += \
	tests/preload/test_interpose.py \
	tests/preload/test_names.py
EXTRA_DIST += tests/preload/late_library.c tests/preload/sigaction_hook.c tests/preload/test_programs.py

# The program that test_interpose.py runs; it uses neither libfairsem nor Check.
if BUILD_INTERPOSER
check_PROGRAMS += tests/preload/interposed
endif
tests_preload_interposed_SOURCES = \
	tests/preload/interposed.c tests/preload/interposed.h \
	tests/preload/interposed_actions.c \
	tests/preload/interposed_faults.c \
	tests/preload/interposed_handlers.c \
	tests/preload/interposed_hog.c \
	tests/preload/interposed_jumps.c \
	tests/preload/interposed_memory.c \
	tests/preload/interposed_met.c \
	tests/preload/interposed_origins.c \
	tests/preload/interposed_priorities.c \
	tests/preload/interposed_processes.c \
	tests/preload/interposed_sandbox.c \
	tests/preload/interposed_stepped.c \
	tests/preload/interposed_stepping.c \
	tests/preload/interposed_two.c \
	tests/preload/interposed_waiters.c \
	tests/preload/interposed_waits.c
tests_preload_interposed_LDADD = $(DL_LIBS)

.PHONY: check-programs
check-programs: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/support/pytest.sh \
	  $(srcdir)/tests/preload/test_programs.py $(SKIPS)

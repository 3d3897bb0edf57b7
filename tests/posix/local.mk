# SPDX-License-Identifier: MIT
# tests/posix/local.mk - sem_t: the functions of fairsem/posix.h, and programs under fairsem-run;
# included by ../local.mk.

test_scripts += \
	tests/posix/interpose.sh \
	tests/posix/names.sh
EXTRA_DIST += tests/posix/programs.sh

if TESTS_ENABLED
test_programs += \
	tests/posix/t_posix_cancel \
	tests/posix/t_posix_fork \
	tests/posix/t_posix_lifetime \
	tests/posix/t_posix_order \
	tests/posix/t_posix_results \
	tests/posix/t_posix_signals \
	tests/posix/t_posix_zeroed
endif
EXTRA_DIST += tests/posix/callers.h tests/posix/sigaction_hook.c

# What interpose.sh runs: a program that uses neither this library nor Check.
if BUILD_INTERPOSER
check_PROGRAMS += tests/posix/interposed tests/posix/met tests/posix/stepped
endif
tests_posix_interposed_SOURCES = \
	tests/posix/interposed.c tests/posix/interposed.h \
	tests/posix/interposed_actions.c \
	tests/posix/interposed_faults.c \
	tests/posix/interposed_handlers.c \
	tests/posix/interposed_hog.c \
	tests/posix/interposed_jumps.c \
	tests/posix/interposed_memory.c \
	tests/posix/interposed_origins.c \
	tests/posix/interposed_processes.c \
	tests/posix/interposed_sandbox.c \
	tests/posix/interposed_waiters.c \
	tests/posix/interposed_waits.c
tests_posix_interposed_LDADD = $(DL_LIBS)
tests_posix_stepped_SOURCES = \
	tests/posix/stepped.c tests/posix/stepping.c tests/posix/stepping.h \
	tests/posix/interposed.h tests/posix/interposed_waiters.c
tests_posix_stepped_LDADD =
tests_posix_met_SOURCES = \
	tests/posix/met.c tests/posix/stepping.c tests/posix/stepping.h \
	tests/posix/interposed.h tests/posix/interposed_waiters.c
tests_posix_met_LDADD =

.PHONY: check-programs
check-programs: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/posix/programs.sh

# SPDX-License-Identifier: MIT
# tests/local.mk - what `make check` runs; included by ../Makefile.am.
#
#   make check          everything below TESTS: about a minute on two cores
#   make check-stress   the conservation stress for longer; SECONDS_EACH=60 by default
#   make coverage       line coverage of src/, with gcovr

TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	CC='$(CC)'; CXX='$(CXX)'; CFLAGS='$(CFLAGS)'; SED='$(SED)'; MAKE='$(MAKE)'; \
	export top_srcdir top_builddir CC CXX CFLAGS SED MAKE;

test_scripts = \
	tests/consistency.sh \
	tests/examples.sh \
	tests/exports.sh \
	tests/header.sh \
	tests/install.sh \
	tests/musl.sh
dist_check_SCRIPTS = $(test_scripts)
EXTRA_DIST += tests/coverage.sh tests/plain/check.h

check_PROGRAMS =
TESTS = $(check_PROGRAMS) $(test_scripts)

if TESTS_ENABLED
check_PROGRAMS += \
	tests/t_arrival_order \
	tests/t_cancel \
	tests/t_deadline \
	tests/t_fork \
	tests/t_lifetime \
	tests/t_misuse \
	tests/t_stress \
	tests/t_units \
	tests/t_waitq
if HAVE_WRAP
check_PROGRAMS += tests/t_provoked
endif
endif

test_helpers = tests/suite.h tests/workers.c tests/workers.h
test_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/src -D_POSIX_C_SOURCE=200809L
test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_libs = libcore.la $(CHECK_LIBS)

tests_t_arrival_order_SOURCES = tests/t_arrival_order.c $(test_helpers)
tests_t_arrival_order_CPPFLAGS = $(test_cppflags)
tests_t_arrival_order_CFLAGS = $(test_cflags)
tests_t_arrival_order_LDADD = $(test_libs)

tests_t_cancel_SOURCES = tests/t_cancel.c $(test_helpers)
tests_t_cancel_CPPFLAGS = $(test_cppflags)
tests_t_cancel_CFLAGS = $(test_cflags)
tests_t_cancel_LDADD = $(test_libs)

tests_t_deadline_SOURCES = tests/t_deadline.c $(test_helpers)
tests_t_deadline_CPPFLAGS = $(test_cppflags)
tests_t_deadline_CFLAGS = $(test_cflags)
tests_t_deadline_LDADD = $(test_libs)

tests_t_fork_SOURCES = tests/t_fork.c $(test_helpers)
tests_t_fork_CPPFLAGS = $(test_cppflags)
tests_t_fork_CFLAGS = $(test_cflags)
tests_t_fork_LDADD = $(test_libs)

tests_t_lifetime_SOURCES = tests/t_lifetime.c $(test_helpers)
tests_t_lifetime_CPPFLAGS = $(test_cppflags)
tests_t_lifetime_CFLAGS = $(test_cflags)
tests_t_lifetime_LDADD = $(test_libs)

tests_t_misuse_SOURCES = tests/t_misuse.c $(test_helpers)
tests_t_misuse_CPPFLAGS = $(test_cppflags)
tests_t_misuse_CFLAGS = $(test_cflags)
tests_t_misuse_LDADD = $(test_libs)

# Calls out of the library that the linker sends to the test first.
tests_t_provoked_SOURCES = tests/t_provoked.c $(test_helpers)
tests_t_provoked_CPPFLAGS = $(test_cppflags)
tests_t_provoked_CFLAGS = $(test_cflags)
tests_t_provoked_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=clock_gettime \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=pthread_cond_signal \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific \
	-Wl,--wrap=pthread_cond_init
tests_t_provoked_LDADD = $(test_libs)

tests_t_stress_SOURCES = tests/t_stress.c $(test_helpers)
tests_t_stress_CPPFLAGS = $(test_cppflags)
tests_t_stress_CFLAGS = $(test_cflags)
tests_t_stress_LDADD = $(test_libs)

tests_t_units_SOURCES = tests/t_units.c $(test_helpers)
tests_t_units_CPPFLAGS = $(test_cppflags)
tests_t_units_CFLAGS = $(test_cflags)
tests_t_units_LDADD = $(test_libs)

tests_t_waitq_SOURCES = tests/t_waitq.c $(test_helpers)
tests_t_waitq_CPPFLAGS = $(test_cppflags)
tests_t_waitq_CFLAGS = $(test_cflags)
tests_t_waitq_LDADD = $(test_libs)

# The scripts run what the build made.
check_DATA = $(noinst_PROGRAMS) $(lib_LTLIBRARIES)

.PHONY: check-stress coverage
SECONDS_EACH = 60
check-stress: tests/t_stress$(EXEEXT)
	FAIRSEM_STRESS_SECONDS=$(SECONDS_EACH) CK_DEFAULT_TIMEOUT=0 tests/t_stress$(EXEEXT)

coverage:
	$(SHELL) $(srcdir)/tests/coverage.sh

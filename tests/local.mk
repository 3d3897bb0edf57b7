# SPDX-License-Identifier: MIT
# tests/local.mk - what `make check` runs; included by ../Makefile.am.
#
#   make check          everything below TESTS: about a minute on two cores
#   make check-stress   the conservation stress for longer; SECONDS_EACH=60 by default
#   make coverage       line coverage of src/, with gcovr
#   make check-faults   the fault tests with ten times as much of each fault: a minute
#   make check-programs programs of other people, with and without fairsem-run: four minutes

TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	CC='$(CC)'; CXX='$(CXX)'; CFLAGS='$(CFLAGS)'; SED='$(SED)'; MAKE='$(MAKE)'; \
	export top_srcdir top_builddir CC CXX CFLAGS SED MAKE;

test_scripts = \
	tests/bench.sh \
	tests/consistency.sh \
	tests/examples.sh \
	tests/exceptions.sh \
	tests/exports.sh \
	tests/fault_examples.sh \
	tests/header.sh \
	tests/install.sh \
	tests/interpose.sh \
	tests/musl.sh \
	tests/soak.sh \
	tests/time_bits.sh \
	tests/watched.sh
include $(top_srcdir)/tests/explore/local.mk
dist_check_SCRIPTS = $(test_scripts)
EXTRA_DIST += tests/coverage.sh tests/programs.sh tests/plain/check.h tests/watched.c

test_programs =
TESTS = $(test_programs) $(test_scripts)
check_PROGRAMS = $(test_programs)

check_LTLIBRARIES =
if TESTS_ENABLED
check_LTLIBRARIES += tests/libtests.la
test_programs += \
	tests/t_arrival_order \
	tests/t_bypass \
	tests/t_callbacks \
	tests/t_cancel \
	tests/t_capacity \
	tests/t_close \
	tests/t_deadline \
	tests/t_debt \
	tests/t_dump \
	tests/t_fault_cancel \
	tests/t_fault_fork \
	tests/t_fault_limits \
	tests/t_fault_plugin \
	tests/t_fault_signals \
	tests/t_fault_stop \
	tests/t_fault_threads \
	tests/t_fault_unload \
	tests/t_fork \
	tests/t_guard \
	tests/t_interrupt \
	tests/t_lifetime \
	tests/t_misuse \
	tests/t_mixed_stress \
	tests/t_notify \
	tests/t_notify_race \
	tests/t_ordering \
	tests/t_posix \
	tests/t_priority \
	tests/t_resize_races \
	tests/t_results \
	tests/t_stat \
	tests/t_stress \
	tests/t_ticket \
	tests/t_ticket_races \
	tests/t_ticket_wait \
	tests/t_token \
	tests/t_units \
	tests/t_waitq \
	tests/t_with
if HAVE_WRAP
test_programs += \
	tests/t_awake tests/t_fault_clock tests/t_fault_memory tests/t_fork_tickets \
	tests/t_late_wakers tests/t_lessons tests/t_provoked tests/t_refused_waits \
	tests/t_signals tests/t_spin
endif
endif
include $(top_srcdir)/tests/mutants/local.mk
include $(top_srcdir)/tests/order/local.mk
include $(top_srcdir)/tests/soak/local.mk

# What interpose.sh runs.  Somebody else's program: it knows neither this library nor Check.
if BUILD_INTERPOSER
check_PROGRAMS += tests/interposed
endif
tests_interposed_SOURCES = tests/interposed.c
tests_interposed_LDADD = $(DL_LIBS)

# A test is one source, tests/NAME.c, and this.  The flags reach the examples and bench too;
# that those need none of them is seen in tests/examples.sh and tests/install.sh.
AM_DEFAULT_SOURCE_EXT = .c
AM_CPPFLAGS += -I$(top_srcdir)/src -D_POSIX_C_SOURCE=200809L
AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = tests/libtests.la libcore.la $(CHECK_LIBS)
tests_libtests_la_SOURCES = \
	tests/askers.h tests/bare.h tests/children.h tests/clockwork.h tests/faults.h \
	tests/heads.h tests/loads.h tests/stress.h tests/suite.h tests/workers.c tests/workers.h

# It loads the library, and has none of its own.
tests_t_fault_unload_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# It loads a plugin that has the objects of libfairsem.a inside.  Without -z nodelete.
if BUILD_INTERPOSER
check_LTLIBRARIES += tests/libplugin.la
endif
tests_libplugin_la_SOURCES =
tests_libplugin_la_LIBADD = libcore.la
tests_libplugin_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_t_fault_plugin_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# What fault_examples.sh puts in front of the examples.
if BUILD_INTERPOSER
check_LTLIBRARIES += tests/libfaultthreads.la
endif
tests_libfaultthreads_la_SOURCES = tests/fault_threads.c
tests_libfaultthreads_la_CPPFLAGS =
tests_libfaultthreads_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_libfaultthreads_la_LIBADD = $(DL_LIBS)

# Calls out of the library that the linker sends to the test first.
tests_t_provoked_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=clock_gettime \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=pthread_cond_signal \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific \
	-Wl,--wrap=pthread_cond_init -Wl,--wrap=fs_futex_park -Wl,--wrap=fs_futex_wake \
	-Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_unlock \
	-Wl,--wrap=fs_callbacks_add
tests_t_signals_LDFLAGS = -Wl,--wrap=nanosleep \
	-Wl,--wrap=pthread_mutex_unlock
clockwork_wraps = -Wl,--wrap=fs_now_ns -Wl,--wrap=fs_park -Wl,--wrap=fs_futex_park \
	-Wl,--wrap=fs_wake_later -Wl,--wrap=fs_wake_word_later \
	-Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_unlock \
	-Wl,--wrap=sched_getaffinity -Wl,--wrap=sysconf
tests_t_awake_LDFLAGS = $(clockwork_wraps)
tests_t_lessons_LDFLAGS = $(clockwork_wraps)
tests_t_spin_LDFLAGS = $(clockwork_wraps)
tests_t_fork_tickets_LDFLAGS = -Wl,--wrap=pthread_cond_wait -Wl,--wrap=fs_park \
	-Wl,--wrap=fs_futex_park -Wl,--wrap=fs_wake_later -Wl,--wrap=fs_wake_word_later
tests_t_late_wakers_LDFLAGS = -Wl,--wrap=fs_park -Wl,--wrap=fs_futex_park \
	-Wl,--wrap=fs_wake_all -Wl,--wrap=pthread_mutex_unlock
tests_t_fault_clock_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=fs_futex_park
tests_t_fault_memory_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_condattr_init -Wl,--wrap=pthread_mutex_init \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific

tests_t_refused_waits_LDFLAGS = -Wl,--wrap=pthread_mutex_lock

# The scripts run what the build made.
check_DATA = $(noinst_PROGRAMS) $(lib_LTLIBRARIES)

.PHONY: check-faults check-programs check-stress coverage
SECONDS_EACH = 60
check-stress: tests/t_stress$(EXEEXT)
	FAIRSEM_STRESS_SECONDS=$(SECONDS_EACH) CK_DEFAULT_TIMEOUT=0 tests/t_stress$(EXEEXT)

check-faults:
	FAIRSEM_FAULTS_TIMES=10 CK_TIMEOUT_MULTIPLIER=10 \
	$(MAKE) check TESTS='$(filter tests/t_fault_%,$(test_programs)) tests/fault_examples.sh'

coverage:
	$(SHELL) $(srcdir)/tests/coverage.sh

check-programs: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/programs.sh

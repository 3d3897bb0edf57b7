# SPDX-License-Identifier: MIT
# tests/faults/local.mk - many faults outside the library; included by ../local.mk.

test_scripts += tests/faults/fault_examples.sh

if TESTS_ENABLED
test_programs += \
	tests/faults/t_fault_cancel \
	tests/faults/t_fault_fork \
	tests/faults/t_fault_limits \
	tests/faults/t_fault_plugin \
	tests/faults/t_fault_signals \
	tests/faults/t_fault_stop \
	tests/faults/t_fault_threads \
	tests/faults/t_fault_unload
if HAVE_WRAP
test_programs += \
	tests/faults/t_fault_clock \
	tests/faults/t_fault_memory \
	tests/faults/t_fault_resources
endif
endif
EXTRA_DIST += tests/faults/faults.h tests/faults/loaded.h

# It loads the library, and has none of its own.
tests_faults_t_fault_unload_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# It loads a plugin that has the objects of libfairsem.a inside.  Without -z nodelete.
if BUILD_SHARED
check_LTLIBRARIES += tests/faults/libplugin.la
endif
tests_faults_libplugin_la_SOURCES =
tests_faults_libplugin_la_LIBADD = libcore.la
tests_faults_libplugin_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_faults_t_fault_plugin_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# What fault_examples.sh preloads into the examples.
if BUILD_SHARED
check_LTLIBRARIES += tests/faults/libfaultthreads.la
endif
tests_faults_libfaultthreads_la_SOURCES = tests/faults/fault_threads.c
tests_faults_libfaultthreads_la_CPPFLAGS =
tests_faults_libfaultthreads_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_faults_libfaultthreads_la_LIBADD = $(DL_LIBS)

# Calls that the linker sends to the test first.
tests_faults_t_fault_clock_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=fs_park_on_word \
	-Wl,--wrap=__clock_gettime64 -Wl,--wrap=__pthread_cond_timedwait64
tests_faults_t_fault_memory_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_condattr_init -Wl,--wrap=pthread_mutex_init \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific
tests_faults_t_fault_resources_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific

.PHONY: check-faults
check-faults:
	FAIRSEM_FAULTS_TIMES=10 CK_TIMEOUT_MULTIPLIER=10 \
	$(MAKE) check TESTS='$(filter tests/faults/%,$(test_programs) $(test_scripts))'

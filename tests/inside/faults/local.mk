# SPDX-License-Identifier: MIT
# tests/inside/faults/local.mk - tests with faults outside of the library; included by ../../local.mk.

verify_scripts += tests/inside/faults/test_fault_examples.py

if TESTS_ENABLED
test_programs += \
	tests/inside/faults/t_fault_limits \
	tests/inside/faults/t_fault_stop \
	tests/inside/faults/t_fault_threads
if BUILD_SHARED
test_programs += tests/inside/faults/t_fault_plugin tests/inside/faults/t_fault_unload
endif
if HAVE_WRAP
test_programs += \
	tests/inside/faults/t_fault_clock \
	tests/inside/faults/t_fault_memory \
	tests/inside/faults/t_fault_resources
endif
endif
EXTRA_DIST += tests/inside/faults/loaded.h

# This test loads the library at run time, and is not linked with it.
tests_inside_faults_t_fault_unload_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# This test loads a plugin that contains the objects of libfairsem.a, and is linked without -z nodelete.
if BUILD_SHARED
check_LTLIBRARIES += tests/inside/faults/libplugin.la
endif
tests_inside_faults_libplugin_la_SOURCES =
tests_inside_faults_libplugin_la_LIBADD = libcore.la
tests_inside_faults_libplugin_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_inside_faults_t_fault_plugin_LDADD = $(CHECK_LIBS) $(DL_LIBS)

# Preloaded into the examples by test_fault_examples.py, and into the commands by tests/limit/test_memory.py.
if BUILD_SHARED
check_LTLIBRARIES += tests/inside/faults/libfaultmemory.la tests/inside/faults/libfaultthreads.la
endif
tests_inside_faults_libfaultmemory_la_SOURCES = tests/inside/faults/fault_memory.c
tests_inside_faults_libfaultmemory_la_CPPFLAGS =
tests_inside_faults_libfaultmemory_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_inside_faults_libfaultmemory_la_LIBADD = $(DL_LIBS)
tests_inside_faults_libfaultthreads_la_SOURCES = tests/inside/faults/fault_threads.c
tests_inside_faults_libfaultthreads_la_CPPFLAGS =
tests_inside_faults_libfaultthreads_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_inside_faults_libfaultthreads_la_LIBADD = $(DL_LIBS)

# Calls that the linker redirects to the test.
tests_inside_faults_t_fault_clock_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=fs_park_on_word \
	-Wl,--wrap=__clock_gettime64 -Wl,--wrap=__pthread_cond_timedwait64
tests_inside_faults_t_fault_memory_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=aligned_alloc \
	-Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_condattr_init -Wl,--wrap=pthread_mutex_init \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific
tests_inside_faults_t_fault_resources_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_key_create -Wl,--wrap=pthread_setspecific

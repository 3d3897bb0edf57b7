# SPDX-License-Identifier: MIT
# tests/local.mk - what `make check` runs; included by ../Makefile.am.
#
# A folder for each purpose; its local.mk says what is in it, and which targets it has:
#
#   behavior/   programs that see the public header, and nothing else
#   whitebox/   programs that know the inside, or stand between the library and what it calls
#   faults/     no memory, no threads, canceled, stopped, unloaded
#   posix/      sem_t
#   cxx/        fairsem.hpp
#   shared/     between processes
#   limit/      fairsem-limit
#   man/        the manual pages
#   debug/      what debuggers and tracers see
#   package/    what users get
#   platforms/  other C libraries, compilers and tools around it
#   support/    what those share
#   explore/ explore-shared/ fuzz/ mutants/ order/ soak/ tools/    whether the tests find what there is

TEST_EXTENSIONS = .sh
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	CC='$(CC)'; CXX='$(CXX)'; CFLAGS='$(CFLAGS)'; SED='$(SED)'; MAKE='$(MAKE)'; \
	export top_srcdir top_builddir CC CXX CFLAGS SED MAKE;

test_programs =
test_scripts =
TESTS = $(test_programs) $(test_scripts)
check_PROGRAMS = $(test_programs)
dist_check_SCRIPTS = $(test_scripts)
check_LTLIBRARIES =

# A test is one source, tests/FOLDER/NAME.c, and this.  The flags reach the examples and bench
# too; that those need none of them is seen in tests/package/examples.sh and install.sh.
AM_DEFAULT_SOURCE_EXT = .c
AM_CPPFLAGS += -I$(top_srcdir)/src -I$(top_srcdir)/src/core -I$(top_srcdir)/tests/support \
	-D_POSIX_C_SOURCE=200809L
AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = tests/support/libtests.la tests/support/libchecked.la $(CHECK_LIBS) $(NO_LTO)

# The scripts run what the build made.
check_DATA = $(noinst_PROGRAMS) $(lib_LTLIBRARIES)

include $(top_srcdir)/tests/support/local.mk
include $(top_srcdir)/tests/behavior/local.mk
include $(top_srcdir)/tests/whitebox/local.mk
include $(top_srcdir)/tests/faults/local.mk
include $(top_srcdir)/tests/posix/local.mk
include $(top_srcdir)/tests/cxx/local.mk
include $(top_srcdir)/tests/limit/local.mk
include $(top_srcdir)/tests/man/local.mk
include $(top_srcdir)/tests/debug/local.mk
include $(top_srcdir)/tests/package/local.mk
include $(top_srcdir)/tests/platforms/local.mk
include $(top_srcdir)/tests/explore/local.mk
include $(top_srcdir)/tests/explore-shared/local.mk
include $(top_srcdir)/tests/mutants/local.mk
include $(top_srcdir)/tests/order/local.mk
include $(top_srcdir)/tests/soak/local.mk
include $(top_srcdir)/tests/shared/local.mk

# SPDX-License-Identifier: MIT
# tests/local.mk - the tests of `make check`, and of the targets that test more; included by ../Makefile.am.
# README.md in this directory says which question each directory answers, and by which command.

TEST_EXTENSIONS = .sh .py
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/support/pytest.sh
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	CC='$(CC)'; CXX='$(CXX)'; CFLAGS='$(CFLAGS)'; SED='$(SED)'; MAKE='$(MAKE)'; \
	export top_srcdir top_builddir CC CXX CFLAGS SED MAKE;

test_programs =
test_scripts =
verify_scripts =
release_scripts =
# The scripts take longest: they run first, so that no core waits for another at the end.
TESTS = $(test_scripts) $(test_programs)
check_PROGRAMS = $(test_programs)
check_LTLIBRARIES =
check_LIBRARIES =
# The usual cru would make ar complain.
ARFLAGS = cr
dist_check_SCRIPTS = $(test_scripts) $(verify_scripts) $(release_scripts)
EXTRA_DIST += tests/README.md tests/not_here.txt tests/verify.sh

.PHONY: verify
verify: all
	@$(AM_TESTS_ENVIRONMENT) ONLY='$(ONLY)' ROWS='$(ROWS)' SEED='$(SEED)' \
	  $(SHELL) $(srcdir)/tests/verify.sh

# After `make check TESTS=...` for some tests: print the result of each test for tests/support/rows.sh.
TELL = tell() { for test; do \
	  if grep -q '^:test-result: PASS' $$test.trs; then echo "ok: $$test"; else cat $$test.log; fi; \
	done; }; tell

# A test program is one source of the same name, with these flags and libraries.  The flags also reach the
# examples and bench, which must not need them: tests/release/package/test_examples.py and install.sh check
# that.
AM_DEFAULT_SOURCE_EXT = .c
AM_CPPFLAGS += -I$(top_srcdir)/src -I$(top_srcdir)/src/core -I$(top_srcdir)/tests/support \
	$(COND_CPPFLAGS) $(POSIX_CPPFLAGS)
AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = tests/support/libtests.a tests/support/libchecked.a $(CHECK_LIBS) $(NO_LTO)

# The scripts run programs and libraries of the build.
check_DATA = $(noinst_PROGRAMS) $(lib_LTLIBRARIES)

include $(top_srcdir)/tests/support/local.mk
include $(top_srcdir)/tests/scenarios/local.mk
include $(top_srcdir)/tests/contract/local.mk
include $(top_srcdir)/tests/posix/local.mk
include $(top_srcdir)/tests/preload/local.mk
include $(top_srcdir)/tests/shared/local.mk
include $(top_srcdir)/tests/limit/local.mk
include $(top_srcdir)/tests/cluster/local.mk
include $(top_srcdir)/tests/cxx/local.mk
include $(top_srcdir)/tests/inside/core/local.mk
include $(top_srcdir)/tests/inside/faults/local.mk
include $(top_srcdir)/tests/search/engine/local.mk
include $(top_srcdir)/tests/search/spec/local.mk
include $(top_srcdir)/tests/search/core/local.mk
include $(top_srcdir)/tests/search/shared/local.mk
include $(top_srcdir)/tests/search/cores/local.mk
include $(top_srcdir)/tests/search/fuzz/local.mk
include $(top_srcdir)/tests/search/model/local.mk
include $(top_srcdir)/tests/search/mutants/local.mk
include $(top_srcdir)/tests/search/stress/local.mk
include $(top_srcdir)/tests/search/tools/local.mk
include $(top_srcdir)/tests/release/debug/local.mk
include $(top_srcdir)/tests/release/man/local.mk
include $(top_srcdir)/tests/release/package/local.mk
include $(top_srcdir)/tests/release/platforms/local.mk

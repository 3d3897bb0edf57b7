# SPDX-License-Identifier: MIT
# tests/local.mk - what `make check` runs, and what runs more; included by ../Makefile.am.
#
#   make check            all C programs, and scripts that take seconds (test_scripts)
#   make verify           everything deeper, a row each (verify.sh); its scripts are verify_scripts
#   make release-check    what is needed before a release only; release_scripts
#
# Its folders are named by what a reader asks; the local.mk of each says what is in it, and which
# targets it has:
#
#   scenarios/ what the library promises, one line each; real threads and the explorer play them
#   contract/  does fairsem.h keep the promises that no scenario can say?
#   shared/ posix/ cxx/ preload/ limit/ cluster/
#              the same question, a room for each header and each command
#   inside/    what only the inside shows: programs that know it, or stand between the library and
#              what it calls
#   search/    who looks for what nobody thought of: every schedule, every death, random sequences,
#              a model, histories, seeded faults, tools
#   release/   what people install, read and build: packages, manuals, debuggers, other platforms
#   support/   what those share

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
# The longest first, so that no core waits for another at the end.
TESTS = $(test_scripts) $(test_programs)
check_PROGRAMS = $(test_programs)
check_LTLIBRARIES =
check_LIBRARIES =
# Not cru, about which ar complains.
ARFLAGS = cr
dist_check_SCRIPTS = $(test_scripts) $(verify_scripts) $(release_scripts)
EXTRA_DIST += tests/not_here.txt tests/verify.sh

.PHONY: verify
verify: all
	@$(AM_TESTS_ENVIRONMENT) ONLY='$(ONLY)' ROWS='$(ROWS)' SEED='$(SEED)' \
	  $(SHELL) $(srcdir)/tests/verify.sh

# After `make check TESTS=...` for some tests only: what each did, as tests/support/rows.sh reads it.
TELL = tell() { for test; do \
	  if grep -q '^:test-result: PASS' $$test.trs; then echo "ok: $$test"; else cat $$test.log; fi; \
	done; }; tell

# A test is one source, of the name of its program, and this.  The flags reach the examples and
# bench too; that those need none of them is seen in tests/release/package/test_examples.py and install.sh.
AM_DEFAULT_SOURCE_EXT = .c
AM_CPPFLAGS += -I$(top_srcdir)/src -I$(top_srcdir)/src/core -I$(top_srcdir)/tests/support \
	$(COND_CPPFLAGS) $(POSIX_CPPFLAGS)
AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = tests/support/libtests.a tests/support/libchecked.a $(CHECK_LIBS) $(NO_LTO)

# The scripts run what the build made.
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

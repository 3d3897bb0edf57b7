# SPDX-License-Identifier: MIT
# tests/search/tools/local.mk - runs tools that find faults in C programs on the library; included by
# ../../local.mk.
#
#   make check-tools                 the tools that analyze sources
#   make check-tools TOOLS=cppcheck  one or some of these tools
#   make coverage                    the lines of src/ that the tests run, with gcovr
#   make check-canaries              can each search distinguish FOUND, NOT FOUND and COULD NOT RUN?

verify_scripts += tests/search/tools/memcheck.sh
EXTRA_DIST += tests/search/tools/accepted.txt \
	tests/search/tools/canary.c tests/search/tools/canary_static.c \
	tests/search/tools/canaries.sh \
	tests/search/tools/check_tools.sh \
	tests/search/tools/coverage.sh \
	tests/search/tools/memcheck.supp \
	tests/search/tools/sanitize.sh \
	tests/search/tools/relaxed.h

.PHONY: check-canaries check-tools coverage
CANARIES =
check-canaries: bench/cost$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/tools/canaries.sh $(CANARIES) $(SKIPS)

TOOLS =
check-tools:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' MAKE='$(MAKE)' \
	$(SHELL) $(srcdir)/tests/search/tools/check_tools.sh $(TOOLS) $(SKIPS)

coverage:
	$(SHELL) $(srcdir)/tests/search/tools/coverage.sh $(SKIPS)

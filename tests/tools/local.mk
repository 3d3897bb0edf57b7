# SPDX-License-Identifier: MIT
# tests/tools/local.mk - the library under tools that find faults in C programs; included by
# ../../Makefile.am.
#
#   make check-tools                 all of them: three and a half minutes on two cores
#   make check-tools TOOLS="drd"     one, or some
#   make coverage                    which lines of src/ the tests run, with gcovr
#   make check-canaries              can each search tell FOUND, NOT FOUND and COULD NOT RUN apart?

tools_canaries = \
	tests/tools/canary_leak.c \
	tests/tools/canary_lock_order.c \
	tests/tools/canary_order.c \
	tests/tools/canary_race.c \
	tests/tools/canary_static.c \
	tests/tools/canary_undefined.c \
	tests/tools/canary_uninitialised.c \
	tests/tools/canary_unlock.c \
	tests/tools/canary_use_after_free.c \
	tests/tools/canary_use_after_return.c
EXTRA_DIST += $(tools_canaries) \
	tests/tools/accepted.txt \
	tests/tools/annotations.h \
	tests/tools/build.mk \
	tests/tools/canaries.sh \
	tests/tools/check_tools.sh \
	tests/tools/coverage.sh \
	tests/tools/drd.supp \
	tests/tools/helgrind.supp \
	tests/tools/memcheck.supp \
	tests/tools/relaxed.h

.PHONY: check-canaries check-tools coverage
CANARIES =
check-canaries: bench/cost$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/tools/canaries.sh $(CANARIES)

TOOLS =
check-tools:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' MAKE='$(MAKE)' \
	$(SHELL) $(srcdir)/tests/tools/check_tools.sh $(TOOLS)

coverage:
	$(SHELL) $(srcdir)/tests/tools/coverage.sh

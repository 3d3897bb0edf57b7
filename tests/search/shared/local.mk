# SPDX-License-Identifier: MIT
# tests/search/shared/local.mk - the semaphore between processes under every schedule and every
# death; included by tests/local.mk.  See explorer.h.
#
#   make check-explore-shared       all scenarios, up to two preemptions and two deaths
#   make tests/search/shared/dies  the explorer alone: --help

test_scripts += tests/search/shared/quick.sh

EXTRA_DIST += \
	tests/search/shared/access.c \
	tests/search/shared/actors.c \
	tests/search/shared/all.sh \
	tests/search/shared/audit.c \
	tests/search/shared/build.sh \
	tests/search/shared/explorer.h \
	tests/search/shared/kernel.c \
	tests/search/shared/layer.h \
	tests/search/shared/main.c \
	tests/search/shared/oracles.c \
	tests/search/shared/process.c \
	tests/search/shared/scenarios.c \
	tests/search/shared/schedule.c \
	tests/search/shared/states.c \
	tests/search/shared/threads.c

.PHONY: check-explore-shared tests/search/shared/dies
check-explore-shared:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/shared/all.sh $(SKIPS)

tests/search/shared/dies:
	$(MKDIR_P) tests/search/shared
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/shared/build.sh $(srcdir)/src $@

clean-local: clean-explore-shared
clean-explore-shared:
	-rm -rf tests/search/shared/dies tests/search/shared/dies.objects

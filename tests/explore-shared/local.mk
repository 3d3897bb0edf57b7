# SPDX-License-Identifier: MIT
# tests/explore-shared/local.mk - the semaphore between processes under every schedule and every
# death; included by tests/local.mk.  dies.h says how it works.
#
#   make check-explore-shared       all scenarios, up to two preemptions and two deaths
#   make tests/explore-shared/dies  the explorer alone: --list, --replay, names of scenarios

test_scripts += tests/explore-shared/quick.sh

EXTRA_DIST += \
	tests/explore-shared/access.c \
	tests/explore-shared/all.sh \
	tests/explore-shared/audit.c \
	tests/explore-shared/build.sh \
	tests/explore-shared/dies.h \
	tests/explore-shared/kernel.c \
	tests/explore-shared/layer.h \
	tests/explore-shared/main.c \
	tests/explore-shared/oracles.c \
	tests/explore-shared/process.c \
	tests/explore-shared/scenarios.c \
	tests/explore-shared/schedule.c \
	tests/explore-shared/script.c \
	tests/explore-shared/search.c \
	tests/explore-shared/states.c \
	tests/explore-shared/threads.c

.PHONY: check-explore-shared tests/explore-shared/dies
check-explore-shared:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore-shared/all.sh

tests/explore-shared/dies:
	$(MKDIR_P) tests/explore-shared
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore-shared/build.sh $(srcdir)/src $@

clean-local: clean-explore-shared
clean-explore-shared:
	-rm -rf tests/explore-shared/dies tests/explore-shared/dies.objects \
		tests/explore-shared/second-half

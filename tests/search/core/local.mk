# SPDX-License-Identifier: MIT
# tests/search/core/local.mk - the library's sources under every schedule; included by
# tests/local.mk.  explorer.h says how it works.
#
#   make check-explore            all scenarios, at most two preemptions, and 2,000
#                                 generated ones
#   make check-explore BOUND=3    at most three preemptions
#   make explore-more SECONDS=60  generated scenarios with new numbers, for 60 seconds (SECONDS is
#                                 in tests/search/fuzz/local.mk)
#   make check-explore-weak       weak memory: at most one preemption and one stale load
#   make tests/search/core/explore    the explorer alone: --help

test_scripts += tests/search/core/quick.sh

EXTRA_DIST += \
	tests/search/core/access.c \
	tests/search/core/actors.c \
	tests/search/core/all.sh \
	tests/search/core/bounds.c \
	tests/search/core/build.sh \
	tests/search/core/calls_back.c \
	tests/search/core/campaign.c \
	tests/search/core/clock.c \
	tests/search/core/coverage.c \
	tests/search/core/explorer.h \
	tests/search/core/generate.c \
	tests/search/core/history.c \
	tests/search/core/instead/awake.c \
	tests/search/core/layer.h \
	tests/search/core/legal.c \
	tests/search/core/litmus.c tests/search/core/litmus_tests.h \
	tests/search/core/main.c \
	tests/search/core/memory.c \
	tests/search/core/minimize.c \
	tests/search/core/model.c tests/search/core/model.h \
	tests/search/core/model_steps.c \
	tests/search/core/model_tickets.c \
	tests/search/core/more.sh \
	tests/search/core/origins.c \
	tests/search/core/oracles.c tests/search/core/oracles.h \
	tests/search/core/process.c \
	tests/search/core/races.c \
	tests/search/core/schedule.c \
	tests/search/core/states.c \
	tests/search/core/stores.c \
	tests/search/core/threads.c \
	tests/search/core/trace.c \
	tests/search/core/users.c \
	tests/search/core/views.c tests/search/core/views.h \
	tests/search/core/views_state.c \
	tests/search/core/waiters.c \
	tests/search/core/weak.sh

BOUND = 2
.PHONY: check-explore check-explore-weak explore-more tests/search/core/explore
check-explore:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/core/all.sh $(BOUND) $(SKIPS)

explore-more:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/core/more.sh $(SECONDS) $(SKIPS)

check-explore-weak:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/core/weak.sh $(SKIPS)

tests/search/core/explore:
	$(MKDIR_P) tests/search/core
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/core/build.sh $(srcdir)/src $@

clean-local: clean-explore
clean-explore:
	-rm -rf tests/search/core/*.objects tests/search/core/explore

# SPDX-License-Identifier: MIT
# tests/explore/local.mk - the library's sources under every schedule; included by
# tests/local.mk.  explore.h says how it works.
#
#   make check-explore            all scenarios, both parkers, at most two preemptions, and 2,000
#                                 generated ones
#   make check-explore BOUND=3    at most three
#   make explore-more SECONDS=60  generated scenarios with new numbers, for so long (SECONDS is
#                                 in tests/fuzz/local.mk)
#   make check-explore-weak       weak memory: at most one preemption and one old load
#   make check-orders             each acquire and release in src/ weakened, and found
#   make check-orders PART=1/4    one of four of them (PART is in tests/mutants/local.mk)
#   make tests/explore/explore    the explorer alone: --list, --replay, names of scenarios

test_scripts += tests/explore/quick.sh

EXTRA_DIST += \
	tests/explore/access.c \
	tests/explore/actors.c \
	tests/explore/all.sh \
	tests/explore/bounds.c \
	tests/explore/build.sh \
	tests/explore/calls_back.c \
	tests/explore/campaign.c \
	tests/explore/clock.c \
	tests/explore/coverage.c tests/explore/coverage.h \
	tests/explore/draft.c tests/explore/draft.h \
	tests/explore/explore.h \
	tests/explore/fibre.c tests/explore/fibre.h \
	tests/explore/generate.c \
	tests/explore/history.c \
	tests/explore/layer.h \
	tests/explore/litmus.c tests/explore/litmus.h \
	tests/explore/litmus_tests.c \
	tests/explore/main.c \
	tests/explore/memory.c \
	tests/explore/minimize.c tests/explore/minimize.h \
	tests/explore/model.c tests/explore/model.h \
	tests/explore/model_steps.c \
	tests/explore/model_tickets.c \
	tests/explore/more.sh \
	tests/explore/orders.sh tests/explore/orders.txt \
	tests/explore/origins.c \
	tests/explore/oracles.c tests/explore/oracles.h \
	tests/explore/pairs.c \
	tests/explore/process.c \
	tests/explore/promises.c \
	tests/explore/races.c \
	tests/explore/scenarios.c \
	tests/explore/schedule.c \
	tests/explore/script.c \
	tests/explore/search.c tests/explore/search.h \
	tests/explore/seen.c tests/explore/seen.h \
	tests/explore/states.c \
	tests/explore/static_first.c tests/explore/static_last.c \
	tests/explore/stores.c \
	tests/explore/threads.c \
	tests/explore/trace.c \
	tests/explore/users.c \
	tests/explore/views.c tests/explore/views.h \
	tests/explore/views_state.c \
	tests/explore/waiters.c \
	tests/explore/weak.sh \
	tests/explore/words.c

BOUND = 2
.PHONY: check-explore check-explore-weak check-orders explore-more tests/explore/explore
check-explore:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore/all.sh $(BOUND)

explore-more:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore/more.sh $(SECONDS)

check-explore-weak:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore/weak.sh

check-orders:
	$(AM_TESTS_ENVIRONMENT) PART='$(PART)' $(SHELL) $(srcdir)/tests/explore/orders.sh

tests/explore/explore:
	$(MKDIR_P) tests/explore
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/explore/build.sh $(srcdir)/src $@

clean-local: clean-explore
clean-explore:
	-rm -rf tests/explore/*.objects tests/explore/explore tests/explore/explore-cond \
		tests/explore/explore-futex tests/explore/second-half tests/explore/large \
		tests/explore/others tests/explore/orders tests/explore/seen.?

# SPDX-License-Identifier: MIT
# tests/search/stress/local.mk - everything at once on real threads; included by ../../local.mk.
#
#   make check-stress    ten times as much of this, and of tests that use stress.h (TIMES=10)
#   make soak            this for half an hour (HOURS=0.5)

verify_scripts += tests/search/stress/can_fail.sh

if TESTS_ENABLED
test_programs += tests/search/stress/stress
endif
tests_search_stress_stress_SOURCES = \
	tests/search/stress/actors.h \
	tests/search/stress/forker.c \
	tests/search/stress/founder.c \
	tests/search/stress/hunter.c \
	tests/search/stress/player.c \
	tests/search/stress/stress.c \
	tests/search/stress/warden.c
.PHONY: check-stress soak
TIMES = 10
HOURS = 0.5
check-stress:
	@programs='$(filter tests/scenarios/% tests/contract/% tests/posix/% tests/search/stress/% \
	  tests/inside/faults/t_fault_clock,$(test_programs))'; \
	FAIRSEM_STRESS_TIMES=$(TIMES) CK_TIMEOUT_MULTIPLIER=10 $(MAKE) check TESTS="$$programs" && \
	  { $(TELL) $$programs; }
soak: tests/search/stress/stress$(EXEEXT)
	tests/search/stress/stress$(EXEEXT) hours=$(HOURS) patience=60

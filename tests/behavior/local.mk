# SPDX-License-Identifier: MIT
# tests/behavior/local.mk - tests of what the public header promises, through that header alone;
# included by ../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/behavior/t_about \
	tests/behavior/t_arrival_order \
	tests/behavior/t_bypass \
	tests/behavior/t_callbacks \
	tests/behavior/t_cancel \
	tests/behavior/t_capacity \
	tests/behavior/t_close \
	tests/behavior/t_deadline \
	tests/behavior/t_debt \
	tests/behavior/t_drain \
	tests/behavior/t_dump \
	tests/behavior/t_fork \
	tests/behavior/t_fork_callbacks \
	tests/behavior/t_guard \
	tests/behavior/t_interrupt \
	tests/behavior/t_lifetime \
	tests/behavior/t_misuse \
	tests/behavior/t_mixed_stress \
	tests/behavior/t_notify \
	tests/behavior/t_notify_race \
	tests/behavior/t_priority \
	tests/behavior/t_results \
	tests/behavior/t_stat \
	tests/behavior/t_stress \
	tests/behavior/t_ticket \
	tests/behavior/t_ticket_wait \
	tests/behavior/t_token \
	tests/behavior/t_units \
	tests/behavior/t_with
endif

.PHONY: check-stress
SECONDS_EACH = 60
check-stress: tests/behavior/t_stress$(EXEEXT)
	FAIRSEM_STRESS_SECONDS=$(SECONDS_EACH) CK_DEFAULT_TIMEOUT=0 \
	tests/behavior/t_stress$(EXEEXT)

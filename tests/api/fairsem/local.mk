# SPDX-License-Identifier: MIT
# tests/api/fairsem/local.mk - tests of what the public header promises, through that header alone;
# included by ../../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/api/fairsem/t_about \
	tests/api/fairsem/t_aging \
	tests/api/fairsem/t_all \
	tests/api/fairsem/t_arrival_order \
	tests/api/fairsem/t_bypass \
	tests/api/fairsem/t_callbacks \
	tests/api/fairsem/t_cancel \
	tests/api/fairsem/t_capacity \
	tests/api/fairsem/t_close \
	tests/api/fairsem/t_deadline \
	tests/api/fairsem/t_debt \
	tests/api/fairsem/t_drain \
	tests/api/fairsem/t_dump \
	tests/api/fairsem/t_fork \
	tests/api/fairsem/t_fork_callbacks \
	tests/api/fairsem/t_guard \
	tests/api/fairsem/t_interrupt \
	tests/api/fairsem/t_lifetime \
	tests/api/fairsem/t_misuse \
	tests/api/fairsem/t_notify \
	tests/api/fairsem/t_notify_race \
	tests/api/fairsem/t_priority \
	tests/api/fairsem/t_results \
	tests/api/fairsem/t_stat \
	tests/api/fairsem/t_ticket \
	tests/api/fairsem/t_ticket_wait \
	tests/api/fairsem/t_token \
	tests/api/fairsem/t_units \
	tests/api/fairsem/t_with
endif

# SPDX-License-Identifier: MIT
# tests/contract/local.mk - tests of what the public header promises, through that header alone, where
# a line of ../scenarios/ cannot say it: fork, signals, memory, clocks, C's own things; included by
# ../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/contract/t_about \
	tests/contract/t_aging \
	tests/contract/t_all \
	tests/contract/t_bypass \
	tests/contract/t_callbacks \
	tests/contract/t_deadline \
	tests/contract/t_dump \
	tests/contract/t_fork \
	tests/contract/t_fork_callbacks \
	tests/contract/t_guard \
	tests/contract/t_interrupt \
	tests/contract/t_lifetime \
	tests/contract/t_many \
	tests/contract/t_memory \
	tests/contract/t_misuse \
	tests/contract/t_notify \
	tests/contract/t_notify_race \
	tests/contract/t_results \
	tests/contract/t_share \
	tests/contract/t_stat \
	tests/contract/t_with
endif

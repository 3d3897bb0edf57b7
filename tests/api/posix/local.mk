# SPDX-License-Identifier: MIT
# tests/api/posix/local.mk - sem_t: the functions of fairsem/posix.h; included by ../../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/api/posix/t_posix_cancel \
	tests/api/posix/t_posix_fork \
	tests/api/posix/t_posix_lifetime \
	tests/api/posix/t_posix_order \
	tests/api/posix/t_posix_results \
	tests/api/posix/t_posix_signals \
	tests/api/posix/t_posix_zeroed
endif
EXTRA_DIST += tests/api/posix/callers.h

# SPDX-License-Identifier: MIT
# tests/posix/local.mk - sem_t: the functions of fairsem/posix.h; included by ../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/posix/t_posix_cancel \
	tests/posix/t_posix_lifetime \
	tests/posix/t_posix_order \
	tests/posix/t_posix_results \
	tests/posix/t_posix_signals \
	tests/posix/t_posix_zeroed
endif
EXTRA_DIST += tests/posix/callers.h

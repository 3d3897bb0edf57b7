# SPDX-License-Identifier: MIT
# tests/shared/local.mk - the semaphore between processes; included by ../local.mk.
#
#   make check-shared-storm     kill storms, stops in every step, damage; takes minutes

if TESTS_ENABLED
if HAVE_SHARED
test_programs += \
	tests/shared/t_shared_damage \
	tests/shared/t_shared_death \
	tests/shared/t_shared_lock \
	tests/shared/t_shared_names \
	tests/shared/t_shared_open \
	tests/shared/t_shared_order \
	tests/shared/t_shared_posix \
	tests/shared/t_shared_posix_open \
	tests/shared/t_shared_results \
	tests/shared/t_shared_set_units \
	tests/shared/t_shared_shares \
	tests/shared/t_shared_stepped \
	tests/shared/t_shared_stopped \
	tests/shared/t_shared_storm
if HAVE_WRAP
test_programs += \
	tests/shared/t_shared_apart \
	tests/shared/t_shared_awake \
	tests/shared/t_shared_memory
endif
endif
endif

EXTRA_DIST += tests/shared/crowd.h

# t_shared_apart treats each handle like a process of its own.
tests_shared_t_shared_apart_LDFLAGS = -Wl,--wrap=fs_liveness_lock -Wl,--wrap=fs_liveness_unlock \
	-Wl,--wrap=fs_liveness_test -Wl,--wrap=fs_file_map -Wl,--wrap=fs_file_unmap
tests_shared_t_shared_awake_LDFLAGS = -Wl,--wrap=fs_awake_stay -Wl,--wrap=fs_cpu_count \
	-Wl,--wrap=fs_cpu_current -Wl,--wrap=fs_shared_wake
# t_shared_memory refuses memory, replaces a file between two steps, and lets reads of a file fail.
tests_shared_t_shared_memory_LDFLAGS = -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=fs_file_map -Wl,--wrap=fs_file_open -Wl,--wrap=fs_file_inspect -Wl,--wrap=fs_file_read

.PHONY: check-shared-storm
shared_storm = tests/shared/t_shared_storm tests/shared/t_shared_stepped \
	tests/shared/t_shared_stopped tests/shared/t_shared_damage tests/shared/t_shared_apart
check-shared-storm:
	FAIRSEM_SHARED_TIMES=30 CK_TIMEOUT_MULTIPLIER=60 $(MAKE) -j2 check TESTS='$(shared_storm)'
	@$(TELL) $(shared_storm)

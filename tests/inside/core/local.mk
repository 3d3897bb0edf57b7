# SPDX-License-Identifier: MIT
# tests/inside/core/local.mk - tests that use the library's internals, or replace functions that it
# calls; included by ../../local.mk.

if TESTS_ENABLED
test_programs += \
	tests/inside/core/bench_stats \
	tests/inside/core/t_ordering \
	tests/inside/core/t_real_time \
	tests/inside/core/t_resize_races \
	tests/inside/core/t_ticket_races \
	tests/inside/core/t_waitq
if HAVE_WRAP
test_programs += \
	tests/inside/core/t_awake \
	tests/inside/core/t_bypass_bound \
	tests/inside/core/t_callback_waits \
	tests/inside/core/t_convoy \
	tests/inside/core/t_fork_inside \
	tests/inside/core/t_late_wakers \
	tests/inside/core/t_mutex \
	tests/inside/core/t_near \
	tests/inside/core/t_quota \
	tests/inside/core/t_signals \
	tests/inside/core/t_sleep \
	tests/inside/core/t_wake_many
endif
endif

# The statistics of the benchmarks: the only part of them that can be tested by itself.
tests_inside_core_bench_stats_SOURCES = tests/inside/core/bench_stats.c bench/stats.c bench/stats.h
tests_inside_core_bench_stats_LDADD = $(LDADD) $(LIBM)

# Calls that the linker redirects to the test.
tests_inside_core_t_signals_LDFLAGS = -Wl,--wrap=pthread_mutex_unlock
tests_inside_core_t_mutex_LDFLAGS = -Wl,--wrap=pthread_mutex_trylock -Wl,--wrap=pthread_mutex_lock \
	-Wl,--wrap=fs_cpu_is_time_shared -Wl,--wrap=fs_sleep_shortly \
	-Wl,--wrap=fs_cpu_count -Wl,--wrap=sched_yield
tests_inside_core_t_quota_LDFLAGS = -Wl,--wrap=fs_quota_cores
tests_inside_core_t_real_time_LDFLAGS = -Wl,--wrap=fs_may_be_real_time \
	-Wl,--wrap=fs_real_time_priority
tests_inside_core_t_sleep_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_cond_timedwait \
	-Wl,--wrap=__clock_gettime64 -Wl,--wrap=__pthread_cond_timedwait64 \
	-Wl,--wrap=pthread_cond_signal -Wl,--wrap=fs_park_on_word -Wl,--wrap=fs_unpark_word \
	-Wl,--wrap=syscall
clockwork_wraps = -Wl,--wrap=fs_now_ns -Wl,--wrap=fs_park_on_cond -Wl,--wrap=fs_park_on_word \
	-Wl,--wrap=fs_wake_queue_add_parker -Wl,--wrap=fs_wake_queue_add_word \
	-Wl,--wrap=pthread_mutex_lock -Wl,--wrap=pthread_mutex_trylock \
	-Wl,--wrap=pthread_mutex_unlock \
	-Wl,--wrap=fs_cpu_current -Wl,--wrap=fs_cpu_count -Wl,--wrap=fs_cpu_is_time_shared \
	-Wl,--wrap=sched_yield -Wl,--wrap=fs_process_ns
tests_inside_core_t_awake_LDFLAGS = $(clockwork_wraps)
tests_inside_core_t_convoy_LDFLAGS = $(clockwork_wraps)
tests_inside_core_t_near_LDFLAGS = $(clockwork_wraps)
tests_inside_core_t_bypass_bound_LDFLAGS = $(clockwork_wraps)
tests_inside_core_t_fork_inside_LDFLAGS = -Wl,--wrap=pthread_key_create \
	-Wl,--wrap=fs_sleep_shortly -Wl,--wrap=fs_park_on_cond \
	-Wl,--wrap=fs_park_on_word -Wl,--wrap=fs_wake_queue_add_parker -Wl,--wrap=fs_wake_queue_add_word
tests_inside_core_t_callback_waits_LDFLAGS = -Wl,--wrap=fs_sleep_shortly
restless_wraps = -Wl,--wrap=fs_park_on_cond -Wl,--wrap=fs_park_on_word
tests_inside_core_t_late_wakers_LDFLAGS = $(restless_wraps) \
	-Wl,--wrap=fs_wake_queue_run -Wl,--wrap=fs_callbacks_run -Wl,--wrap=pthread_mutex_unlock
tests_inside_core_t_wake_many_LDFLAGS = $(restless_wraps) -Wl,--wrap=fs_wake_queue_run \
	-Wl,--wrap=pthread_cond_wait -Wl,--wrap=pthread_cond_signal -Wl,--wrap=pthread_mutex_unlock

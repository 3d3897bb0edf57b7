# SPDX-License-Identifier: MIT
# tests/search/fuzz/local.mk - sequences of calls, compared with a model; included by ../../local.mk.
#
#   make check              runs tests/search/fuzz/replay: the corpus, then generated sequences
#   make fuzz               libFuzzer for SECONDS=60, with clang
#   tests/search/fuzz/replay --words BYTES    prints what a sequence does

fuzz_sources = \
	tests/search/fuzz/bytes.c tests/search/fuzz/bytes.h \
	tests/search/fuzz/checks.c \
	tests/search/fuzz/how.c \
	tests/search/fuzz/machine.c tests/search/fuzz/machine.h \
	tests/search/fuzz/model.c tests/search/fuzz/model.h \
	tests/search/fuzz/others.c \
	tests/search/fuzz/several.c \
	tests/search/fuzz/steps.c tests/search/fuzz/steps.h \
	tests/search/fuzz/threads.c tests/search/fuzz/threads.h \
	tests/search/fuzz/words.c tests/search/fuzz/words.h \
	tests/search/fuzz/world.c tests/search/fuzz/world.h \
	tests/scenarios/script.c $(spec_sources)
EXTRA_DIST += $(fuzz_sources) tests/search/fuzz/build.sh tests/search/fuzz/corpus.py \
	tests/search/fuzz/corpus.txt tests/search/fuzz/fuzz.sh \
	tests/search/fuzz/fuzz_target.c tests/search/fuzz/replay.c

if HAVE_WRAP
if HAVE_UNWIND
test_programs += tests/search/fuzz/replay
endif
endif
tests_search_fuzz_replay_SOURCES = $(fuzz_sources) tests/search/fuzz/replay.c
tests_search_fuzz_replay_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS)
tests_search_fuzz_replay_LDADD = tests/support/libchecked.a $(NO_LTO)
# machine.c and several.c define the same functions; build.sh reads their names there.
tests_search_fuzz_replay_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_mutex_lock \
	-Wl,--wrap=pthread_mutex_trylock \
	-Wl,--wrap=pthread_mutex_unlock -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_cond_wait -Wl,--wrap=pthread_cond_timedwait \
	-Wl,--wrap=pthread_cond_signal -Wl,--wrap=pthread_key_create \
	-Wl,--wrap=pthread_getspecific -Wl,--wrap=pthread_setspecific \
	-Wl,--wrap=pthread_self -Wl,--wrap=syscall \
	-Wl,--wrap=__clock_gettime64 -Wl,--wrap=__pthread_cond_timedwait64 \
	-Wl,--wrap=fairsem_acquire_with -Wl,--wrap=fairsem_acquire_with_time64 \
	-Wl,--wrap=fairsem_release

.PHONY: fuzz
SECONDS = 60
fuzz:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/fuzz/fuzz.sh $(SECONDS) $(SKIPS)

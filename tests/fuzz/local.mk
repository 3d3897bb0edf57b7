# SPDX-License-Identifier: MIT
# tests/fuzz/local.mk - sequences of calls beside a model; included by ../../Makefile.am.
#
#   make check              runs tests/fuzz/replay: the corpus, then generated sequences
#   make fuzz               libFuzzer for SECONDS=60, with clang
#   tests/fuzz/replay --words FILE     prints the calls of what libFuzzer has found

fuzz_sources = \
	tests/fuzz/bytes.c tests/fuzz/bytes.h \
	tests/fuzz/calls.c tests/fuzz/calls.h \
	tests/fuzz/machine.c tests/fuzz/machine.h \
	tests/fuzz/model.c tests/fuzz/model.h \
	tests/fuzz/sequence.c tests/fuzz/sequence.h \
	tests/fuzz/steps.h \
	tests/fuzz/steps_sem.c \
	tests/fuzz/steps_ticket.c \
	tests/fuzz/steps_units.c \
	tests/fuzz/steps_wait.c \
	tests/fuzz/threads.c tests/fuzz/threads.h \
	tests/fuzz/words.c tests/fuzz/words.h \
	tests/fuzz/world.c tests/fuzz/world.h
EXTRA_DIST += $(fuzz_sources) tests/fuzz/build.sh tests/fuzz/corpus.txt tests/fuzz/fuzz.sh \
	tests/fuzz/fuzz_target.c tests/fuzz/replay.c

if HAVE_WRAP
test_programs += tests/fuzz/replay
endif
tests_fuzz_replay_SOURCES = $(fuzz_sources) tests/fuzz/replay.c
tests_fuzz_replay_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS)
tests_fuzz_replay_LDADD = tests/support/libchecked.la $(NO_LTO)
# machine.c has the same list; build.sh reads it there.
tests_fuzz_replay_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=pthread_mutex_lock \
	-Wl,--wrap=pthread_mutex_trylock \
	-Wl,--wrap=pthread_mutex_unlock -Wl,--wrap=pthread_cond_init \
	-Wl,--wrap=pthread_cond_wait -Wl,--wrap=pthread_cond_timedwait \
	-Wl,--wrap=pthread_cond_signal -Wl,--wrap=pthread_key_create \
	-Wl,--wrap=pthread_getspecific -Wl,--wrap=pthread_setspecific \
	-Wl,--wrap=pthread_self -Wl,--wrap=syscall \
	-Wl,--wrap=__clock_gettime64 -Wl,--wrap=__pthread_cond_timedwait64

.PHONY: fuzz
SECONDS = 60
fuzz:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh $(SECONDS)

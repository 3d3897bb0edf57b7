# SPDX-License-Identifier: MIT
# tests/support/local.mk - shared code of the tests, and a replacement for Check where there is none;
# included by ../local.mk.

if TESTS_ENABLED
check_LIBRARIES += tests/support/libtests.a
endif

# The library with additional checks for tests: invariants at the end of each critical section,
# transitions of the state machines, owners of the mutexes.
tests_support_libchecked_a_SOURCES = $(libcore_la_SOURCES)
tests_support_libchecked_a_CPPFLAGS = $(lib_cppflags) -DFS_CHECKED=1
tests_support_libchecked_a_CFLAGS = $(lib_cflags)
check_LIBRARIES += tests/support/libchecked.a

tests_support_libtests_a_SOURCES = \
	tests/support/askers.h \
	tests/support/busy.h \
	tests/support/bare.h tests/support/wide_time.h \
	tests/support/children.h \
	tests/support/clockwork.h \
	tests/support/emulated.h \
	tests/support/hang.h \
	tests/support/moment.h \
	tests/support/restless.h \
	tests/support/seed.h \
	tests/support/stress.h \
	tests/support/suite.h \
	tests/support/tried.h \
	tests/support/workers.c tests/support/workers.h
EXTRA_DIST += tests/support/needs.txt tests/support/plain/check.h tests/support/part.sh tests/support/rows.sh \
	tests/support/cases.py tests/support/compiled.py tests/support/configured.sh tests/support/hang.py \
	tests/support/pytest.sh \
	tests/support/result.sh tests/support/script.sh

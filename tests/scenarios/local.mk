# SPDX-License-Identifier: MIT
# tests/scenarios/local.mk - what the library promises, in one language (language.h): the table
# scenarios.c, and its player for real threads.  The explorer in ../search/core/ is another player;
# included by ../local.mk.

EXTRA_DIST += \
	tests/scenarios/calls.h \
	tests/scenarios/language.h \
	tests/scenarios/scenarios.c \
	tests/scenarios/script.c \
	tests/scenarios/verbs.h \
	tests/scenarios/words.c
if TESTS_ENABLED
test_programs += tests/scenarios/t_scenarios
endif

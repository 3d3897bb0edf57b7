# SPDX-License-Identifier: MIT
# tests/search/soak/local.mk - all functions at once for hours; included by ../../local.mk.

verify_scripts += tests/search/soak/quick.sh

if TESTS_ENABLED
check_PROGRAMS += tests/search/soak/soak
endif
tests_search_soak_soak_SOURCES = \
	tests/search/soak/arena.c tests/search/soak/arena.h \
	tests/search/soak/forker.c \
	tests/search/soak/founder.c \
	tests/search/soak/hunter.c \
	tests/search/soak/memory.c tests/search/soak/memory.h \
	tests/search/soak/player.c \
	tests/search/soak/signaller.c \
	tests/search/soak/soak.c tests/search/soak/soak.h \
	tests/search/soak/warden.c \
	tests/search/soak/watch.c tests/search/soak/watch.h

.PHONY: soak
HOURS = 0.5
soak: tests/search/soak/soak$(EXEEXT)
	tests/search/soak/soak$(EXEEXT) $(HOURS)

# SPDX-License-Identifier: MIT
# tests/soak/local.mk - all functions at once for hours; included by ../local.mk.

test_scripts += tests/soak/quick.sh

if TESTS_ENABLED
check_PROGRAMS += tests/soak/soak
endif
tests_soak_soak_SOURCES = \
	tests/soak/arena.c tests/soak/arena.h \
	tests/soak/forker.c \
	tests/soak/founder.c \
	tests/soak/hunter.c \
	tests/soak/memory.c tests/soak/memory.h \
	tests/soak/player.c \
	tests/soak/signaller.c \
	tests/soak/soak.c tests/soak/soak.h \
	tests/soak/warden.c \
	tests/soak/watch.c tests/soak/watch.h

.PHONY: soak
HOURS = 0.5
soak: tests/soak/soak$(EXEEXT)
	tests/soak/soak$(EXEEXT) $(HOURS)

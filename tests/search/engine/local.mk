# SPDX-License-Identifier: MIT
# tests/search/engine/local.mk - shared sources of the explorers in ../core/ and ../shared/; included by
# tests/local.mk.  See engine.h; the build.sh of each explorer compiles them.

EXTRA_DIST += \
	tests/search/engine/build.sh \
	tests/search/engine/command.c \
	tests/search/engine/engine.h \
	tests/search/engine/fibre.c tests/search/engine/fibre.h \
	tests/search/engine/help.sh \
	tests/search/engine/instrument.c \
	tests/search/engine/layer.h \
	tests/search/engine/posix.c \
	tests/search/engine/run.c \
	tests/search/engine/search.c \
	tests/search/engine/seen.c \
	tests/search/engine/shorten.c \
	tests/search/engine/stacks.c \
	tests/search/engine/static_first.c tests/search/engine/static_last.c \
	tests/search/engine/unlearned.h

# SPDX-License-Identifier: MIT
# src/tools/local.mk - for compilers, race detectors, tracers and the test build; included by ../../Makefile.am.

libcore_la_SOURCES += \
	src/tools/annotate.c src/tools/annotate.h \
	src/tools/annotate_valgrind.c src/tools/annotate_valgrind.h \
	src/tools/buckets.h \
	src/tools/cleanup.h \
	src/tools/compiler.h \
	src/tools/invariant.h \
	src/tools/misuse.c \
	src/tools/probes.h

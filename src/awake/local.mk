# SPDX-License-Identifier: MIT
# src/awake/local.mk - who stays awake for its turn: the policy; included by ../../Makefile.am.

libcore_la_SOURCES += \
	src/awake/awake.c src/awake/awake.h

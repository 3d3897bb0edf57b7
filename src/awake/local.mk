# SPDX-License-Identifier: MIT
# src/awake/local.mk - which waiters stay awake: the policy; included by ../../Makefile.am.

libcore_la_SOURCES += \
	src/awake/awake.c src/awake/awake.h

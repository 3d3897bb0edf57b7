# SPDX-License-Identifier: MIT
# tests/platforms/local.mk - the library elsewhere: another C library, another time_t, C++ around
# it, and tools that watch the programs of its users; included by ../local.mk.

test_scripts += \
	tests/platforms/exceptions.sh \
	tests/platforms/musl.sh \
	tests/platforms/time_bits.sh \
	tests/platforms/watched.sh
EXTRA_DIST += tests/platforms/watched.c

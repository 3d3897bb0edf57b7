# SPDX-License-Identifier: MIT
# tests/release/debug/local.mk - tests of the support for debuggers and tracers; included by ../../local.mk.

verify_scripts += tests/release/debug/gdb.sh tests/release/debug/probes.sh
EXTRA_DIST += tests/release/debug/layout.py tests/release/debug/probed.c tests/release/debug/waiting.c

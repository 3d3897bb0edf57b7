# SPDX-License-Identifier: MIT
# tests/debug/local.mk - what debuggers and tracers see; included by ../local.mk.

test_scripts += tests/debug/gdb.sh tests/debug/probes.sh
EXTRA_DIST += tests/debug/layout.py tests/debug/probed.c tests/debug/waiting.c

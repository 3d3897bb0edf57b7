# SPDX-License-Identifier: MIT
# tests/limit/local.mk - fairsem-limit; included by ../local.mk.

test_scripts += tests/limit/limit.sh
EXTRA_DIST += tests/limit/terminal.py

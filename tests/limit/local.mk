# SPDX-License-Identifier: MIT
# tests/limit/local.mk - fairsem-limit; included by ../local.mk.

test_scripts += tests/limit/limit.sh
EXTRA_DIST += tests/limit/terminal.py

if TESTS_ENABLED
if HAVE_SHARED
test_programs += tests/limit/t_limit_texts
endif
endif

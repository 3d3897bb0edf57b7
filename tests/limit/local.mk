# SPDX-License-Identifier: MIT
# tests/limit/local.mk - fairsem-limit; included by ../local.mk.

verify_scripts += tests/limit/etcd.sh
test_scripts += tests/limit/cluster.sh tests/limit/completion.sh \
	tests/limit/limit.sh tests/limit/names.sh tests/limit/nested.sh \
	tests/limit/parent.sh tests/limit/status.sh
EXTRA_DIST += tests/limit/cluster.py tests/limit/common.sh \
	tests/limit/complete.py tests/limit/terminal.py

if TESTS_ENABLED
if HAVE_SHARED
test_programs += tests/limit/t_limit_locked tests/limit/t_limit_texts
endif
endif

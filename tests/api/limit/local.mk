# SPDX-License-Identifier: MIT
# tests/api/limit/local.mk - fairsem-limit; included by ../../local.mk.

verify_scripts += tests/api/limit/etcd.sh
test_scripts += tests/api/limit/cluster.sh tests/api/limit/completion.sh \
	tests/api/limit/limit.sh tests/api/limit/names.sh tests/api/limit/nested.sh \
	tests/api/limit/parent.sh tests/api/limit/status.sh
EXTRA_DIST += tests/api/limit/cluster.py tests/api/limit/common.sh \
	tests/api/limit/complete.py tests/api/limit/terminal.py

if TESTS_ENABLED
if HAVE_SHARED
test_programs += tests/api/limit/t_limit_locked tests/api/limit/t_limit_texts
endif
endif

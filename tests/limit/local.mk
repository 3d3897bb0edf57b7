# SPDX-License-Identifier: MIT
# tests/limit/local.mk - fairsem-limit; included by ../local.mk.

verify_scripts += tests/limit/test_cluster_memory.py tests/limit/test_etcd.py \
	tests/limit/test_operating_etcd.py tests/limit/test_sequences.py
test_scripts += tests/limit/test_cluster.py tests/limit/test_completion.py \
	tests/limit/test_hold.py \
	tests/limit/test_limit.py tests/limit/test_memory.py tests/limit/test_names.py \
	tests/limit/test_nested.py tests/limit/test_operating.py tests/limit/test_parent.py tests/limit/test_rate.py \
	tests/limit/test_status.py \
	tests/limit/test_terminal.py
EXTRA_DIST += tests/limit/conftest.py tests/limit/sequences.py

if TESTS_ENABLED
if HAVE_SHARED
test_programs += tests/limit/t_limit_leave tests/limit/t_limit_locked tests/limit/t_limit_texts
endif
endif

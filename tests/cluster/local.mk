# SPDX-License-Identifier: MIT
# tests/cluster/local.mk - the limit between machines; included by ../local.mk.
#
#   make check-cluster     three members that end and hang, and longer storms; takes minutes

EXTRA_DIST += \
	tests/cluster/answers.txt \
	tests/cluster/conftest.py \
	tests/cluster/etcd.py \
	tests/cluster/fake.py \
	tests/cluster/proxy.py \
	tests/cluster/test_members.py

if HAVE_CLUSTER
if TESTS_ENABLED
test_programs += \
	tests/cluster/t_cluster_answers \
	tests/cluster/t_cluster_names \
	tests/cluster/t_cluster_results
if HAVE_RESOLVER
test_programs += tests/cluster/t_cluster_srv
endif
if HAVE_WRAP
test_programs += \
	tests/cluster/t_cluster_memory \
	tests/cluster/t_cluster_request
endif
endif
test_scripts += tests/cluster/test_faults.py
verify_scripts += \
	tests/cluster/test_real.py \
	tests/cluster/test_secure.py \
	tests/cluster/test_storm.py

# For the scripts.  Static: otherwise the process would be libtool's wrapper, and get the signals.
check_PROGRAMS += tests/cluster/cluster_user
tests_cluster_cluster_user_LDFLAGS = -static
tests_cluster_cluster_user_LDADD = libfairsem-cluster.la libfairsem.la
else
EXTRA_DIST += tests/cluster/cluster_user.c \
	tests/cluster/test_faults.py \
	tests/cluster/test_real.py \
	tests/cluster/test_secure.py \
	tests/cluster/test_storm.py
endif

cluster_inside = -I$(top_srcdir)/src/cluster $(CURL_CFLAGS) $(JANSSON_CFLAGS)
tests_cluster_t_cluster_answers_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_answers_LDADD = libcluster.la $(LDADD)
# This test is the name server.
tests_cluster_t_cluster_names_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_names_LDADD = libcluster.la $(LDADD)
tests_cluster_t_cluster_results_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_results_LDADD = libcluster.la $(LDADD)
# This test replaces the resolver's configuration.
tests_cluster_t_cluster_srv_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_srv_LDADD = libcluster.la $(LDADD)
tests_cluster_t_cluster_memory_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_memory_LDADD = libcluster.la $(LDADD)
tests_cluster_t_cluster_memory_LDFLAGS = -Wl,--wrap=fs_boot_now \
	-Wl,--wrap=fs_alarm_set -Wl,--wrap=fs_http_start
# This test plays the engine and the clock.
tests_cluster_t_cluster_request_CPPFLAGS = $(AM_CPPFLAGS) $(cluster_inside)
tests_cluster_t_cluster_request_LDADD = libcluster.la $(LDADD)
tests_cluster_t_cluster_request_LDFLAGS = -Wl,--wrap=fs_boot_now

.PHONY: check-cluster
check-cluster: all tests/cluster/cluster_user$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) set -e; \
	run() { $(PY_LOG_COMPILER) $(srcdir)/tests/cluster/test_$$1.py $(SKIPS); }; \
	run real; run members; \
	for storm in '30 64 1' '60 64 3'; do FAIRSEM_CLUSTER_STORM=$$storm run storm; done; \
	if command -v etcd > /dev/null; then \
	  $(SHELL) $(srcdir)/examples/fleet.sh ./fairsem-limit '$(abs_top_builddir)'; \
	else echo "skipped: examples/fleet.sh: there is no etcd"; fi

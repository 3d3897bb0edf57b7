# SPDX-License-Identifier: MIT
# tests/search/mutants/local.mk - seeded faults in src/, each of which some test must
# find; included by ../../local.mk.  run.sh says how.
#
#   make check-mutants                        all of them; the table is tests/search/mutants/table
#   make check-mutants MUTANTS="one another"  some
#   make check-mutants PART=1/10              every tenth
#   make check-shared-mutants                 those of the semaphore between processes

EXTRA_DIST += \
	tests/search/mutants/abort.txt \
	tests/search/mutants/acquire.txt \
	tests/search/mutants/apply.awk \
	tests/search/mutants/awake.txt \
	tests/search/mutants/bypass.txt \
	tests/search/mutants/canaries.txt \
	tests/search/mutants/checks.txt \
	tests/search/mutants/cluster.txt \
	tests/search/mutants/fork.txt \
	tests/search/mutants/grant.txt \
	tests/search/mutants/limit.txt \
	tests/search/mutants/limit_cluster.txt \
	tests/search/mutants/owner.txt \
	tests/search/mutants/posix.txt \
	tests/search/mutants/queue.txt \
	tests/search/mutants/run.sh \
	tests/search/mutants/shared.txt \
	tests/search/mutants/sleep.txt \
	tests/search/mutants/ticket.txt
CLEANFILES += tests/search/mutants/table

.PHONY: check-mutants check-shared-mutants
MUTANTS =
PART = 1/1
check-mutants:
	$(AM_TESTS_ENVIRONMENT) PART='$(PART)' $(SHELL) $(srcdir)/tests/search/mutants/run.sh $(MUTANTS)

check-shared-mutants:
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/search/mutants/run.sh \
	  `sed -n 's/^mutant //p' $(srcdir)/tests/search/mutants/shared.txt`
